#pragma once

#include "codelets/window.hpp"

/// One function per operation: submits its task. Real selects the precision (double: fp64, float:
/// mixed). Buffers have the layouts of kernels/common/layout.h.
namespace starpmc::codelets {

/// Amounts of work that the performance models of the larger operations are keyed by.
struct Work {
  static double qmmm_coulomb_grid(double candidates, double blocks) { return candidates * blocks; }
  static double propose_moves(double candidates) { return candidates; }
  static double metropolis_decide(double candidates) { return candidates * candidates; }
  static double mm_pair_table(double entries) { return entries * entries; }
  static double mm_pair(double candidates, double molecules) { return candidates * molecules; }
  /// In points of the grid. All else that a candidate needs (proposal, MM terms, decision) takes a
  /// core about as long as 9000 of them, and a little longer with more molecules: most are beyond
  /// the cutoff.
  /// @param field of a candidate in a reference: reference_points()
  static double sample_windows(double candidates, double blocks, double molecules,
                               double field = 0) {
    return candidates * (STARPMC_BLOCK_POINTS * blocks + molecules + 9000 + field);
  }
  /// reference_field of a candidate, in points of the grid.
  static double reference_points(double components) { return 10 * reference_field(1, components); }
  /// In phi0's alone: a component of the response costs about a fortieth of it.
  static double reference_field(double candidates, double components) {
    return candidates * (40 + components);
  }
  static double grid_potential(double molecules, double blocks) { return molecules * blocks; }
  static double pair_virial(double molecules, double all, double blocks) {
    return molecules * (all + STARPMC_BLOCK_POINTS * blocks);
  }
};

template <class Real>
void propose_moves(const WindowHandles& window, const WindowArguments& arguments,
                   const StepRange& range, starpu_data_handle_t chain_state,
                   starpu_data_handle_t lattice, starpu_data_handle_t outside);

template <class Real>
void qmmm_coulomb_grid(const WindowHandles& window, const WindowArguments& arguments,
                       std::size_t blocks, starpu_data_handle_t block_headers,
                       starpu_data_handle_t points, starpu_data_handle_t energies);

template <class Real>
void qmmm_coulomb_grid_reduce(const WindowArguments& arguments,
                              std::span<const starpu_data_handle_t> partials,
                              starpu_data_handle_t energies);

template <class Real>
void qmmm_nuclei_vdw(const WindowHandles& window, const WindowArguments& arguments, int nuclei,
                     starpu_data_handle_t solute, starpu_data_handle_t energies);

/// The tables of a reference, plain data; without a response its lattice has no levels.
struct ReferenceLattices {
  PotentialLattice potential;
  PotentialLattice response;
  bool has_response() const { return response.components > 0; }
};
/// Their values; no response: null.
struct ReferenceHandles {
  starpu_data_handle_t potential_values = nullptr;
  starpu_data_handle_t response_values = nullptr;
};
/// @param energies  ReferenceFieldArguments::energies: what qmmm_coulomb_grid_reduce writes
/// @param responses not used without a response
template <class Real>
void reference_field(const WindowHandles& window, const WindowArguments& arguments,
                     const ReferenceLattices& lattices, const ReferenceHandles& handles,
                     starpu_data_handle_t energies, starpu_data_handle_t responses);

template <class Real>
void mm_pair(const WindowHandles& window, const WindowArguments& arguments, int first_molecule,
             int last_molecule, starpu_data_handle_t lattice, starpu_data_handle_t lattice_sites,
             starpu_data_handle_t outside, starpu_data_handle_t energies);

template <class Real>
void mm_pair_table(const WindowHandles& window, const WindowArguments& arguments,
                   starpu_data_handle_t table);

template <class Real>
void mm_pair_reduce(const WindowHandles& window, const WindowArguments& arguments,
                    std::span<const starpu_data_handle_t> partials, starpu_data_handle_t table,
                    starpu_data_handle_t energies);

/// What a certified decision needs; null handles: no density.
struct CertificationHandles {
  starpu_data_handle_t solute = nullptr;  ///< read only where there are nuclei
  starpu_data_handle_t exact_blocks = nullptr;
  starpu_data_handle_t exact_points = nullptr;
};
/// The part of it that is plain data.
struct CertificationArguments {
  int active;
  int nuclei;
  int blocks;  ///< compact blocks of the density grid
  DecisionBound bound;
  bool alone;  ///< no other chain wants a device meanwhile
};

/// The solute's response (kernels/common/layout.h).
struct ResponseHandles {
  int components = 0;                         ///< 0: none, and null handles
  starpu_data_handle_t candidates = nullptr;  ///< responses
  starpu_data_handle_t molecules = nullptr;   ///< molecule_response
  starpu_data_handle_t total = nullptr;       ///< response_total
};

struct DecideHandles {
  starpu_data_handle_t mm_energies;
  starpu_data_handle_t table;
  starpu_data_handle_t chain_state;
  starpu_data_handle_t lattice;
  starpu_data_handle_t lattice_sites;
  starpu_data_handle_t field_cache;
  starpu_data_handle_t record;
  starpu_data_handle_t grid_energies;    ///< null without static terms
  starpu_data_handle_t nuclei_energies;  ///< the same
  CertificationHandles certification;
  ResponseHandles response;
};
template <class Real>
void metropolis_decide(const WindowHandles& window, const WindowArguments& arguments,
                       const StepTuning& tuning, const CertificationArguments& certification,
                       const DecideHandles& handles);

/// Step sizes are tuned behind each window that ends at a multiple of `interval`; 0: they stay.
struct PeriodicTuning {
  StepTuning tuning;
  std::uint64_t interval;

