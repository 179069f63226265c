#include "kernels/simd/reference_sites.hpp"

#include <algorithm>

namespace starpmc::simd {

SiteSplines::SiteSplines(const ChargedSites& sites, const PotentialLattice& lattice,
                         std::size_t lanes) {
  const std::size_t padded = (sites.size() + lanes - 1) / lanes * lanes;
  for (auto* const array : {&node, &plane_step, &row_step}) array->assign(padded, 0);
  for (auto& axis : weights) {
    for (auto& array : axis) array.assign(padded, 0.0);
  }
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const LatticePlace place = lattice_place(&lattice, sites.x[i], sites.y[i], sites.z[i]);
    const LatticeLevel& level = lattice.level[place.level];
    row_step[i] = level.nodes[2];
    plane_step[i] = level.nodes[1] * level.nodes[2];
    node[i] =
        level.first + place.node[0] * plane_step[i] + place.node[1] * row_step[i] + place.node[2];
    for (int k = 0; k < 3; ++k) {
      double w[4];
      spline_weights(place.fraction[k], w);
      for (int j = 0; j < 4; ++j) weights[k][j][i] = w[j];
    }
  }
}

void NodeRows::add_site(const LatticePlace& place, double charge, const SiteGroup& group) {
  double w[3][4];
  int first[3];
  for (int k = 0; k < 3; ++k) {
    spline_weights(place.fraction[k], w[k]);
    first[k] = place.node[k] - group.node[k];
  }
  for (int i = 0; i < 4; ++i) {
    const double of_plane = charge * w[0][i];
    for (int j = 0; j < 4; ++j) {
      const double of_row = of_plane * w[1][j];
      Row& row = box_[first[0] + i][first[1] + j];
      double* const weights = &row.weights[first[2]];
      for (int k = 0; k < 4; ++k) weights[k] += of_row * w[2][k];
      row.first = std::min(row.first, first[2]);
      row.end = std::max(row.end, first[2] + 4);
    }
  }
}

/// Moves the weights of a group to the list.
void NodeRows::append(const SiteGroup& group) {
  const LatticeLevel& level = lattice_.level[group.level];
  for (int i = 0; i < group.nodes[0]; ++i) {
    for (int j = 0; j < group.nodes[1]; ++j) {
      Row& row = box_[i][j];
      const int count = row.end - row.first;
      if (count <= 0) continue;
      const int place = (group.node[0] + i) * level.nodes[1] + group.node[1] + j;
      const int node = place * level.nodes[2] + group.node[2] + row.first;
      NodeRow& nodes = rows_.emplace_back();
      nodes.offset = level.first + node * lattice_.components;
      nodes.nodes = count;
      for (int k = 0; k < count; ++k) {
        nodes.weights[k] = static_cast<float>(row.weights[row.first + k]);
      }
      row = Row();
    }
  }
}

std::span<const NodeRow> NodeRows::of(const ChargedSites& sites, std::size_t first,
                                      std::size_t end) {
  rows_.clear();
  while (first < end) {
    SiteGroup group{};
    places_.clear();
    for (std::size_t i = first; i < end; ++i) {
      const LatticePlace place = lattice_place(&lattice_, sites.x[i], sites.y[i], sites.z[i]);
      if (joins_group(&group, &place) == 0) break;
      places_.push_back(place);
    }
    for (const LatticePlace& place : places_) add_site(place, sites.charge[first++], group);
    append(group);
  }
  return rows_;
}

}  // namespace starpmc::simd
