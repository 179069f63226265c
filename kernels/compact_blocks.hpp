#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/common/layout.h"
#include "kernels/precision.hpp"

namespace starpmc {

/// Points sorted into compact blocks of STARPMC_BLOCK_POINTS, so that a site is wrapped once per
/// block instead of once per point. Layouts: BLOCK_* and grid_points in kernels/common/layout.h.
template <class Real>
struct CompactBlocks {
  std::vector<double> blocks;                ///< BLOCK_FIELDS per block
  std::vector<Real> points;                  ///< STARPMC_BLOCK_VALUES per block
  std::vector<std::uint32_t> slot_of_point;  ///< where point i of the input went

  std::size_t block_count() const { return blocks.size() / BLOCK_FIELDS; }
};

/// Sorts points by halving the longest extent until a block is full (a k-d tree whose leaves are
/// whole blocks but for the last), or where points are few and far apart, until its radius is at
/// most half the shortest edge.
/// @param x, y, z  angstrom, not wrapped
/// @param charge   elementary charges; empty: all 0
/// @param extent   of the points, angstrom; empty: all bare
/// @param box      its edges, angstrom
template <class Real>
CompactBlocks<Real> make_compact_blocks(std::span<const double> x, std::span<const double> y,
                                        std::span<const double> z, std::span<const double> charge,
                                        std::span<const double> extent,
                                        std::span<const double, 3> box);

/// 1/R^2 as grid_points have it.
inline double inverse_square_extent(double extent) {
  return extent > 0 ? 1 / (extent * extent) : 0;
}

}  // namespace starpmc
