#pragma once

#include <boost/program_options/options_description.hpp>
#include <memory>
#include <string>

#include "config/option.hpp"

namespace starpmc::config {

/// The table of options as Boost.Program_options wants it.
std::unique_ptr<boost::program_options::options_description> boost_description();

/// Meaning, unit, what is allowed and the default, in one text.
std::string described(const Option& option);

/// Value of an option as a .cfg line can hold it.
/// @throws ValueProblem for a text with '#' (Boost takes it for a comment wherever it stands), line
///         breaks or blanks at its ends
std::string config_text(const Option& option, const Settings& settings);

}  // namespace starpmc::config
