#pragma once

#include "config/settings.hpp"
#include "qm/engine.hpp"
#include "qm/solute_reference.hpp"
#include "system/system.hpp"

namespace starpmc {

enum class Fineness {
  rough,  ///< for rounds in which the reference is found
  fine
};

/// The tables of a reference: of density and nuclei, and of the response.
/// @param response whose potentials the engine tells
/// @param progress may be empty
void make_reference_lattices(const SoluteResponse& response, const System& system,
                             const Settings& settings, Fineness fineness, QmEngine& engine,
                             const WorkProgress& progress, SoluteReference& reference);

}  // namespace starpmc
