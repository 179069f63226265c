#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/common/layout.h"
#include "kernels/common/poses.h"
#include "kernels/common/potential_lattice.h"
#include "kernels/pair_derivatives.hpp"
#include "kernels/potential.hpp"
#include "kernels/precision.hpp"

/// Arguments of the kernels, one structure per operation. A Real is double (fp64), float (mixed) or
/// FixedCoordinate (fixed; kernels/precision.hpp). Layouts and units of the arrays:
/// kernels/common/layout.h.
namespace starpmc {

/// Molecule types, their sites, and pair coefficients.
struct Topology {
  TopologyShape shape;
  std::span<const double> reals;
  std::span<const int> integers;

  int type_of(int molecule) const { return integers[static_cast<std::size_t>(molecule)]; }
  int site_count(int type) const {
    return integers[static_cast<std::size_t>(topology_site_count(shape, type))];
  }
  int site_type(int type, int site) const {
    return integers[static_cast<std::size_t>(topology_site_type(shape, type, site))];
  }
  /// x, y, z, charge of a site in the body frame.
  const double* site(int type, int site) const { return &reals[topology_site(shape, type, site)]; }
  /// Largest distance of a type's site from the centre.
  double radius(int type) const {
    double largest = 0;
    for (int i = 0; i < site_count(type); ++i) {
      const double* const r = site(type, i);
      largest = std::max(largest, std::sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]));
    }
    return largest;
  }
  /// Over all types: shape.largest_radius.
  double largest_radius() const {
    double largest = 0;
    for (int type = 0; type < shape.molecule_types; ++type) {
      largest = std::max(largest, radius(type));
    }
    return largest;
  }
  /// What a pair of site types has (PairLayout): first c12, c6, shift, slope of MM pairs.
  const double* pair(int a, int b) const { return &reals[topology_pair(shape, a, b)]; }
  /// c12, c6, shift, slope of a site of an MM molecule and a nucleus.
  const double* qmmm_pair(int a, int b) const { return pair(a, b) + shape.pairs.qmmm; }
};

/// What every kernel of a window reads.
struct Window {
  WindowLayout layout;
  Interaction interaction;
  Topology topology;
  std::span<const int> plan;
  std::span<const double> entries;
  const Potential* potential = nullptr;  ///< the user's functions; null: built-in energies alone

  int steps() const { return plan[PLAN_STEPS]; }
  int candidates() const { return plan[PLAN_CANDIDATES]; }
  int starts() const { return plan[PLAN_STARTS]; }
  int molecule_of_candidate(int candidate) const {
    const int step = plan[plan_candidate_step(layout) + candidate];
    return plan[plan_step_molecule(layout) + step];
  }
  int molecule_of_entry(int entry) const {
    return entry < layout.candidates
               ? molecule_of_candidate(entry)
               : plan[plan_start_molecule(layout) + entry - layout.candidates];
  }
  double field(int field, int entry) const {
    return entries[static_cast<std::size_t>(field * entry_capacity(layout) + entry)];
  }
};

/// Calls function(entry) for every entry of a window: candidates, then start positions.
template <class Function>
void for_each_entry(const Window& window, Function function) {
  for (int entry = 0; entry < window.candidates(); ++entry) function(entry);
  for (int slot = 0; slot < window.starts(); ++slot) function(start_entry(window.layout, slot));
}

/// propose_moves: plan, poses, sites and thresholds of the window out.
template <class Real>
struct ProposeMovesArguments {
  WindowLayout layout;
  Interaction interaction;
  StepRange range;
  Topology topology;
  std::span<const double> chain_state;
  std::span<const double> lattice;
  std::span<int> plan;
  std::span<double> entries;
  std::span<PairReal<Real>> outside;
};

/// qmmm_coulomb_grid: energy of every candidate with the points of some compact blocks.
template <class Real>
struct CoulombGridArguments {
  Window window;
  std::span<const double> blocks;  ///< BLOCK_FIELDS per block
  std::span<const Real> points;
  std::span<double> energies;  ///< layout.candidates
};

/// qmmm_coulomb_grid_reduce: sum of the partial energies of all blocks.
struct CoulombGridReduceArguments {
  int candidates = 0;
  std::span<const std::span<const double>> partials;
  std::span<double> energies;
};

/// qmmm_nuclei_vdw: the static terms of every candidate: Lennard-Jones and Coulomb energy with the
/// nuclei.
template <class Real>
struct NucleiVdwArguments {
  Window window;
  std::span<const double> solute;
  int nuclei = 0;
  std::span<double> energies;  ///< STATIC_TERMS arrays of layout.candidates

