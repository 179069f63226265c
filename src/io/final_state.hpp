#pragma once

#include <span>
#include <string>

#include "system/read_system.hpp"
#include "system/system.hpp"

namespace starpmc {

/// Text of a .gro file with the molecules whole, their centres in the box, in the topology's order:
/// with that topology it can be what a run begins with.
/// @param molecules those of the system, moved
std::string gro_text(const System& system, std::span<const Molecule> molecules,
                     const MoleculeOrder& order);

}  // namespace starpmc
