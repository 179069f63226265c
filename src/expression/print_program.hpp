#pragma once

#include <string>
#include <vector>

#include "kernels/program.hpp"

namespace starpmc::expression {

/// What people read instead of value numbers: inputs by their names, constants as numbers, results
/// as v7 and so on.
std::vector<std::string> value_names(const Program& program);

/// One line per instruction, "v7 = r_squared*v6", without an end of line.
std::vector<std::string> print_program(const Program& program);

/// "9: 6 multiply, 2 divide, 1 subtract"
std::string print_counts(const Program& program);

}  // namespace starpmc::expression
