#pragma once

#include <boost/program_options/options_description.hpp>
#include <span>
#include <string>

namespace starpmc {

/// Of `starpmc info`, for its help.
boost::program_options::options_description info_options();

/// `starpmc info`: what this machine offers, on standard output.
int run_info(std::span<const std::string> arguments);

}  // namespace starpmc
