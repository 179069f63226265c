#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "config/settings.hpp"
#include "io/energy_terms.hpp"
#include "kernels/base/error.hpp"
#include "qm/density_grid.hpp"
#include "qm/engine.hpp"
#include "system/system.hpp"

#include <nlohmann/json_fwd.hpp>

namespace starpmc {

/// What a chain tells while it runs, in the order of steps.
class ChainObserver {
 public:
  virtual ~ChainObserver() = default;
  /// A step was decided.
  /// @param step   steps done so far, this one included
  /// @param totals running totals after it, kJ/mol
  virtual void on_step(std::uint64_t step, bool accepted, const EnergyTerms& totals) = 0;
  /// Positions after `step` steps, asked for by frame_interval.
  virtual void on_frame(std::uint64_t step, std::span<const Molecule> molecules) = 0;
  /// Of the positions after `step` steps, asked for by virial_interval; follows the step's
  /// on_step().
  virtual void on_virial(std::uint64_t step, const VirialTerms& terms) {
    (void)step;
    (void)terms;
  }
};

/// Steps to make.
struct ChainSegment {
  std::uint64_t first_step = 0;  ///< steps done before
  std::uint64_t steps = 0;
  std::uint64_t frame_interval = 0;   ///< 0: no frames
  std::uint64_t tune_interval = 0;    ///< 0: step sizes stay
  std::uint64_t virial_interval = 0;  ///< 0: no virials; needs output.pressure-interval > 0
  /// The block that the steps belong to, part of whose steps sampling.near-share moves only
  /// molecules near the solute; none: all are moved.
  std::uint64_t block_first_step = 0;
  std::uint64_t block_steps = 0;
};

/// Largest displacements of a move.
struct StepSizes {
  double translation_angstrom;
  double rotation_degrees;
};

/// How decisions were certified so far (src/sampling/README.md).
struct CertificationReport {
  bool active;
  double bound_kj_per_mol;         ///< on the error of a step's energy change
  std::uint64_t steps;             ///< evaluated again
  double largest_error_in_bounds;  ///< of those, relative to the bound
};

class ReferenceTables;

/// What a fixed reference and its response have with the MM molecules, kJ/mol.
struct ReferenceEnergy {
  double electrostatic = 0;  ///< of the reference's density and nuclei
  double polarisation = 0;
};

/// One Markov chain: its lattice, energies and density grid live in StarPU handles, its steps are
/// tasks. Everything about a trajectory is a function of the system, the settings and the seed.
class Chain {
 public:
  virtual ~Chain() = default;

  /// Replaces the density; call evaluate() before the next step.
  virtual void set_density(const DensityGrid& grid) = 0;
  /// The solute is a fixed reference that responds linearly, in the place of a density; call
  /// evaluate() before the next step. Chains may share one. Null: no reference.
  virtual void set_reference(std::shared_ptr<const ReferenceTables> reference) = 0;
  /// Of the current positions; 0 without a reference. It has the same bits on every device.
  virtual ReferenceEnergy reference_energy() = 0;
  /// Recomputes every energy term of the current positions and takes them as running totals.
  virtual EnergyTerms evaluate() = 0;
  /// The same of the terms with the solute, all that another density changes; the running totals of
  /// the others go on. After an evaluate().
  virtual EnergyTerms evaluate_solute() { return evaluate(); }
  /// Energies and virials of the current positions, exactly reproducible; needs
  /// output.pressure-interval > 0.
  virtual VirialTerms virial() = 0;
  /// Energies of the current positions without the density grid's, exactly reproducible; needs
  /// output.pressure-interval > 0 or sampling.equilibration-steps = auto.
  virtual EnergyTerms reproducible_energies() = 0;
  /// Makes steps; returns when all are decided and observed. Windows are submitted ahead of the
  /// devices, a bounded number at a time.
  /// @param pause asked before windows are submitted: true ends the segment after those on their
  ///              way. A chain that goes on from there makes the windows it would have made.
  /// @return steps done so far
  /// @throws RunError when a task fails or an energy is not finite
  virtual std::uint64_t run(const ChainSegment& segment, ChainObserver& observer,
                            const std::function<bool()>& pause) = 0;
  std::uint64_t run(const ChainSegment& segment, ChainObserver& observer) {
    return run(segment, observer, [] { return false; });
  }
  /// Potential of the MM charges at the engine's points, then the engine's update as a task.
  virtual QmResult update_density(QmEngine& engine) = 0;

  virtual std::vector<Molecule> molecules() = 0;
  virtual StepSizes step_sizes() = 0;
  virtual CertificationReport certification() = 0;

  /// All that the chain's future depends on but the system, the settings and the density.
  virtual nlohmann::json state() = 0;
  /// Takes up a state. With a reference: set_reference() with the one it was saved with comes
  /// first; without: set_density() with the density it was saved with comes next. Then no
  /// evaluate(), whose energies would be rounded otherwise than the running ones.
  /// @throws RunError when it belongs to another system
  virtual void restore(const nlohmann::json& state) = 0;
};

/// @param settings cutoffs resolved
/// @param chains_here that will share this process's workers, for the sizes of tasks; 0: one for
/// each
///                    worker
std::unique_ptr<Chain> make_chain(const System& system, const Settings& settings,
                                  std::uint32_t chain, unsigned chains_here = 1);

}  // namespace starpmc
