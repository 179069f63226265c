#pragma once

#include <cstddef>
#include <vector>

#include "kernels/common/layout.h"
#include "kernels/common/poses.h"

namespace starpmc {

/// Sites that poses of a ligand interact with; arrays of equal length.
struct ReceptorSites {
  std::vector<double> x;  ///< angstrom
  std::vector<double> y;
  std::vector<double> z;
  std::vector<double> charge;  ///< elementary charges
  std::vector<double> radius;  ///< as PoseInteraction's combination wants it
  std::vector<double> root;    ///< square roots of the well depths, (kJ/mol)^(1/2)

  std::size_t size() const { return x.size(); }
};

}  // namespace starpmc
