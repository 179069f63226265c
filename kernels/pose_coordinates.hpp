#pragma once

#include <cstdint>

#include "kernels/common/layout.h"
#include "kernels/common/poses.h"
#include "kernels/precision.hpp"

namespace starpmc {

/// A coordinate relative to a block's origin (angstrom), as receptor_sites stores it.
template <class Real>
Real pose_coordinate(double relative) {
  if constexpr (kPrecisionOf<Real> == Precision::fixed) {
    return {fixed_coordinate(relative, STARPMC_POSE_SPAN)};
  } else {
    return static_cast<Real>(relative);
  }
}

/// Difference of two of them, angstrom.
template <class Real>
PairReal<Real> pose_difference(Real a, Real b) {
  if constexpr (kPrecisionOf<Real> == Precision::fixed) {
    const auto units = static_cast<std::uint32_t>(a.value) - static_cast<std::uint32_t>(b.value);
    return static_cast<float>(static_cast<std::int32_t>(units)) *
           static_cast<float>(fixed_unit(STARPMC_POSE_SPAN));
  } else {
    return a - b;
  }
}

}  // namespace starpmc
