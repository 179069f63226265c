#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/common/potential_lattice.h"
#include "system/geometry.hpp"

namespace starpmc {

struct LatticeLevelChoice {
  /// Of the box of the nuclei on all sides: positions inside are served.
  double margin_angstrom = 0;
  double spacing_angstrom = 0;
};

/// Spacings of a lattice of potentials; how they were found: README.md of this folder.
struct LatticeChoice {
  std::vector<LatticeLevelChoice> levels;  ///< finest first
  double last_spacing_angstrom = 0;        ///< of one more level, which holds the whole cell
  /// Nodes of the finest level that are nearer to a nucleus take the density's own potential.
  double near_distance_angstrom = 0;
  /// The lattice's components are a multiple of it. A response of one component is no potential:
  /// kernels sum its components by STARPMC_COMPONENT_GRAIN.
  int component_grain = 1;

  /// phi0. Where the cutoff of a nucleus goes through, its second derivative jumps: the lattice is
  /// as fine there as near the solute.
  static LatticeChoice for_potential(double coulomb_cutoff_angstrom);
  static LatticeChoice for_response();  ///< the eta_k
};

/// Where the nodes of a lattice are, before it has values.
class LatticePlan {
 public:
  /// @param components with values; those of the lattice are padded
  /// @param subject    what the lattice is for, for messages
  /// @throws RunError where the lattice would have more than 2^31 values
  LatticePlan(const LatticeChoice& choice, std::span<const Vector3> nuclei, const Box& box,
              int components, const std::string& subject);

  const PotentialLattice& lattice() const { return lattice_; }
  int components() const { return components_; }
  /// Where the potential of the density itself is needed: nodes of the finest level, by increasing
  /// number.
  const std::vector<Vector3>& near_positions() const { return near_positions_; }
  const std::vector<int>& near_nodes() const { return near_nodes_; }

  int node_count(int level) const;
  Vector3 position(int level, int node) const;
  /// On other levels than the finest a point charge is a ball of charge, whose potential a lattice
  /// so coarse can follow. All balls lie where the next finer level serves. Radius, A; 0: points.
  double ball_radius(int level, std::span<const Vector3> points) const;

 private:
  void find_near_nodes(double near_distance, std::span<const Vector3> nuclei);

  LatticeChoice choice_;
  int components_;
  PotentialLattice lattice_{};
  std::vector<Vector3> near_positions_;
  std::vector<int> near_nodes_;
};

}  // namespace starpmc
