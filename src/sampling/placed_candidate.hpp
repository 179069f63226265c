#pragma once

#include <span>

#include "kernels/arguments.hpp"
#include "kernels/scalar/moves.hpp"

namespace starpmc {

/// Makes a window's candidate `index` of a molecule where it is.
/// @param lattice  fields of poses, `stride` values each
/// @param plan, entries  of the window
inline void place_candidate(const Topology& topology, const WindowLayout& layout, int index,
                            int molecule, std::span<const double> lattice, std::size_t stride,
                            std::span<int> plan, std::span<double> entries) {
  const auto capacity = static_cast<std::size_t>(entry_capacity(layout));
  const auto at = static_cast<std::size_t>(index);
  plan[static_cast<std::size_t>(plan_step_molecule(layout)) + at] = molecule;
  plan[static_cast<std::size_t>(plan_candidate_step(layout)) + at] = index;
  double pose[POSE_FIELDS];
  for (std::size_t field = 0; field < POSE_FIELDS; ++field) {
    pose[field] = lattice[field * stride + static_cast<std::size_t>(molecule)];
    entries[field * capacity + at] = pose[field];
  }
  const int type = topology.type_of(molecule);
  for (int site = 0; site < topology.site_count(type); ++site) {
    double displacement[3];
    scalar::rotate_site(pose, topology.site(type, site), displacement);
    for (std::size_t k = 0; k < 3; ++k) {
      entries[(POSE_FIELDS + 3 * static_cast<std::size_t>(site) + k) * capacity + at] =
          displacement[k];
    }
  }
}

}  // namespace starpmc
