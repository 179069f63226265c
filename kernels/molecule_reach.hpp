#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/arguments.hpp"

namespace starpmc {

/// How far apart the centres of two molecules may be that still interact.
class MoleculeReach {
 public:
  MoleculeReach(const Topology& topology, const Interaction& interaction)
      : cutoff_(std::max(interaction.coulomb_cutoff, interaction.vdw_cutoff)),
        shortest_edge_(*std::min_element(interaction.box, interaction.box + 3)),
        radius_(static_cast<std::size_t>(topology.shape.molecule_types)) {
    for (int type = 0; type < topology.shape.molecule_types; ++type) {
      double& radius = radius_[static_cast<std::size_t>(type)];
      for (int site = 0; site < topology.site_count(type); ++site) {
        const double* const r = topology.site(type, site);
        radius = std::max(radius, std::sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]));
      }
    }
  }

  double operator()(int type_a, int type_b) const {
    return cutoff_ + radius_[static_cast<std::size_t>(type_a)] +
           radius_[static_cast<std::size_t>(type_b)] + kRounding;
  }
  /// Farther apart, no two sites touch.
  double contact(int type_a, int type_b) const {
    return radius_[static_cast<std::size_t>(type_a)] + radius_[static_cast<std::size_t>(type_b)] +
           std::sqrt(STARPMC_MINIMUM_DISTANCE_SQUARED) + kRounding;
  }
  /// Over all pairs of types.
  double largest() const {
    return cutoff_ + 2 * *std::max_element(radius_.begin(), radius_.end()) + kRounding;
  }
  /// Whether sites in reach of each other are nearest images where the centres' images are.
  bool one_image(int type_a, int type_b) const {
    return (*this)(type_a, type_b) <= shortest_edge_ / 2;
  }

 private:
  static constexpr double kRounding = 1e-3;
  double cutoff_;
  double shortest_edge_;
  std::vector<double> radius_;
};

}  // namespace starpmc
