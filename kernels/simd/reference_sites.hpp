#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/simd/charged_sites.hpp"

/// What reference_field computes one site at a time, before its sums.
namespace starpmc::simd {

/// Where charged sites are in the lattice of phi0, arrays of values.
class SiteSplines {
 public:
  /// @param lanes the arrays are padded to a multiple of this
  SiteSplines(const ChargedSites& sites, const PotentialLattice& lattice, std::size_t lanes);

  std::size_t padded() const { return node.size(); }

  std::vector<std::int32_t> node;  ///< of the first of the 64 values
  std::vector<std::int32_t> plane_step;
  std::vector<std::int32_t> row_step;
  std::vector<double> weights[3][4];
};

/// Nodes beside one another along z.
struct NodeRow {
  std::int32_t offset;  ///< of the first node's first component among all values
  std::int32_t nodes;
  float weights[STARPMC_GROUP_EDGE];
};

/// The nodes that a molecule's responses are summed over, in order.
class NodeRows {
 public:
  explicit NodeRows(const PotentialLattice& lattice) : lattice_(lattice) {}
  /// Of the sites [first, end); valid until the next call.
  std::span<const NodeRow> of(const ChargedSites& sites, std::size_t first, std::size_t end);

 private:
  struct Row {
    double weights[STARPMC_GROUP_EDGE] = {};
    /// The part that has weights.
    int first = STARPMC_GROUP_EDGE;
    int end = 0;
  };
  void add_site(const LatticePlace& place, double charge, const SiteGroup& group);
  void append(const SiteGroup& group);

  const PotentialLattice& lattice_;
  Row box_[STARPMC_GROUP_EDGE][STARPMC_GROUP_EDGE];  ///< of a group
  std::vector<LatticePlace> places_;
  std::vector<NodeRow> rows_;
};

}  // namespace starpmc::simd
