#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "analysis/block_average.hpp"
#include "analysis/ensemble.hpp"
#include "app/inputs.hpp"
#include "io/background_writer.hpp"
#include "io/energy_table.hpp"
#include "io/output_folder.hpp"
#include "io/progress.hpp"
#include "io/run_summary.hpp"
#include "io/sha256.hpp"
#include "io/trajectory.hpp"
#include "sampling/chain.hpp"

namespace starpmc {

using ProgressReport = std::function<void(const ProgressState&)>;

/// Everything a run writes while its chain moves on: energies.csv, trajectory.h5md, checkpoints,
/// averages, the hash of the decisions, and progress. The files are written by a thread of their
/// own, in the order of what happens; an error there is thrown by the next call.
class RunOutput final : public ChainObserver {
 public:
  /// @param report  where progress goes
  /// @param resumed state() of a checkpoint: the files are cut back to it
  RunOutput(const Inputs& inputs, const ChainFolder& folder, ProgressReport report,
            const nlohmann::json* resumed);

  void on_step(std::uint64_t step, bool accepted, const EnergyTerms& totals) override;
  void on_frame(std::uint64_t step, std::span<const Molecule> molecules) override;
  void on_virial(std::uint64_t step, const VirialTerms& terms) override;

  /// Writes the state of a chain before its first step.
  void start(const EnergyTerms& totals, Chain& chain);
  /// @param expected updates of the whole run
  void on_update(std::uint64_t step, std::uint64_t updates, std::uint64_t expected);
  /// Production begins after so many steps: called before its first one, a resumed run's included.
  void set_equilibration(std::uint64_t steps);
  /// For a resumed run that is to make more steps than it was begun with, after
  /// set_equilibration(): the halves of its samples, by which chains are compared, are others. They
  /// are taken from energies.csv anew.
  /// @throws RunError where the table has other samples than there have been
  void take_more_steps();
  /// The solute's own energy from here on, kJ/mol.
  void set_solute_energy(double energy) { solute_energy_ = energy; }
  /// Closes the files and fills in what the steps gave.
  void finish(ChainSummary& summary);

  /// Whether the files in the folder are those that a checkpoint goes on with.
  /// @param state state() of the checkpoint, with what save() has added
  /// @throws InputError naming the file, what is wrong with it, and what to do
  static void check_files(const ChainFolder& folder, const System& system,
                          const nlohmann::json& state);
  static FileExtent energies_extent(const nlohmann::json& state);
  static TrajectoryExtent trajectory_extent(const nlohmann::json& state);

  /// final.gro and final.pdb.
  void write_final_state(std::span<const Molecule> molecules) const;

  /// All that a resumed output needs but for how far the files have come, which save() adds.
  nlohmann::json state() const;
  /// Writes a checkpoint once what has come before it is on the disk; the checkpoint before is
  /// waited for.
  /// @param checkpoint with state() as "output"
  void save(nlohmann::json checkpoint);
  /// Returns when everything has been handed to the system, and checkpoints are on the disk.
  /// @throws RunError naming the file and the system's reason
  void wait() { writer_.wait(); }
  /// That the last checkpoint took to be written; 0 before the first.
  double checkpoint_seconds() const { return checkpoint_seconds_; }
  /// Whether a checkpoint has been written.
  bool has_checkpoint() const { return checkpoints_written_ > 0; }
  const EnergyTerms& totals() const { return totals_; }
  /// The chain is put back to a configuration of these.
  void set_totals(const EnergyTerms& totals) { totals_ = totals; }
  /// With the solute's own and the dispersion correction, kJ/mol.
  double total_energy() const {
    return totals_.total() + solute_energy_ + inputs_.dispersion.energy_kj_per_mol;
  }
  double solute_energy() const { return solute_energy_; }
  const ChainStatistics& energy_statistics() const { return statistics_; }
  const ChainStatistics& pressure_statistics() const { return pressures_; }

 private:
  void report(std::uint64_t step);
  /// The line of a step, and its samples.
  void add_sample(std::uint64_t step, const std::optional<EnergyTable::Pressure>& pressure);
  EnergyTable::Pressure pressure_of(const VirialTerms& terms) const;
  void append_frame(std::uint64_t step, std::span<const Molecule> molecules);
  void append_energies(std::uint64_t step, double acceptance,
                       const std::optional<EnergyTable::Pressure>& pressure);
  void restore(const nlohmann::json& state);

  const Inputs& inputs_;
  const Settings& settings_;
  ChainFolder folder_;
  EnergyTable energies_;
  Trajectory trajectory_;
  ProgressReport report_;
  ProgressState state_;
  std::uint64_t equilibration_steps_;  ///< the largest number: not known yet
  DecisionHash decisions_;
  BlockAverage terms_[EnergyTerms::names.size()];
  BlockAverage qmmm_coulomb_;
  BlockAverage solute_;
  BlockAverage total_;
  ChainStatistics statistics_;  ///< of the total energy
  ChainStatistics pressures_;   ///< bar
  EnergyTerms totals_;
  double solute_energy_ = 0;    ///< kJ/mol, constant between updates
  std::uint64_t accepted_ = 0;  ///< of all steps
  std::uint64_t accepted_production_ = 0;
  std::uint64_t checkpoints_asked_ = 0;
  std::atomic<std::uint64_t> checkpoints_written_ = 0;
  std::atomic<double> checkpoint_seconds_ = 0;
  BackgroundWriter writer_;  ///< of energies_ and trajectory_; last: it ends before they do
};

}  // namespace starpmc
