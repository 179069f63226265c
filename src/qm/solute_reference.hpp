#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qm/solute_response.hpp"
#include "system/geometry.hpp"

namespace starpmc {

/// What a reference is of: another run can use it only where all of this is the same.
struct ReferenceIdentity {
  std::vector<std::string> elements;
  std::vector<Vector3> positions;  ///< angstrom, in the box's frame
  int charge = 0;
  int multiplicity = 1;
  std::string method;
  std::string basis;
  bool density_fitting = true;
  int scf_grid_radial = 0;
  int scf_grid_angular = 0;
  std::string embedding;
  std::string coulomb;  ///< the function's text, with what is done at its cutoff
  double coulomb_cutoff_angstrom = 0;
  Vector3 box;  ///< edges, angstrom
};

/// One of a table's nested lattices.
struct PotentialLevel {
  std::array<double, 3> origin{};  ///< angstrom, from the table's centre
  double inverse_spacing = 0;
  std::array<int, 3> nodes{};
  std::int64_t first = 0;  ///< offset of its values
};

/// A table of a function of position: cubic B-splines on nested lattices, finest first.
struct PotentialLattice {
  int levels = 0;
  int components = 0;  ///< padded
  std::array<double, 3> centre{};
  std::array<double, 3> box{};
  std::array<PotentialLevel, 3> level{};
};

struct LatticeValues {
  PotentialLattice lattice;
  std::vector<float> coefficients;  ///< [x][y][z][component] of each level
};

/// The fixed density about which the exact ensemble's sampled Hamiltonian is made.
struct SoluteReference {
  ReferenceIdentity identity;
  double solute_energy_kj_per_mol = 0;  ///< E_QM[D0], absolute
  std::vector<double> worker_state;     ///< for QmEngine::restore: D0
  LatticeValues potential;
  LatticeValues response;
  int components = 0;
  std::vector<double> mean_response;  ///< Y0
  std::vector<ResponseWidth> widths;
  std::array<double, 3> dipole_debye{};
  std::optional<double> isolated_energy_kj_per_mol;
  std::optional<std::array<double, 3>> isolated_dipole_debye;
  std::uint64_t configurations = 0;  ///< that it was made from
  double memory_mb = 0;              ///< of the worker
  double seconds = 0;                ///< that its making took
};

}  // namespace starpmc
