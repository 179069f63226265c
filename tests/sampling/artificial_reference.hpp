#pragma once

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "kernels/response_coefficients.hpp"
#include "qm/solute_reference.hpp"

/// References that no QM program has made: potentials of a few clouds of charge.
namespace starpmc::test {

struct ArtificialReference {
  std::vector<Vector3> places;
  std::vector<std::vector<double>> strengths;  ///< of phi0, then of each component

  /// Smooth at the edges of the cell, too.
  double value(std::size_t row, const Vector3& displacement, const Box& box) const {
    double sum = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Vector3 d = box.minimum_image(displacement - places[i]);
      sum += strengths[row][i] / std::sqrt(d.x * d.x + d.y * d.y + d.z * d.z + 4);
    }
    return sum;
  }
};

inline ArtificialReference make_artificial(int components) {
  ArtificialReference reference;
  std::mt19937_64 random(31);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int i = 0; i < 5; ++i) {
    reference.places.push_back({2 * uniform(random), 2 * uniform(random), 2 * uniform(random)});
  }
  for (int k = 0; k <= components; ++k) {
    reference.strengths.emplace_back();
    const double scale = k == 0 ? 300 : 40 / std::sqrt(static_cast<double>(components));
    for (std::size_t i = 0; i < reference.places.size(); ++i) {
      reference.strengths.back().push_back(scale * uniform(random));
    }
  }
  return reference;
}

/// A fine level around the centre and a coarse one of the whole cell; the splines' coefficients are
/// the function's values, which smooths it a little.
inline LatticeValues make_lattice(const ArtificialReference& reference, std::size_t first_row,
                                  std::size_t rows, const Vector3& centre, const Box& box,
                                  double fine_spacing, double fine_reach) {
  LatticeValues table;
  PotentialLattice& lattice = table.lattice;
  const double edges[3] = {box.lengths.x, box.lengths.y, box.lengths.z};
  const double middle[3] = {centre.x, centre.y, centre.z};
  for (int k = 0; k < 3; ++k) {
    lattice.centre[k] = middle[k];
    lattice.box[k] = edges[k];
    lattice.inverse_box[k] = 1 / edges[k];
  }
  lattice.levels = 2;
  lattice.components = rows == 1
                           ? 1
                           : static_cast<int>((rows + STARPMC_COMPONENT_GRAIN - 1) /
                                              STARPMC_COMPONENT_GRAIN * STARPMC_COMPONENT_GRAIN);
  for (int l = 0; l < 2; ++l) {
    LatticeLevel& level = lattice.level[l];
    const double spacing = l == 0 ? fine_spacing : 1;
    level.inverse_spacing = 1 / spacing;
    level.first = static_cast<int>(table.values.size());
    for (int k = 0; k < 3; ++k) {
      const double reach = l == 0 ? fine_reach : edges[k] / 2;
      level.nodes[k] = 2 * static_cast<int>(std::ceil(reach / spacing)) + 5;
      level.origin[k] = -spacing * (level.nodes[k] / 2);
    }
    for (int x = 0; x < level.nodes[0]; ++x) {
      for (int y = 0; y < level.nodes[1]; ++y) {
        for (int z = 0; z < level.nodes[2]; ++z) {
          const Vector3 node{level.origin[0] + x * spacing, level.origin[1] + y * spacing,
                             level.origin[2] + z * spacing};
          for (int c = 0; c < lattice.components; ++c) {
            const auto row = static_cast<std::size_t>(c);
            table.values.push_back(
                row < rows ? static_cast<float>(reference.value(first_row + row, node, box)) : 0);
          }
        }
      }
    }
  }
  return table;
}

/// @param fine_reach half the edge of the fine levels, A
inline SoluteReference artificial_solute_reference(int components, const Vector3& centre,
                                                   const Box& box, double fine_reach = 6) {
  const ArtificialReference functions = make_artificial(components);
  SoluteReference reference;
  reference.potential = make_lattice(functions, 0, 1, centre, box, 0.5, fine_reach);
  reference.components = components;
  if (components == 0) return reference;
  reference.response = make_lattice(functions, 1, static_cast<std::size_t>(components), centre, box,
                                    0.6, fine_reach);
  // As kernels have them.
  reference.response.values = values_of(response_coefficients(reference.response.values));
  for (int k = 0; k < components; ++k) reference.mean_response.push_back(0.3 * std::sin(k));
  return reference;
}

}  // namespace starpmc::test
