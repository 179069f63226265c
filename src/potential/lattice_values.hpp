#pragma once

#include <vector>

#include "kernels/common/potential_lattice.h"

namespace starpmc {

/// A lattice and its values. Without levels: none.
struct LatticeValues {
  PotentialLattice lattice{};
  std::vector<float> values;
};

}  // namespace starpmc
