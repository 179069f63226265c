#pragma once

#include <cstdint>
#include <string>

#include "app/inputs.hpp"
#include "app/sampling_trial.hpp"
#include "qm/engine.hpp"

namespace starpmc {

/// What the reference of a run in the exact ensemble will take before its chains begin. The QM
/// program's parts are estimates, good to a factor of three.
struct PreparationForecast {
  std::uint64_t steps = 0;
  double sampling_seconds = 0;  ///< of those
  std::uint64_t scfs = 0;       ///< of rounds and of test configurations
  double scf_seconds = 0;
  int components = 0;  ///< of the response; as many as are usual where the number is auto
  double response_seconds = 0;
  std::uint64_t positions = 0;  ///< at which the QM program gives potentials
  double table_seconds = 0;
  double table_mb = 0;  ///< of this program, shared by all chains

  double seconds() const {
    return sampling_seconds + scf_seconds + response_seconds + table_seconds;
  }
};

/// @param inputs      of a run that makes its reference
/// @param trial       of as many chains as the run has
/// @param chains      whose QM programs share in what is independent
/// @param cpu_workers that these have
PreparationForecast preparation_forecast(const Inputs& inputs, const QmForecast& qm,
                                         const SamplingTrial& trial, unsigned chains,
                                         unsigned cpu_workers);

/// One line for the user.
std::string describe(const PreparationForecast& forecast);

}  // namespace starpmc
