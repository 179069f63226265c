#pragma once

#include <span>
#include <string>

#include "kernels/program.hpp"

namespace starpmc::expression {

/// Parts a program by what its inputs vary with; see PartedProgram. Translate it with the same
/// inputs as TranslationOptions::varying, so that there is much that does not vary. Constants are
/// computed with once, too, and stay constants where `each` uses them as they are.
/// `once` has the inputs that do not vary, in their order.
/// @param varying names of inputs of the program
/// @throws InputError for a name that is no input
PartedProgram part(const Program& program, std::span<const std::string> varying);

}  // namespace starpmc::expression