  /// Of a static term (FIELD_...).
  double& energy(int field, int candidate) const {
    return energies[static_cast<std::size_t>(field * window.layout.candidates + candidate)];
  }
};

/// reference_field: what a fixed reference density and its response make of every candidate
/// (kernels/common/potential_lattice.h); the same bits on every level and in every precision.
struct ReferenceFieldArguments {
  Window window;
  PotentialLattice potential;  ///< phi0: 1 component
  std::span<const float> potential_values;
  PotentialLattice response{};  ///< eta_k; without levels: none
  std::span<const ResponseCoefficient> response_values{};
  std::span<double> energies;           ///< layout.candidates: sum of charge * phi0, kJ/mol
  std::span<std::int32_t> responses{};  ///< [candidate][component]: y_k, STARPMC_RESPONSE_UNITS

  /// The row of `responses` of a candidate.
  std::span<std::int32_t> responses_of(int candidate) const {
    const auto components = static_cast<std::size_t>(response.components);
    return responses.subspan(static_cast<std::size_t>(candidate) * components, components);
  }
};

/// mm_pair: Coulomb and Lennard-Jones energy of every entry with the molecules
/// [first_molecule, last_molecule) that take no part in the window.
template <class Real>
struct MmPairArguments {
  Window window;
  std::span<const double> lattice;
  std::span<const Real> lattice_sites;
  std::span<const PairReal<Real>> outside;
  int first_molecule = 0;
  int last_molecule = 0;
  std::span<double> energies;  ///< MM_TERMS arrays of entry_capacity
};

/// mm_pair_table: energies of every pair of entries of different molecules. Row b has at a what a
/// has with b when it is a that moves, which may differ from the reverse in the last digits.
template <class Real>
struct MmPairTableArguments {
  Window window;
  std::span<PairReal<Real>> table;  ///< MM_TERMS square matrices of entry_capacity rows

  /// The energy that entry `moved` has with entry `met`.
  void put(std::size_t term, std::size_t moved, std::size_t met, PairReal<Real> energy) const {
    const auto rows = static_cast<std::size_t>(entry_capacity(window.layout));
    table[(term * rows + met) * rows + moved] = energy;
  }
};

/// mm_pair_reduce: partial energies, plus the energy with the start positions of the window's other
/// molecules.
template <class Real>
struct MmPairReduceArguments {
  Window window;
  std::span<const std::span<const double>> partials;
  std::span<const PairReal<Real>> table;
  std::span<double> energies;  ///< MM_TERMS arrays of entry_capacity
};

/// A site as lattice_sites stores it.
template <class Real>
Real stored_site(double centre, double displacement, double edge) {
  if constexpr (kPrecisionOf<Real> == Precision::fixed) {
    return {fixed_coordinate(centre + displacement, edge)};
  } else {
    (void)centre;
    (void)edge;
    return static_cast<Real>(displacement);
  }
}

/// An energy term of a pair of molecules (STARPMC_LARGEST_PAIR_ENERGY).
template <class Real>
double limited_pair_energy(Real energy) {
  return std::min(static_cast<double>(energy), STARPMC_LARGEST_PAIR_ENERGY);
}

/// The same where the user's functions are part of it: they may fall, too, or be no number.
inline double limited_user_energy(double energy) {
  const double below = energy < STARPMC_LARGEST_PAIR_ENERGY ? energy : STARPMC_LARGEST_PAIR_ENERGY;
  return std::max(below, -STARPMC_LARGEST_PAIR_ENERGY);
}

/// exact_grid_energy: energy of charged sites with the points of compact blocks, in the units of
/// kernels/common/exact_pairs.h.
struct ExactGridArguments {
  Interaction interaction;
  std::span<const double> blocks;  ///< BLOCK_FIELDS per block
  std::span<const double> points;  ///< as grid_points, but absolute positions and fp64
  std::span<const double> sites;   ///< x, y, z, charge of each site
  const Potential* potential = nullptr;
};

/// Certified decisions: a step whose energy change lies within its error bound of the threshold is
/// evaluated again, exactly. Without a density grid the energies of the density terms are exact as
/// they are.
struct Certification {
  bool active = false;
  DecisionBound bound{};
  std::span<const double> exact_blocks;  ///< the density grid; empty: none
  std::span<const double> exact_points;
  std::span<const double> solute;
  int nuclei = 0;
};

/// The solute's response to the molecules of a window (kernels/common/layout.h).
struct ResponseArguments {
  int components = 0;               ///< 0: none
  std::span<const int> candidates;  ///< responses
  std::span<int> molecules;         ///< molecule_response
  std::span<std::int64_t> total;    ///< response_total

