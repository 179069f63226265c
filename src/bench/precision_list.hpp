#pragma once

#include <array>
#include <stdexcept>

#include "kernels/precision.hpp"

namespace starpmc {

/// Precisions the benchmark knows.
inline constexpr std::array kBenchPrecisions{Precision::fp64, Precision::mixed};

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
  throw std::logic_error("the benchmark does not know this precision");
}

}  // namespace starpmc
