#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "expression/pool.hpp"

namespace starpmc::expression {

/// An operation on numbers, by the functions of the standard library.
/// @tparam Real float, double or long double; unused arguments are ignored
template <class Real>
Real evaluate_operation(Operation operation, Real a, Real b, Real c);

/// Values of expressions: the plain tree walk that everything else is held against.
/// @param arguments value of each variable
/// @throws InputError for a variable without a value
template <class Real>
std::vector<Real> evaluate(const Pool& pool, std::span<const Node> roots,
                           const std::map<std::string, Real, std::less<>>& arguments);

}  // namespace starpmc::expression
