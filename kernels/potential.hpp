#pragma once

#include <memory>

#include "kernels/program.hpp"

namespace starpmc {

struct PreparedPotential;

/// Pair functions of the user's that replace built-in ones or add to them: in fp64, unless the
/// members below say otherwise. A program without outputs is none.
struct Potential {
  /// r^2 (A^2) -> energy of two unit charges inside the Coulomb cutoff, without the Coulomb
  /// constant (1/A). Replaces the shifted-force form of all three Coulomb terms.
  Program coulomb;
  /// r^2, then the pair's coefficients (PairLayout::mm_function) -> kJ/mol inside the van der Waals
  /// cutoff, added to the Lennard-Jones energy of two sites of MM molecules.
  Program mm;
  /// The same of a site of an MM molecule and a nucleus (PairLayout::qmmm_function).
  Program qmmm;
  /// Whether the Coulomb function of a site and a grid point is computed in the precision of the
  /// pair terms: it and its error must then be bounded up to the cutoff. Else in fp64.
  bool grid_as_pairs = false;
  /// Whether those of MM molecules that are not near (STARPMC_NEAR_DISTANCE) are computed in the
  /// precision of the pair terms. Else in fp64.
  bool mm_as_pairs = false;
  /// What prepare() makes of the functions, for the SIMD kernels; they do without, too.
  std::shared_ptr<const PreparedPotential> prepared{};
  /// Coefficient of the 1/r part of `coulomb`, the limit of r times it at 0: what the extents of
  /// density points change.
  double coulomb_pole = 1;

  static bool exists(const Program& program) { return !program.outputs.empty(); }
  /// Whether the user's functions are part of the energies of two MM molecules; of an MM molecule
  /// with the nuclei; with the density.
  bool in_mm() const { return exists(coulomb) || exists(mm); }
  bool in_nuclei() const { return exists(coulomb) || exists(qmmm); }
  bool in_grid() const { return exists(coulomb); }

  bool operator==(const Potential& other) const {
    return coulomb == other.coulomb && coulomb_pole == other.coulomb_pole && mm == other.mm &&
           qmmm == other.qmmm && grid_as_pairs == other.grid_as_pairs &&
           mm_as_pairs == other.mm_as_pairs;
  }
};

/// Compiles the functions for this processor where that can be done: tens of milliseconds the first
/// time.
void prepare(Potential& potential);

/// Coefficient of the 1/r part of the Coulomb function with the density.
inline double coulomb_pole(const Potential* potential) {
  return potential != nullptr && potential->in_grid() ? potential->coulomb_pole : 1;
}

/// The potential, where it says anything of a term.
inline const Potential* potential_of(const Potential* potential, bool (Potential::*part)() const) {
  return potential != nullptr && (potential->*part)() ? potential : nullptr;
}

}  // namespace starpmc
