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
  /// Chooses configurations for about as many moves, once all are there.
  void choose(std::uint64_t moves = kMoves);
  /// With the positions of fewer of its configurations, and these alone.
  MoveSample part(std::uint64_t moves) const;

  /// Of the molecules' energy in phi0.
  /// @param potential at positions(), without a table
  TableError error(const LatticeValues& table, std::span<const double> potential) const;
  /// Of the energy -|Y|^2/2, with Y0 as `mean`.
  /// @param potentials eta_k at positions(), without a table, [component][position]
  TableError response_error(const LatticeValues& table, std::span<const double> mean,
                            std::span<const double> potentials) const;

 private:
  static constexpr std::uint64_t kMoves = 100000;

  MoveSample() = default;
  std::vector<Vector3> positions_for(std::uint64_t moves) const;
  std::size_t chosen() const;
  std::size_t molecules() const { return first_.size() - 1; }
  /// Sum over the charges of each chosen configuration's molecules: [configuration][molecule].
  template <class ValueAtPosition>
  std::vector<double> of_molecules(const ValueAtPosition& value) const;
  /// Calls visit(from, to, molecule) of each move, from a chosen configuration to another.
  template <class Visit>
  void for_moves(const Visit& visit) const;
  /// @param errors of the moves, in the order of for_moves()
  static TableError of_errors(std::span<const double> errors);

  std::vector<double> charges_;     ///< of the sites of a configuration
  std::vector<std::size_t> first_;  ///< of a molecule among them, and the end
  std::vector<std::vector<Vector3>> configurations_;
  std::vector<Vector3> positions_;  ///< [chosen configuration][site]
};

}  // namespace starpmc
