#pragma once

#include <boost/program_options/options_description.hpp>
#include <iosfwd>
#include <span>
#include <string>

namespace starpmc {

boost::program_options::options_description expression_options();

/// `starpmc expression 'TEXT'`: what becomes of an expression: canonical form, derivative, program
/// with its operation counts, values.
/// @param arguments what follows the word "expression" on the command line; the text is the first
/// @return exit status (0; failures are thrown)
/// @throws InputError
int run_expression(std::span<const std::string> arguments, std::ostream& out);

}  // namespace starpmc
