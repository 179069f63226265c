#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "app/block_scf.hpp"
#include "app/delayed_steps.hpp"
#include "app/inputs.hpp"
#include "app/interruption.hpp"
#include "app/run_output.hpp"
#include "app/solvent_potential.hpp"
#include "io/qm_blocks.hpp"
#include "qm/solute_reference.hpp"
#include "sampling/chain.hpp"

namespace starpmc {

/// A chain's production in the exact ensemble: blocks of steps of the sampled Hamiltonian, each
/// with an SCF and a Metropolis test at its end. While the SCF runs the chain makes the steps of
/// the next block; they are thrown away where the test rejects. What is written and decided does
/// not depend on how many they were.
///
/// Steps of rejected blocks are written and counted as others: they are of the sampled Hamiltonian,
/// too. The block after starts from the configuration that the rejected one started from.
class BlockRun {
 public:
  struct Parts {
    const Inputs& inputs;
    const Interruption& interruption;
    const SoluteReference& reference;
    Chain& chain;
    QmEngine& engine;
    RunOutput& output;
    unsigned number;            ///< of the chain
    std::uint64_t interval;     ///< steps of a block
    std::uint64_t total_steps;  ///< of the chain, equilibration included
  };
  /// @param state state() of a checkpoint; null: production begins
  BlockRun(const Parts& parts, const ChainFolder& folder, const nlohmann::json* state);

  /// Makes steps to the end of a block at most, and the test there.
  /// @param pause asked now and then
  /// @return steps made; where it ends with a test, take_ahead() or drop_ahead() comes next
  /// @throws Cancelled where the SCF was interrupted, RunError where it failed (resting_step())
  std::uint64_t advance(std::uint64_t step, const std::function<bool()>& pause);
  /// Tells of the steps that were made ahead during the last test.
  /// @return steps made, these included
  std::uint64_t take_ahead(std::uint64_t step);
  /// Makes them undone: the chain ends here.
  void drop_ahead();
  /// After a failure of advance(): the end of the block, where the chain is and another call goes
  /// on; none: the chain is not to be gone on with.
  std::optional<std::uint64_t> resting_step() const { return resting_step_; }

  /// Everything its future depends on but what chain and output know.
  /// @param step that the chain has come to
  nlohmann::json state(std::uint64_t step) const;
  /// The first is the start of production.
  std::span<const QmBlock> blocks() const { return blocks_; }
  std::uint64_t interval() const { return parts_.interval; }
  /// Resident memory of the QM worker; negative: no SCF yet.
  double worker_memory_mb() const { return worker_memory_mb_; }
  /// The true energy at block ends.
  const ChainStatistics& statistics() const { return statistics_; }
  void close() { table_.close(); }

 private:
  /// Forwards to the output, and adds up a block's terms.
  class Observer final : public ChainObserver {
   public:
    explicit Observer(RunOutput& output) : output_(output) {}
    void on_step(std::uint64_t step, bool accepted, const EnergyTerms& totals) override;
    void on_frame(std::uint64_t step, std::span<const Molecule> molecules) override;
    void on_virial(std::uint64_t step, const VirialTerms& terms) override;
    EnergyTerms mean() const;
    void clear();
    nlohmann::json state() const;
    void restore(const nlohmann::json& state);

   private:
    RunOutput& output_;
    std::array<double, EnergyTerms::names.size()> sums_{};
    std::uint64_t steps_ = 0;
  };

  std::uint64_t block_end() const;
  ChainSegment segment(std::uint64_t block_start, std::uint64_t step, std::uint64_t end) const;
  std::uint64_t end_block(std::uint64_t step);
  QmBlock sampled_end(std::uint64_t step);
  void sample_ahead(std::uint64_t step);
  void complete(QmBlock& block, const QmResult& result);
  void decide(const QmBlock& block, nlohmann::json end_state);
  const QmBlock& kept() const { return blocks_[kept_]; }
  void report(const QmBlock& block) const;
  void add_energy();

  Parts parts_;
  double kt_;
  PotentialRecorder recorder_;
  BlockScf scf_;
  Observer observer_;
  nlohmann::json start_;  ///< the chain's state at the beginning of the block
  std::vector<QmBlock> blocks_;
  /// Where the block under way ends, whatever steps the run has been given since: its steps near
  /// the solute are laid out over it. 0: nowhere else than others.
  std::uint64_t planned_end_ = 0;
  std::size_t kept_ = 0;         ///< the block whose end the present one started from
  double sampled_energy_ = 0;    ///< of the solute and its electrostatics, at the block's end
  DelayedSteps ahead_;           ///< of the next block, made while the last one was tested
  std::uint64_t ahead_end_ = 0;  ///< where they end; 0: there are none
  std::optional<std::uint64_t> resting_step_;
  std::uint64_t accepted_ = 0;  ///< blocks, the start not counted
  Forgetting forgetting_;
  std::size_t first_ = 1;  ///< of the blocks that statistics_ has
  ChainStatistics statistics_;
  double worker_memory_mb_ = -1;
  BlockTable table_;
};

}  // namespace starpmc