  /// The numbers of an entry, `components` of them.
  const int* of_entry(const Window& window, int entry) const {
    const bool candidate = entry < window.layout.candidates;
    const int row = candidate ? entry : window.molecule_of_entry(entry);
    return (candidate ? candidates.data() : molecules.data()) +
           static_cast<std::ptrdiff_t>(row) * components;
  }
};

/// metropolis_decide: accepts or rejects the steps of a window in order.
template <class Real>
struct MetropolisDecideArguments {
  Window window;
  StepTuning tuning;
  Certification certification;
  std::span<const double> grid_energies;
  std::span<const double> nuclei_energies;
  std::span<double> mm_energies;  ///< overwritten: kept up to date with the accepted moves
  std::span<const PairReal<Real>> table;
  std::span<double> chain_state;
  std::span<double> lattice;
  std::span<Real> lattice_sites;
  std::span<double> field_cache;
  std::span<double> record;
  ResponseArguments response{};
};

/// grid_potential: potential of all MM charges, kJ/mol per elementary charge, at the points of
/// compact blocks (their charges are not used). Exact (kernels/common/exact_pairs.h) in every
/// precision: the density that an engine makes of it decides the whole trajectory.
struct GridPotentialArguments {
  WindowLayout layout;
  Interaction interaction;
  Topology topology;
  std::span<const double> lattice;
  std::span<const double> blocks;
  std::span<const double> points;  ///< as grid_points, but absolute positions and fp64
  std::span<double> potential;     ///< STARPMC_BLOCK_POINTS per block
  const Potential* functions = nullptr;
};

/// pose_energies: energies of every pose of a ligand with some compact blocks of a receptor.
/// Layouts: kernels/common/poses.h.
template <class Real>
struct PoseEnergiesArguments {
  PoseInteraction interaction;
  int sites = 0;  ///< of the ligand
  int poses = 0;
  std::span<const double> ligand;
  std::span<const double> positions;  ///< pose_size(sites) per pose
  std::span<const double> receptor_blocks;
  std::span<const Real> receptor_sites;
  std::span<double> energies;  ///< POSE_TERMS arrays of `poses` values
};

/// pose_energies_reduce: sums over at most STARPMC_MOST_PARTIALS partial energies, in the order of
/// TreeSum; the least of POSE_CLOSEST.
struct PoseEnergiesReduceArguments {
  int poses = 0;
  std::span<const std::span<const double>> partials;
  std::span<double> energies;
};

/// pair_virial: energies and molecular virials of the molecules [first_molecule, last_molecule)
/// with every later molecule and with the solute,
///   W = - sum over pairs of sites of V'(r)/r (r . R),
/// r the displacement of the sites and R that of their molecules' centres by the same periodic
/// image (so that scaling the box and all centres by x changes the energy by -W ln x); the solute
/// counts as one molecule. For molecules of one site this is NIST's W_pair. In fp64 and exactly
/// reproducible (kernels/common/exact_pairs.h) in every precision.
///
/// Beyond its cutoff a function counts as 0 and has no force at it: of a truncated potential this
/// is the virial of what a molecular dynamics program would compute, without the impulse at the
/// cutoff and without a long-range correction. The limit on the energy of two molecules
/// (STARPMC_LARGEST_PAIR_ENERGY) does not apply to the virial: the term of a pair of sites counts
/// as it is up to STARPMC_LARGEST_VIRIAL and as that beyond it.
struct PairVirialArguments {
  Interaction interaction;
  Topology topology;
  const PairDerivatives* functions = nullptr;
  std::span<const double> lattice;
  int first_molecule = 0;
  int last_molecule = 0;
  std::span<const double> solute;
  int nuclei = 0;
  double solute_centre[3] = {};
  std::span<const double> blocks;  ///< BLOCK_FIELDS per block
  std::span<const double> points;  ///< as grid_points, but absolute positions and fp64
  std::span<double> sums;          ///< VIRIAL_SUMS: the energies of all terms, then the virials
};

/// What arithmetic_probe repeats, all in registers.
enum class ArithmeticLoop {
  multiply_add,
  reciprocal_root,  ///< 1/sqrt(x) as the pair sums compute it
  pair              ///< the grid term's energy of a pair
};

/// The pairs of ArithmeticLoop::pair: all inside the cutoff, at distances that change with each.
inline constexpr double kProbeCutoff = 1e6;
inline constexpr double kProbeStep = 0.001;

/// arithmetic_probe: how fast a device computes, for the ceiling of the pair sums.
struct ArithmeticProbeArguments {
  ArithmeticLoop loop = ArithmeticLoop::multiply_add;
  int rounds = 0;            ///< time goes with it
  std::span<double> result;  ///< operations made, then a sum that depends on all of them
};

}  // namespace starpmc
