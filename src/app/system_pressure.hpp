#pragma once

#include "analysis/pressure.hpp"
#include "app/inputs.hpp"

namespace starpmc {

/// Pressure at sampling.temperature, with the dispersion correction.
/// @param virial_kj_per_mol of all terms
inline double system_pressure_bar(const Inputs& inputs, double virial_kj_per_mol) {
  const System& system = inputs.system;
  const double molecules = static_cast<double>(system.molecules.size()) + (system.solute ? 1 : 0);
  return pressure_bar(molecules, inputs.settings.sampling.temperature_kelvin,
                      virial_kj_per_mol + inputs.dispersion.virial_kj_per_mol, system.box.volume());
}

}  // namespace starpmc
