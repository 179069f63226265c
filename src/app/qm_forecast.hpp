#pragma once

#include <cstdint>
#include <string>

#include "config/settings.hpp"
#include "qm/engine.hpp"

namespace starpmc {

/// "40 s", "3 h": one significant digit.
std::string duration(double seconds);

/// Updates of the density by one chain, without those of an equilibration of unknown length.
/// @param interval steps between them
std::uint64_t updates_of_chain(const Settings& settings, std::uint64_t interval);

/// For the user, with no more digits than the estimates have: functions, time, memory and updates.
std::string describe(const QmForecast& forecast, const Settings& settings);

/// Whether the user should hear of it before the first SCF: an update of more than a minute, or
/// more memory than this machine has free.
/// @param free_memory_mb of this machine
bool is_large(const QmForecast& forecast, const Settings& settings, double free_memory_mb);

/// What the user should know where QmForecast::repeatable is false.
std::string why_unrepeatable(const Settings& settings);

}  // namespace starpmc
