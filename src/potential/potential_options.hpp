#pragma once

#include "config/option_places.hpp"
#include "config/settings.hpp"
#include "system/system.hpp"

namespace starpmc {

/// Words in place of an expression.
inline constexpr const char* kBuiltInPotential = "built-in";
inline constexpr const char* kNoPotential = "none";

/// Checks of [potential] but for what the expressions say.
/// @param settings cutoffs resolved
/// @param places   of the options, for messages
/// @throws InputError where options do not go together
void check_potential_options(const System& system, const Settings& settings,
                             const OptionPlaces& places);

}  // namespace starpmc
