#pragma once

#include <string>

#include "expression/pool.hpp"

namespace starpmc::expression {

/// The shortest decimal number that reads back as the same double.
std::string print_number(double value);

/// The canonical text of an expression, which parses to the same expression. Where it would be
/// longer than 2,000 characters or nested deeply, parts that occur more than once are definitions
/// (`; t1 = ...`).
/// @throws InputError beyond 10 million characters
std::string print(const Pool& pool, Node node);

}  // namespace starpmc::expression
