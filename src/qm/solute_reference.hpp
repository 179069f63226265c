#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "potential/lattice_values.hpp"
#include "qm/solute_response.hpp"
#include "system/geometry.hpp"

namespace starpmc {

/// What a reference was made for: it serves no other solute, level of theory or potential.
struct ReferenceIdentity {
  std::vector<std::string> elements;
  std::vector<Vector3> positions;  ///< angstrom
  int charge = 0;
  int multiplicity = 1;
  std::string engine;  ///< "pyscf", ...
  std::string method;
  std::string basis;
  bool density_fitting = true;
  int scf_grid_radial = 0;
  int scf_grid_angular = 0;
  std::string coulomb;  ///< the user's expression; empty: the built-in function
  double coulomb_cutoff_angstrom = 0;
  Vector3 box;  ///< edges, angstrom

  bool operator==(const ReferenceIdentity&) const = default;
};

/// What the interpolation of a table of potentials errs by in the energy change of a move.
struct TableError {
  double rms_kj_per_mol = 0;
  double largest_kj_per_mol = 0;
  std::uint64_t moves = 0;  ///< 0: not measured

  bool operator==(const TableError&) const = default;
};

/// A fixed density D0 of the solute and its linear response, from which the energy between two
/// tests of the exact ensemble is computed:
///   E_QM[D0] + sum over charges of q phi0(R) - |Y|^2/2,  Y_k = sum of q eta_k(R) - Y0_k.
struct SoluteReference {
  ReferenceIdentity identity;
  double solute_energy_kj_per_mol = 0;    ///< E_QM[D0], absolute, as the worker's energies are
  double isolated_energy_kj_per_mol = 0;  ///< 0: not known
  std::array<double, 3> dipole_debye{};   ///< of D0
  std::vector<double> worker_state;       ///< QmEngine::restore: D0
  LatticeValues potential;                ///< phi0, kJ/mol per e
  LatticeValues response;                 ///< eta_k, sqrt(kJ/mol) per e; without levels: none
  int components = 0;                     ///< r, at most response.lattice.components
  std::vector<double> mean_response;      ///< Y0: r values, sqrt(kJ/mol)
  std::vector<ResponseWidth> widths;      ///< by increasing r
  double seconds = 0;                     ///< that it took to make
  std::optional<std::array<double, 3>> isolated_dipole_debye;
  std::uint64_t configurations = 0;  ///< that it was made from
  double memory_mb = 0;              ///< of the worker, resident
  TableError table_error;            ///< of `potential`
  TableError response_error;         ///< of `response`, in -|Y|^2/2
};

}  // namespace starpmc
