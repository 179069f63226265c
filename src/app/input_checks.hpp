#pragma once

#include <string>
#include <vector>

#include "config/option_places.hpp"
#include "config/settings.hpp"
#include "system/system.hpp"

namespace starpmc {

/// "C10 H8 O6".
std::string formula(const Solute& solute);

/// Of the whole box, with qm.charge for the QM molecule, e.
double net_charge(const System& system, const Settings& settings);

/// The QM molecule's charge, elements and multiplicity must make a whole molecule: as many unpaired
/// electrons as the multiplicity says among those that there are. A stored density (engine frozen)
/// has its electrons already.
/// @throws InputError naming the option
void check_electron_count(const System& system, const Settings& settings,
                          const OptionPlaces& places);

/// Energy (kJ/mol) of a charge with the dielectric beyond a distance from it (M. Born, Z. Phys. 1,
/// 45 (1920)): -k q^2 / (2 r) (1 - 1/epsilon).
double born_energy(double charge, double distance_angstrom, double relative_permittivity);

/// What is allowed but likely a mistake or easily overlooked: cutoffs below 6 A, a box below 15 A,
/// a net charge, temperatures that look like degrees Celsius, several chains that start to count
/// where they all begin.
/// @param settings with resolved cutoffs
std::vector<std::string> input_warnings(const System& system, const Settings& settings,
                                        const OptionPlaces& places);

}  // namespace starpmc
