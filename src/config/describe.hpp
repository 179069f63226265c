#pragma once

#include <boost/program_options/options_description.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "config/option.hpp"

namespace starpmc::config {

/// The table of options as Boost.Program_options wants it.
std::unique_ptr<boost::program_options::options_description> boost_description();

/// Meaning, unit, what is allowed and the default, in one text.
std::string described(const Option& option);

/// @throws ValueProblem for a value that a .cfg file's line would not give back as it is: one with
///         the sign of a comment, line breaks or blanks at its ends
void check_writable(const Option& option, std::string_view value);
/// Value of an option as a .cfg line can hold it.
/// @throws ValueProblem as check_writable()
std::string config_text(const Option& option, const Settings& settings);

}  // namespace starpmc::config
