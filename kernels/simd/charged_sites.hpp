#pragma once

#include <span>
#include <vector>

#include "kernels/arguments.hpp"

namespace starpmc::simd {

/// The charged sites of a window's candidates, one after another, and their energies. Coordinates
/// end in kPadding more values for loads of full vectors.
struct ChargedSites {
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> z;
  std::vector<double> charge;
  std::vector<int> candidate;
  std::vector<double> energy;  ///< of a unit charge, without constant factors
  static constexpr std::size_t kPadding = 16;

  explicit ChargedSites(const Window& window);
  std::size_t size() const { return charge.size(); }
  /// Sum of factor * charge * energy of each candidate's sites.
  void collect(double factor, std::span<double> candidate_energies) const;

 private:
  std::size_t candidate_count_ = 0;
};

}  // namespace starpmc::simd