  /// Of the window whose last step is the one before `step`.
  StepTuning behind(std::uint64_t step) const {
    StepTuning at = tuning;
    at.active = interval > 0 && step % interval == 0 ? 1 : 0;
    return at;
  }
};

/// Most windows of one task of sample_windows.
inline constexpr std::size_t kMostWindowsPerTask = 64;

/// What sample_windows uses besides what metropolis_decide does.
struct SampleHandles {
  DecideHandles decide;
  starpu_data_handle_t outside;
  starpu_data_handle_t mm_partial;
  starpu_data_handle_t block_headers;  ///< null without a density
  starpu_data_handle_t points;
  std::size_t grid_blocks;
  ReferenceHandles reference;  ///< in the place of a density; null: none
};

/// Where windows are made by several workers, each with a part of the density: who makes these, and
/// which worker that is. Such tasks wait for each other while they run, so all members' must be
/// submitted, in the same order for each.
struct TeamTask {
  TeamMember member{};
  int worker = kAnyWorker;
};

/// Several consecutive windows in one task: proposal, every energy term and decision, one after
/// another on one worker. Where a window's tasks would be shorter than StarPU's cost of a task, or
/// where one device does all of them anyway.
/// @param range   of all windows
/// @param extents of each window, in order
template <class Real>
void sample_windows(const WindowHandles& window, const WindowArguments& arguments,
                    const StepRange& range, std::span<const opencl::WindowExtent> extents,
                    const PeriodicTuning& tuning, const CertificationArguments& certification,
                    int nuclei, const ReferenceLattices& lattices, const SampleHandles& handles,
                    const TeamTask& team = {});

template <class Real>
void grid_potential(const WindowArguments& arguments, starpu_data_handle_t topology_reals,
                    starpu_data_handle_t topology_integers, starpu_data_handle_t lattice,
                    std::size_t blocks, starpu_data_handle_t block_headers,
                    starpu_data_handle_t points, starpu_data_handle_t potential);

struct PoseHandles {
  starpu_data_handle_t ligand;
  starpu_data_handle_t positions;
  starpu_data_handle_t receptor_blocks;
  starpu_data_handle_t receptor_sites;
};
/// Energies of the poses in `positions` with the blocks of a receptor tile.
/// @param pairs of sites, which the performance model is keyed by
template <class Real>
void pose_energies(const PoseInteraction& interaction, const opencl::PoseExtent& extent,
                   double pairs, const PoseHandles& handles, starpu_data_handle_t energies);
/// Name of its performance model.
template <class Real>
const std::string& pose_energies_model(const PoseInteraction& interaction);

/// @param partials 1 to STARPMC_MOST_PARTIALS
template <class Real>
void pose_energies_reduce(int poses, std::span<const starpu_data_handle_t> partials,
                          starpu_data_handle_t energies);

/// What pair_virial reads besides its handles; the functions outlive the tasks.
struct PairVirialConstants {
  Interaction interaction;
  TopologyShape topology;
  const PairDerivatives* functions;
  int nuclei;
  double solute_centre[3];
};
struct PairVirialHandles {
  starpu_data_handle_t topology_reals;
  starpu_data_handle_t topology_integers;
  starpu_data_handle_t lattice;
  starpu_data_handle_t sums;
  starpu_data_handle_t solute;         ///< read only where there are nuclei
  starpu_data_handle_t block_headers;  ///< null without a density
  starpu_data_handle_t points;         ///< exact ones
  std::size_t blocks;
};
/// Molecules [first_molecule, last_molecule) with every later one and with the solute.
template <class Real>
void pair_virial(const PairVirialConstants& constants, int first_molecule, int last_molecule,
                 const PairVirialHandles& handles);

/// For benchmarks: how fast the worker that runs it computes.
/// @param result two doubles (ArithmeticProbeArguments)
template <class Real>
void arithmetic_probe(ArithmeticLoop loop, int rounds, starpu_data_handle_t result);

/// A QM update: runs on the CPU worker whose core the engine's process then uses.
/// @param run     called once with `context` and the potential at all points, part by part; where a
///                task has failed(), too, though the potential may be anything then
/// @param on_gpu  the engine computes there: seconds of a core are hundredths of a second of a GPU,
///                so that each has models of its own
/// @param parts   the potential's handles, in order
using QmUpdateFunction = void (*)(void* context, std::span<const std::span<const double>> parts);
void qm_update(QmUpdateFunction run, void* context, double expected_work, bool on_gpu,
               std::span<const starpu_data_handle_t> parts);

/// A piece of what a reference is made from; the same, with models of its own: it takes the time of
/// no update.
void qm_preparation(QmUpdateFunction run, void* context, double expected_work);

}  // namespace starpmc::codelets
