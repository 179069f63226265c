#pragma once

#include <vector>

#include "sampling/topology_buffers.hpp"

namespace starpmc {

/// How many molecules there can be near another, whatever the configuration: a droplet in a large
/// box is as dense as a liquid that fills it.
///
/// Sites with a van der Waals term come no nearer to each other than 3/4 sigma (70 kJ/mol for a
/// water's oxygen, 100 well depths): a molecule has a sphere about one of its sites to itself, and
/// spheres fill at most 74 % of space. Molecules without such a term (the user's functions alone)
/// are taken to be one to three atoms of the densest matter there is, 0.2 per A^3. Configurations
/// that are denser are overlaps, which DecisionBound::relative is for.
class Packing {
 public:
  explicit Packing(const TopologyBuffers& topology);

  /// Least distance of two sites, A; of charges alone, 1.5 A.
  double contact(int site_type_a, int site_type_b) const;
  /// Most molecules of a type whose centres lie within a distance of a point.
  double neighbours(int molecule_type, double distance) const;
  /// Most molecules of a type per A^3.
  double density(int molecule_type) const;
  double molecules(int molecule_type) const { return sphere(molecule_type).molecules; }

 private:
  struct Sphere {
    double radius = 0;  ///< what a molecule has to itself, A
    double offset = 0;  ///< of the sphere from the molecule's centre
    double molecules = 0;
  };

  const Sphere& sphere(int type) const { return spheres_[static_cast<std::size_t>(type)]; }
  /// The largest sphere about a site that no other site's enters.
  double own_radius(int site_type, const std::vector<int>& site_types) const;

  Topology view_;
  std::vector<Sphere> spheres_;  ///< by molecule type
};

}  // namespace starpmc
