#pragma once

#include <string_view>

#include "expression/pool.hpp"

namespace starpmc::expression {

/// The derivative with respect to a variable. floor, ceil, step and delta count as constant; abs,
/// min, max and select are differentiated piece by piece: |x|' is 1 at 0, and where both arguments
/// of min and max are equal, max' is that of the first and min' that of the second, in sorted
/// order.
///
/// A power of a product p^n gives n p^n f'/f for each factor 1/f, not n p^(n-1) p': the derivative
/// of (sigma/r)^12 is -12 (sigma/r)^12/r, which needs no other power.
Node derivative(Pool& pool, Node node, std::string_view variable);

}  // namespace starpmc::expression
