#pragma once

#include <span>
#include <string>

namespace starpmc {

/// `starpmc info`: what this machine offers, on standard output.
int run_info(std::span<const std::string> arguments);

}  // namespace starpmc
