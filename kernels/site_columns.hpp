#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "kernels/arguments.hpp"
#include "kernels/scalar/moves.hpp"

namespace starpmc {

/// One site of every molecule of one type, in the order of the molecules.
struct SiteColumn {
  int kind = 0;
  double charge = 0;
  std::vector<int> molecules;
  std::array<std::vector<double>, 3> position;  ///< A; kPadding more than molecules
  std::array<std::vector<double>, 3> arm;       ///< from the molecule's centre to the site, A
  /// A vector of lanes may start at any molecule.
  static constexpr std::size_t kPadding = 16;

  std::size_t size() const { return molecules.size(); }
  /// Index of the first molecule not before this one.
  std::size_t from(int molecule) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(molecules, molecule) -
                                    molecules.begin());
  }
};

/// Every site of a lattice; positions have the same bits on every device.
inline std::vector<SiteColumn> site_columns(const Topology& topology,
                                            std::span<const double> lattice) {
  const TopologyShape& shape = topology.shape;
  std::vector<SiteColumn> columns;
  for (int type = 0; type < shape.molecule_types; ++type) {
    for (int site = 0; site < topology.site_count(type); ++site) {
      SiteColumn column;
      column.kind = topology.site_type(type, site);
      column.charge = topology.site(type, site)[3];
      for (int molecule = 0; molecule < shape.molecules; ++molecule) {
        if (topology.type_of(molecule) != type) continue;
        double pose[POSE_FIELDS];
        for (int field = 0; field < POSE_FIELDS; ++field) {
          pose[field] =
              lattice[static_cast<std::size_t>(field * shape.padded_molecules + molecule)];
        }
        double arm[3];
        scalar::rotate_site(pose, topology.site(type, site), arm);
        column.molecules.push_back(molecule);
        for (std::size_t k = 0; k < 3; ++k) {
          column.position[k].push_back(pose[k] + arm[k]);
          column.arm[k].push_back(arm[k]);
        }
      }
      for (std::size_t k = 0; k < 3; ++k) {
        column.position[k].resize(column.size() + SiteColumn::kPadding);
        column.arm[k].resize(column.size() + SiteColumn::kPadding);
      }
      if (column.size() > 0) columns.push_back(std::move(column));
    }
  }
  return columns;
}

/// The factor of the Coulomb energy of two unit charges.
inline double coulomb_factor(double a, double b) { return STARPMC_COULOMB_CONSTANT * (a * b); }

}  // namespace starpmc
