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
  /// Adds factor * charge * energy of each site, in whole units, to its candidate's energy; the
  /// sites' energies begin anew at 0.
  void move_to(double factor, std::span<double> candidate_energies);
};

}  // namespace starpmc::simd
