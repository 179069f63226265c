#pragma once

#include <algorithm>
#include <cstdint>

#include "qm/engine.hpp"

namespace starpmc {

// How a reference is made (reference_preparation.hpp). Sweeps are steps for each MM molecule, of
// each of its chains.
inline constexpr std::uint64_t kSweepsOfRelaxation = 100;
inline constexpr std::uint64_t kSweepsBetweenConfigurations = 40;
/// A configuration's embedding matrix takes so much of an update's time.
inline constexpr double kUpdatesOfConfiguration = 0.2;  ///< embedded as an update
inline constexpr double kUpdatesOfCoarseConfiguration = 0.07;
/// Of a round before the last, of the configurations asked for.
inline constexpr std::uint64_t kShareOfRound = 8;
inline constexpr std::uint64_t kFewestOfRound = 16;

/// @param configurations qm.configurations
inline std::uint64_t configurations_of_round(std::uint64_t configurations) {
  return std::clamp(configurations / kShareOfRound, std::min(kFewestOfRound, configurations),
                    configurations);
}

/// That qm.response-components = auto comes to for a solute of this size: 32 for acetone, 96 for
/// chorismate.
inline int usual_components(const QmForecast& qm) {
  constexpr int kSmall = 32;
  constexpr int kLarge = 96;
  constexpr double kOfFunctions = 0.37;
  return std::clamp(static_cast<int>(kOfFunctions * qm.basis_functions), kSmall, kLarge);
}

}  // namespace starpmc
