#pragma once

#include "kernels/precision.hpp"

namespace starpmc {

/// Calls function.operator()<Real>() with the type that selects a precision.
template <class Function>
decltype(auto) with_precision(Precision precision, Function&& function) {
  switch (precision) {
    case Precision::fp64:
      return function.template operator()<double>();
    case Precision::mixed:
      return function.template operator()<float>();
    case Precision::fixed:
      break;
  }
  return function.template operator()<FixedCoordinate>();
}

}  // namespace starpmc
