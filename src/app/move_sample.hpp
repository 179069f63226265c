#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "config/settings.hpp"
#include "potential/potential_lattice.hpp"
#include "qm/engine.hpp"
#include "qm/solute_reference.hpp"
#include "system/system.hpp"

namespace starpmc {

/// Where molecules are and go to, by which the error of a table of potentials is measured: each
/// molecule of some sampled configurations goes to its place in a later one. That is farther than a
/// step goes, so that the errors at both places are independent, as those of a step are at worst.
class MoveSample {
 public:
  MoveSample(const System& system, const Settings& settings);
  /// @param charges of the sites of each molecule that have one
  explicit MoveSample(std::span<const std::vector<double>> charges);

  void clear() { configurations_.clear(); }
  /// @param charges of a configuration
  void add(const PointCharges& charges);

  /// Of all charged sites that take part.
  const std::vector<Vector3>& positions() const { return positions_; }
  /// Chooses the configurations, once all are there.
  void choose();

  /// @param potential at positions(), without a table
  TableError error(const LatticeValues& table, std::span<const double> potential) const;

 private:
  std::vector<double> charges_;     ///< of the sites of a configuration
  std::vector<std::size_t> first_;  ///< of a molecule among them, and the end
  std::vector<std::vector<Vector3>> configurations_;
  std::vector<Vector3> positions_;  ///< [chosen configuration][site]
};

}  // namespace starpmc
