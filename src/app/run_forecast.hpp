#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/preparation_forecast.hpp"
#include "app/sampling_trial.hpp"
#include "config/settings.hpp"
#include "qm/engine.hpp"

namespace starpmc {

/// How long a run will take: that of its production and of an equilibration of given length, not of
/// one that ends by itself.
struct RunForecast {
  double sampling_seconds = 0;
  double preparation_seconds = 0;  ///< of a reference
  double qm_seconds = 0;           ///< the first update's preparation and all updates
  std::uint64_t updates = 0;       ///< of a chain

  double seconds() const { return preparation_seconds + sampling_seconds + qm_seconds; }
};

/// @param qm          none: no QM program
/// @param preparation none: no reference is made
/// @param chains      at once
/// @param cpu_workers that the QM programs of the chains share
RunForecast run_forecast(const Settings& settings, const SamplingTrial& trial,
                         const std::optional<QmForecast>& qm,
                         const std::optional<PreparationForecast>& preparation, unsigned chains,
                         unsigned cpu_workers);

/// One line for the user.
std::string describe(const RunForecast& forecast, const Settings& settings,
                     const SamplingTrial& trial);

}  // namespace starpmc
