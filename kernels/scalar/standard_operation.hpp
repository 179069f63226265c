#pragma once

#include <cmath>

#include "kernels/base/error.hpp"
#include "kernels/elementary_functions.hpp"

namespace starpmc::scalar {

/// An operation by <cmath>. Inlined, so that each caller has it as it is compiled itself.
template <class Real>
[[gnu::always_inline]] inline Real standard_operation(Operation operation, Real a, Real b, Real c) {
  switch (operation) {
    case Operation::add:
      return a + b;
    case Operation::subtract:
      return a - b;
    case Operation::multiply:
      return a * b;
    case Operation::divide:
      return a / b;
    case Operation::negate:
      return -a;
    case Operation::reciprocal:
      return 1 / a;
    case Operation::square_root:
      return std::sqrt(a);
    case Operation::reciprocal_square_root:
      return 1 / std::sqrt(a);
    case Operation::power:
      return std::pow(a, b);
    case Operation::abs:
      return std::abs(a);
    case Operation::floor:
      return std::floor(a);
    case Operation::ceil:
      return std::ceil(a);
    case Operation::min:
      return b < a ? b : a;
    case Operation::max:
      return a < b ? b : a;
    case Operation::step:
      return a < 0 ? Real{0} : Real{1};
    case Operation::delta:
      return a == 0 ? Real{1} : Real{0};
    case Operation::select:
      return a == 0 ? c : b;
#define STARPMC_CASE(name) \
  case Operation::name:    \
    return std::name(a);
      STARPMC_ELEMENTARY_FUNCTIONS(STARPMC_CASE)
#undef STARPMC_CASE
    case Operation::atan2:
      return std::atan2(a, b);
    default:
      throw RunError("an instruction of a program has no operation");
  }
}

}  // namespace starpmc::scalar
