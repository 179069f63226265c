#pragma once

#include <span>
#include <vector>

#include "kernels/compact_blocks.hpp"

namespace starpmc {

/// The points of compact blocks with their own positions and in fp64, as exact energies need them
/// (kernels/common/exact_pairs.h), in the blocks' order.
/// @param charge empty: all 0
/// @param extent empty: all bare
template <class Real>
CompactBlocks<double> make_exact_points(const CompactBlocks<Real>& compact,
                                        std::span<const double> x, std::span<const double> y,
                                        std::span<const double> z, std::span<const double> charge,
                                        std::span<const double> extent) {
  CompactBlocks<double> exact{compact.blocks, {}, {}};
  exact.points.assign(compact.block_count() * STARPMC_BLOCK_VALUES, 0.0);
  const std::span<const double> fields[] = {x, y, z, charge};
  for (std::size_t i = 0; i < compact.slot_of_point.size(); ++i) {
    const std::size_t block = compact.slot_of_point[i] / STARPMC_BLOCK_POINTS;
    const std::size_t place = compact.slot_of_point[i] % STARPMC_BLOCK_POINTS;
    for (std::size_t k = 0; k < 4; ++k) {
      if (fields[k].empty()) continue;
      exact.points[block * STARPMC_BLOCK_VALUES + k * STARPMC_BLOCK_POINTS + place] = fields[k][i];
    }
    if (extent.empty()) continue;
    exact.points[block * STARPMC_BLOCK_VALUES + 4 * STARPMC_BLOCK_POINTS + place] =
        inverse_square_extent(extent[i]);
  }
  return exact;
}

/// Sum of each block's charges.
inline std::vector<double> block_charges(const CompactBlocks<double>& exact) {
  std::vector<double> sums;
  for (std::size_t block = 0; block < exact.block_count(); ++block) {
    double sum = 0;
    for (std::size_t i = 0; i < STARPMC_BLOCK_POINTS; ++i) {
      sum += exact.points[block * STARPMC_BLOCK_VALUES + 3 * STARPMC_BLOCK_POINTS + i];
    }
    sums.push_back(sum);
  }
  return sums;
}

}  // namespace starpmc
