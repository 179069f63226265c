#pragma once

#include <cstddef>
#include <vector>

#include "system/system.hpp"

namespace starpmc {

/// Two molecules of which sites lie almost on each other.
struct Overlap {
  std::size_t a;  ///< index into System::molecules
  std::size_t b;  ///< the same; their number: the QM molecule
  double distance_angstrom;
};

/// MM molecules within 0.3 A of each other, or 0.5 A of an atom of the QM molecule that repels
/// them, by sites.
std::vector<Overlap> overlaps(const System& system);

}  // namespace starpmc
