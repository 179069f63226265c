#pragma once

#include "config/option_places.hpp"
#include "config/settings.hpp"
#include "system/system.hpp"

namespace starpmc {

/// What the van der Waals cutoff leaves out, of a box that is uniform beyond it.
struct DispersionCorrection {
  double average_c6 = 0;         ///< kJ/mol A^6
  double energy_kj_per_mol = 0;  ///< to the energy
  double virial_kj_per_mol = 0;  ///< to W of pressure_bar()
};

/// As GROMACS' DispCorr = Ener or EnerPres. With <C6> the average over all pairs of sites of
/// different molecules (the QM molecule is one of them), N sites and the density rho = N/V,
///   E = N/2 <C6> (rho I + d(0)),   W = N/2 <C6> rho J,
/// where I and J are integrals over all space of what is left out of -1/r^6 and of its -r d/dr:
///   truncate         I = -4 pi/3 rc^-3    d(0) = 0         J = -8 pi rc^-3
///   potential-shift  I = -8 pi/3 rc^-3    d(0) = 1 rc^-6   J = -8 pi rc^-3
///   force-shift      I = -14 pi/3 rc^-3   d(0) = 7 rc^-6   J = -14 pi rc^-3
/// d(0) takes away each site's own share of what the modifier changes inside the cutoff. The
/// repulsion, a thousandth of it, is left out. Constant while box and composition are.
/// @param settings cutoffs resolved
/// @throws InputError where an expression takes part in the van der Waals energy
DispersionCorrection dispersion_correction(const System& system, const Settings& settings,
                                           const OptionPlaces& places = OptionPlaces());

}  // namespace starpmc
