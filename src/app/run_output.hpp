#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/block_average.hpp"
#include "app/inputs.hpp"
#include "io/energy_table.hpp"
#include "io/output_folder.hpp"
#include "io/progress.hpp"
#include "io/run_summary.hpp"
#include "io/sha256.hpp"
#include "io/trajectory.hpp"
#include "sampling/chain.hpp"

namespace starpmc {

/// Everything a run writes while its chain moves on: energies.csv, trajectory.h5, averages, the
/// hash of the decisions, and progress.
class RunOutput final : public ChainObserver {
 public:
  RunOutput(const Inputs& inputs, const OutputFolder& folder);

  void on_step(std::uint64_t step, bool accepted, const EnergyTerms& totals) override;
  void on_frame(std::uint64_t step, std::span<const Molecule> molecules) override;

  /// Writes the state before the first step.
  void start(const EnergyTerms& totals, std::span<const Molecule> molecules);
  void on_update(std::uint64_t step, std::uint64_t updates);
  /// Closes the files and fills in what the steps gave.
  void finish(RunSummary& summary);

  const EnergyTerms& totals() const { return totals_; }

 private:
  void report(std::uint64_t step);

  const Settings& settings_;
  EnergyTable energies_;
  Trajectory trajectory_;
  Progress progress_;
  ProgressState state_;
  DecisionHash decisions_;
  BlockAverage terms_[EnergyTerms::names.size()];
  BlockAverage total_;
  EnergyTerms totals_;
  std::uint64_t accepted_ = 0;  ///< of all steps
  std::uint64_t accepted_production_ = 0;
};

}  // namespace starpmc
