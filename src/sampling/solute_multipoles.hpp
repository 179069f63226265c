#pragma once

#include <vector>

#include "qm/density_grid.hpp"
#include "system/system.hpp"

namespace starpmc {

/// The solute's charges reduced to a charge and a dipole on each nucleus: the nucleus and the
/// density points nearest to it. Their energy with the MM charges follows the QM-MM electrostatic
/// energy (without what overlap and higher moments add) at the cost of a pair for each atom and MM
/// site. On the host, in fixed order and of correctly rounded operations only: the same bits
/// whatever computes the chain.
class SoluteMultipoles {
 public:
  SoluteMultipoles(const System& system, const DensityGrid& grid);

  /// With the shifted-force Coulomb function (kernels/scalar/pair_functions.hpp), whatever function
  /// the run has.
  double energy_kj_per_mol(const System& system, const std::vector<Molecule>& molecules,
                           double cutoff_angstrom) const;

 private:
  struct Atom {
    Vector3 position;     ///< angstrom
    double charge;        ///< elementary charges
    Vector3 dipole = {};  ///< about the nucleus, elementary charges times angstrom
  };
  double potential(const Box& box, const Vector3& at, double cutoff) const;

  std::vector<Atom> atoms_;
};

}  // namespace starpmc
