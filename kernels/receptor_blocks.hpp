#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/receptor_sites.hpp"

namespace starpmc {

/// Sites sorted into compact blocks: receptor_blocks and receptor_sites of
/// kernels/common/poses.h.
template <class Real>
struct ReceptorBlocks {
  std::vector<double> blocks;
  std::vector<Real> sites;

  std::size_t block_count() const { return blocks.size() / RECEPTOR_BLOCK_FIELDS; }
};

/// @param interaction says which fields the blocks have
template <class Real>
ReceptorBlocks<Real> make_receptor_blocks(const ReceptorSites& sites,
                                          const PoseInteraction& interaction);

/// Writes a pose into `pose` (pose_size(x.size()) values): the sphere around its sites, then they.
/// @param x, y, z angstrom
void write_pose(std::span<const double> x, std::span<const double> y, std::span<const double> z,
                std::span<double> pose);

}  // namespace starpmc
