#pragma once

#include <string>

#include "system/system.hpp"

namespace starpmc {

/// One frame as text in PDB format: the solute first (chain A), then the MM molecules (chain B);
/// virtual sites are left out. Coordinates in angstrom, 3 decimals, molecules whole with their
/// centres wrapped into the box; residue and atom numbers wrap around at five and four columns.
std::string format_pdb(const System& system);

}  // namespace starpmc
