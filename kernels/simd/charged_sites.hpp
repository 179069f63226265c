#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "kernels/arguments.hpp"

namespace starpmc::simd {

/// Charged sites one after another, and their energies: those of a window's candidates, or those of
/// the whole lattice.
struct ChargedSites {
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> z;
  std::vector<double> charge;
  std::vector<int> candidate;
  std::vector<double> energy;  ///< of a unit charge, without the Coulomb constant

  explicit ChargedSites(const Window& window);
  std::size_t size() const { return charge.size(); }
  /// Sum of charge * energy of each candidate's sites.
  void collect(std::span<double> candidate_energies) const;

 private:
  std::size_t candidate_count_ = 0;
};

/// The same sites as seen from one compact block: wrapped once, relative to its origin, and sorted
/// by how careful the pair sum must be. Sites beyond the cutoff from every point are left out.
template <class Real>
struct SiteBlock {
  std::vector<Real> x;
  std::vector<Real> y;
  std::vector<Real> z;
  std::vector<int> inside;
  std::vector<int> cut;
  std::vector<int> full;
  std::size_t inside_count = 0;
  std::size_t cut_count = 0;
  std::size_t full_count = 0;

  explicit SiteBlock(std::size_t sites)
      : x(sites), y(sites), z(sites), inside(sites + 1), cut(sites + 1), full(sites + 1) {}

  void classify(const ChargedSites& sites, const double* block, const Interaction& interaction);
};

}  // namespace starpmc::simd
