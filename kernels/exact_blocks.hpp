#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "kernels/arguments.hpp"
#include "kernels/block_reach.hpp"
#include "kernels/scalar/moves.hpp"

/// What the exact kernels for grids share (kernels/common/exact_pairs.h).
namespace starpmc {

/// The constants of exact Coulomb energies, computed one way everywhere.
struct ExactBox {
  double length[3];
  double inverse[3];
  double cutoff_squared;
  double inverse_cutoff;

  explicit ExactBox(const Interaction& interaction)
      : cutoff_squared(interaction.coulomb_cutoff * interaction.coulomb_cutoff),
        inverse_cutoff(1 / interaction.coulomb_cutoff) {
    for (int k = 0; k < 3; ++k) {
      length[k] = interaction.box[k];
      inverse[k] = 1 / interaction.box[k];
    }
  }
};

/// Whether some point of a block may lie inside the cutoff of a position. Pairs left out have no
/// energy at all, so that the rounding of this test changes nothing.
inline bool block_in_reach(const Interaction& interaction, const double* header,
                           const double* position) {
  double squared = 0;
  for (int k = 0; k < 3; ++k) {
    const double edge = interaction.box[k];
    const double d = position[k] - header[BLOCK_ORIGIN + k];
    const double nearest = d - edge * std::rint(d / edge);
    squared += nearest * nearest;
  }
  const double reach = BlockReach(interaction.coulomb_cutoff, header[BLOCK_RADIUS]).reach;
  return squared < reach * reach;
}

inline double energy_of_units(std::uint64_t units) {
  return static_cast<double>(static_cast<std::int64_t>(units)) / STARPMC_ENERGY_UNITS;
}

/// The energy of a sum that may have wrapped, kJ/mol.
/// @param quick the same, off by less than half of STARPMC_ENERGY_RANGE
inline double exact_near(std::uint64_t units, double quick) {
  const double energy = energy_of_units(units);
  return energy + STARPMC_ENERGY_RANGE * std::rint((quick - energy) / STARPMC_ENERGY_RANGE);
}

/// x, y, z, charge of every charged site of a lattice.
inline std::vector<double> lattice_charges(const GridPotentialArguments& a) {
  std::vector<double> sites;
  for (int molecule = 0; molecule < a.topology.shape.molecules; ++molecule) {
    double pose[POSE_FIELDS];
    for (int field = 0; field < POSE_FIELDS; ++field) {
      pose[field] = a.lattice[static_cast<std::size_t>(field * a.layout.molecules + molecule)];
    }
    const int type = a.topology.type_of(molecule);
    for (int site = 0; site < a.topology.site_count(type); ++site) {
      const double* const reference = a.topology.site(type, site);
      if (reference[3] == 0) continue;
      double displacement[3];
      scalar::rotate_site(pose, reference, displacement);
      for (int k = 0; k < 3; ++k) sites.push_back(pose[k] + displacement[k]);
      sites.push_back(reference[3]);
    }
  }
  return sites;
}

/// Calls evaluate(points, sites in reach, potential) for each block.
template <class Evaluate>
void for_each_block_and_its_sites(const GridPotentialArguments& a, std::span<const double> sites,
                                  Evaluate&& evaluate) {
  std::vector<double> near;
  for (std::size_t block = 0; block * BLOCK_FIELDS < a.blocks.size(); ++block) {
    near.clear();
    for (std::size_t s = 0; s < sites.size(); s += 4) {
      if (block_in_reach(a.interaction, &a.blocks[block * BLOCK_FIELDS], &sites[s])) {
        near.insert(near.end(), &sites[s], &sites[s] + 4);
      }
    }
    evaluate(&a.points[block * STARPMC_BLOCK_VALUES], std::span<const double>(near),
             &a.potential[block * STARPMC_BLOCK_POINTS]);
  }
}

/// Calls pairs(site, points) for each site and each block in its reach.
template <class Pairs>
void for_each_block_in_reach(const ExactGridArguments& a, Pairs&& pairs) {
  for (std::size_t block = 0; block * BLOCK_FIELDS < a.blocks.size(); ++block) {
    const double* const header = &a.blocks[block * BLOCK_FIELDS];
    const double* const points = &a.points[block * STARPMC_BLOCK_VALUES];
    for (std::size_t site = 0; site < a.sites.size(); site += 4) {
      if (!block_in_reach(a.interaction, header, &a.sites[site])) continue;
      pairs(a.sites.subspan(site, 4), points);
    }
  }
}

}  // namespace starpmc
