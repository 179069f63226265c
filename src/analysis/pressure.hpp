#pragma once

#include "base/constants.hpp"

namespace starpmc {

/// Pressure of rigid molecules in a periodic box,
///   P = (N k T + W/3) / V,
/// W the molecular virial (kernels/arguments.hpp, PairVirialArguments), by which -dU/dV = W/(3 V)
/// when molecules move apart without growing: Allen and Tildesley, Computer Simulation of Liquids,
/// 2nd ed., section 2.4. A QM molecule that does not move counts among the N: where its
/// surroundings are everywhere alike, keeping it still only chooses the frame of reference.
/// @param molecules          N
/// @param temperature_kelvin T
/// @param virial_kj_per_mol  W
/// @param volume             V, A^3
/// @return bar
constexpr double pressure_bar(double molecules, double temperature_kelvin, double virial_kj_per_mol,
                              double volume) {
  // 1 kJ/mol/A^3 = 1000 J / (6.02214076e23 * 1e-30 m^3), 1 bar = 1e5 Pa
  constexpr double kBar = 1e5 / 6.02214076;
  return kBar * (molecules * kGasConstant * temperature_kelvin + virial_kj_per_mol / 3) / volume;
}

}  // namespace starpmc
