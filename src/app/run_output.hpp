#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "analysis/block_average.hpp"
#include "analysis/ensemble.hpp"
#include "app/inputs.hpp"
#include "io/energy_table.hpp"
#include "io/output_folder.hpp"
#include "io/progress.hpp"
#include "io/run_summary.hpp"
#include "io/sha256.hpp"
#include "io/trajectory.hpp"
#include "sampling/chain.hpp"

namespace starpmc {

using ProgressReport = std::function<void(const ProgressState&)>;

/// Everything a run writes while its chain moves on: energies.csv, trajectory.h5, averages, the
/// hash of the decisions, and progress.
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
  /// The solute's own energy from here on, kJ/mol.
  void set_solute_energy(double energy) { solute_energy_ = energy; }
  /// Closes the files and fills in what the steps gave.
  void finish(ChainSummary& summary);

  /// Hands the files to the system, and tells all that a resumed output needs.
  nlohmann::json state();
  /// What a checkpoint speaks of.
  std::vector<std::filesystem::path> files() const { return files_; }
  const EnergyTerms& totals() const { return totals_; }
  double solute_energy() const { return solute_energy_; }
  const ChainStatistics& energy_statistics() const { return statistics_; }
  const ChainStatistics& pressure_statistics() const { return pressures_; }

 private:
  void report(std::uint64_t step);
  /// The line of a step, and its samples.
  void add_sample(std::uint64_t step, const std::optional<EnergyTable::Pressure>& pressure);
  EnergyTable::Pressure pressure_of(const VirialTerms& terms) const;
  void restore(const nlohmann::json& state);

  const Inputs& inputs_;
  const Settings& settings_;
  std::vector<std::filesystem::path> files_;
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
};

}  // namespace starpmc
