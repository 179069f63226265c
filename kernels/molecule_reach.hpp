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
        largest_radius_(topology.shape.largest_radius) {
    for (int type = 0; type < topology.shape.molecule_types; ++type) {
      radius_.push_back(topology.radius(type));
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
  double largest() const { return cutoff_ + 2 * largest_radius_ + kRounding; }
  /// Whether sites in reach of each other are nearest images where the centres' images are.
  bool one_image(int type_a, int type_b) const {
    return (*this)(type_a, type_b) <= shortest_edge_ / 2;
  }

 private:
  static constexpr double kRounding = 1e-3;
  double cutoff_;
  double shortest_edge_;
  double largest_radius_;
  std::vector<double> radius_;
};

}  // namespace starpmc
