#pragma once

#include <bit>
#include <cstdint>

#include "kernels/precision.hpp"

namespace starpmc {

/// A value that is no coordinate, as it lies among coordinates: points of the density and sites of
/// a receptor have charges beside their places.
template <class Real>
Real stored_value(double value) {
  if constexpr (kPrecisionOf<Real> == Precision::fixed) {
    return {std::bit_cast<std::int32_t>(static_cast<float>(value))};
  } else {
    return static_cast<Real>(value);
  }
}

/// The value that stored_value() stored.
template <class Real>
PairReal<Real> value_of_stored(Real stored) {
  if constexpr (kPrecisionOf<Real> == Precision::fixed) {
    return std::bit_cast<float>(stored.value);
  } else {
    return stored;
  }
}

}  // namespace starpmc
