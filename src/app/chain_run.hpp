#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "app/block_run.hpp"
#include "app/checkpoint_pace.hpp"
#include "app/equilibration_search.hpp"
#include "app/input_fingerprint.hpp"
#include "app/inputs.hpp"
#include "app/interruption.hpp"
#include "app/progress_board.hpp"
#include "app/run_output.hpp"
#include "app/run_reference.hpp"
#include "app/stopping_gate.hpp"
#include "app/update_schedule.hpp"
#include "kernels/base/error.hpp"
#include "qm/engine.hpp"
#include "sampling/solute_multipoles.hpp"

namespace starpmc {

/// What the chains of a run share.
struct RunContext {
  const Inputs& inputs;
  Interruption& interruption;
  ProgressBoard& progress;
  StoppingGate& gate;
  RunReference* reference = nullptr;  ///< null: the exact ensemble is not asked for
  InputFingerprint fingerprint;       ///< a checkpoint of another input is refused
  unsigned chains_here = 0;           ///< that share this process's workers; 0: one for each, about
};

/// One chain of a run: updates of the density in turn with steps, or steps in blocks with a test
/// after each (BlockRun), its files and its checkpoints.
class ChainRun {
 public:
  /// @param engine null: no solute
  ChainRun(const RunContext& context, unsigned number, ChainFolder folder,
           std::unique_ptr<QmEngine> engine);
  ~ChainRun();
  /// Of a chain that does not run any more, whose results can still be asked for. May take half a
  /// second.
  void end_engine() noexcept;
  ChainRun(const ChainRun&) = delete;
  ChainRun& operator=(const ChainRun&) = delete;

  /// Takes up the chain's last whole checkpoint, where there is one.
  /// @throws InputError as find_resume_point()
  void resume();
  /// Goes on until all steps are made, the energy is known, or the run is interrupted.
  /// @return whether it came to its end
  /// @throws RunError saying at which step, and how to go on
  bool run();

  /// Of a finished run: the last one is enough to go on from.
  void remove_previous_checkpoint();

  std::uint64_t step() const { return step_; }
  /// Where it was gone on with; 0: it was not.
  std::uint64_t restored_step() const { return restored_step_; }
  const ChainSummary& summary() const { return summary_; }
  /// Of the exact ensemble at the ends of blocks.
  const ChainStatistics& energy_statistics() const {
    return blocks_ == nullptr ? output_->energy_statistics() : blocks_->statistics();
  }
  const ChainStatistics& pressure_statistics() const { return output_->pressure_statistics(); }
  /// Resident memory of the QM worker at its last update, 0 where there is no worker; none: no
  /// update has been made yet. By any thread.
  std::optional<double> worker_memory_mb() const {
    const double memory_mb = worker_memory_mb_;
    return memory_mb < 0 ? std::nullopt : std::optional(memory_mb);
  }

 private:
  bool make_steps();
  void start();
  /// @param resumed RunOutput::state() of a checkpoint; null: a new run
  void make_output(const nlohmann::json* resumed);
  void restore(const nlohmann::json& checkpoint);
  /// @param before steps of production it was to have
  void take_more_steps(std::uint64_t before);
  /// What is not finite must reach neither the averages nor a checkpoint.
  /// @throws RunError naming the terms
  static void require_finite(const EnergyTerms& terms, const std::string& when);
  /// All but the updates, which save() adds.
  nlohmann::json checkpoint() const;
  void save(nlohmann::json checkpoint);
  void await_checkpoint(const RunError& reported);
  bool update_is_due() const;
  /// @return false where the run was interrupted meanwhile
  bool update();
  void begin_output(const EnergyTerms& energies);
  QmResult ask_engine();
  void take(QmResult result, const EnergyTerms& before);
  /// Whether the engine has energies: a stored density has none.
  bool has_qm_energies() const { return engine_->name() != "frozen"; }
  void take_energy_zero(const QmResult& result);
  void report_update() const;
  bool sample();
  StoppingGate::Answer ask_gate();
  std::uint64_t gate_behind() const;
  void check_drift();
  void finish();
  void save_engine_log() const noexcept;
  bool checkpoint_is_due() const;
  bool checkpoint_is_worth_it() const;
  std::uint64_t total_steps() const;
  std::uint64_t next_update() const;
  /// Steps at which the chains meet; updates that all have at the same steps, where there are any.
  std::uint64_t gate_interval() const;
  /// The step from which on the chains' meetings are counted.
  std::uint64_t gate_origin() const;
  void report_interval() const;
  bool in_equilibration() const { return !search_.steps() || step_ < *search_.steps(); }
  std::uint64_t next_stop() const;
  double solute_coulomb();
  void look_for_equilibration();
  void begin_production();
  std::uint64_t expected_updates() const;

  // The exact ensemble: chain_exact.cpp.
  bool samples_exactly() const { return context_.reference != nullptr; }
  bool updates_density() const { return engine_ != nullptr && !samples_exactly(); }
  /// Whether an update can give another density than the last: a stored one is read once.
  bool has_more_updates() const {
    return updates_density() && (has_qm_energies() || summary_.qm_updates.empty());
  }
  void take_reference();
  void set_solute_energy();
  double reference_coulomb();
  std::uint64_t next_watch() const;
  void watch_decorrelation();
  std::uint64_t block_interval() const;
  bool in_blocks() const { return samples_exactly() && !in_equilibration(); }
  bool test_is_due() const;
  void begin_blocks(const nlohmann::json* state);
  bool sample_block();
  void go_on_after_test();
  StoppingGate::Answer ask_gate_of_blocks();
  void leave_gate();
  void warn_of_capped_blocks(std::uint64_t steps) const;
  void finish_blocks();
  nlohmann::json exact_state() const;
  void restore_exact(const nlohmann::json& state);

  const RunContext& context_;
  const Settings& settings_;
  UpdateSchedule schedule_;
  EquilibrationSearch search_;
  unsigned number_;
  ChainFolder folder_;
  std::unique_ptr<QmEngine> engine_;
  std::unique_ptr<Chain> chain_;
  std::unique_ptr<RunOutput> output_;
  std::shared_ptr<const RunReference::Shared> reference_;  ///< null: no exact ensemble
  std::unique_ptr<BlockRun> blocks_;                       ///< null: not yet, or no exact ensemble
  std::vector<double> decorrelation_;  ///< energies of solute and solvent in equilibration
  std::uint64_t watch_interval_ = 0;   ///< steps between them; 0: none are needed
  ChainSummary summary_;
  DensityGrid grid_;                            ///< the chain's, for checkpoints
  std::optional<SoluteMultipoles> multipoles_;  ///< of grid_; made when they are asked for
  EnergyTerms after_update_;  ///< energies right after the last update of the density
  std::vector<Molecule> start_of_production_;  ///< empty: not yet
  std::uint64_t step_ = 0;
  std::uint64_t restored_step_ = 0;
  bool updated_ = false;  ///< the update due at this step has been made
  bool known_ = false;    ///< the ensemble's energy is
  bool resumed_ = false;  ///< from a checkpoint
  std::uint64_t gate_passed_ = 0;
  unsigned restarts_before_ = 0;               ///< of the QM worker, before the run was resumed
  std::atomic<double> worker_memory_mb_ = -1;  ///< negative: no update yet
  CheckpointPace pace_;
};

}  // namespace starpmc
