#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "io/qm_updates.hpp"

namespace starpmc {

/// Whether and when a chain's density is updated.
///
/// An automatic interval is found during equilibration: it is halved after a jump of more than kT
/// and doubled after one of less than kT/4, and production has the geometric mean of the intervals
/// of the second half of equilibration. The first update of production is at its beginning.
/// Everything is a function of the settings and of the updates made so far, so that a resumed chain
/// goes on as it would have.
class UpdateSchedule {
 public:
  /// @param interval            steps; 0: automatic
  /// @param equilibration_steps at least 1 where the interval is automatic; none: not known yet
  UpdateSchedule(std::uint64_t interval, std::optional<std::uint64_t> equilibration_steps,
                 double temperature_kelvin);

  /// They have become known, before any step of production.
  void set_equilibration(std::uint64_t steps) { equilibration_steps_ = steps; }

  bool automatic() const { return fixed_interval_ == 0; }
  /// Steps from the last of these updates to the next, if it is not the beginning of production
  /// that ends them.
  std::uint64_t interval(std::span<const QmUpdateRecord> updates) const;
  /// Step of the next update; 0 before the first.
  std::uint64_t next(std::span<const QmUpdateRecord> updates) const;

 private:
  std::uint64_t fixed_interval_;
  std::uint64_t first_interval_;       ///< of an automatic one
  std::uint64_t equilibration_steps_;  ///< the largest number: not known yet
  double kt_;                          ///< kJ/mol
};

}  // namespace starpmc
