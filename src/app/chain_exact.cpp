// A chain in the exact ensemble.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/block_test.hpp"
#include "app/chain_run.hpp"
#include "io/binary_json.hpp"
#include "io/checkpoint.hpp"
#include "io/continued_file.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/logging.hpp"
#include "qm/errors.hpp"

namespace starpmc {
namespace {

/// At most so many energies of the equilibration are kept: then every second one goes.
constexpr std::size_t kMostWatched = 4096;
/// An automatic block is so short that production has at least so many.
constexpr std::uint64_t kFewestBlocks = 20;

}  // namespace

void ChainRun::take_reference() {
  reference_ = context_.reference->get(
      *engine_, [this](const ProgressState& state) { context_.progress.update(number_, state); });
  const SoluteReference& reference = reference_->reference;
  engine_->restore(reference.worker_state);
  engine_->hold_density();
  chain_->set_reference(reference_->tables);
  summary_.reference = true;
  summary_.table_error = reference.table_error;
  summary_.response_error = reference.response_error;
  if (reference.isolated_energy_kj_per_mol != 0) {
    summary_.isolated_energy_kj_per_mol = reference.isolated_energy_kj_per_mol;
  }
  summary_.isolated_dipole_debye = reference.isolated_dipole_debye;
  worker_memory_mb_ = reference.memory_mb;
  if (schedule_.automatic()) {
    watch_interval_ = std::max<std::uint64_t>(100, context_.inputs.system.molecules.size());
  }
}

void ChainRun::set_solute_energy() {
  output_->set_solute_energy(reference_->reference.solute_energy_kj_per_mol -
                             summary_.isolated_energy_kj_per_mol.value_or(0));
}

double ChainRun::reference_coulomb() {
  const ReferenceEnergy energy = chain_->reference_energy();
  return energy.electrostatic + energy.polarisation;
}

/// The next step whose energy tells how fast the solute's surroundings change.
std::uint64_t ChainRun::next_watch() const {
  if (watch_interval_ == 0 || !in_equilibration()) return total_steps();
  return (step_ / watch_interval_ + 1) * watch_interval_;
}

void ChainRun::watch_decorrelation() {
  if (watch_interval_ == 0 || !in_equilibration() || step_ % watch_interval_ != 0) return;
  decorrelation_.push_back(reference_coulomb());
  if (decorrelation_.size() < kMostWatched) return;
  for (std::size_t i = 0; 2 * i + 1 < decorrelation_.size(); ++i) {
    decorrelation_[i] = decorrelation_[2 * i + 1];
  }
  decorrelation_.resize(decorrelation_.size() / 2);
  watch_interval_ *= 2;
}

std::uint64_t ChainRun::block_interval() const {
  if (!schedule_.automatic()) return settings_.qm.interval;
  return automatic_block(decorrelation_, std::max<std::uint64_t>(1, watch_interval_),
                         settings_.sampling.steps / kFewestBlocks);
}

/// @param steps of production that the run was to have when its blocks began
void ChainRun::warn_of_capped_blocks(std::uint64_t steps) const {
  if (!schedule_.automatic() || blocks_ == nullptr ||
      blocks_->interval() != steps / kFewestBlocks) {
    return;
  }
  spdlog::warn(
      "chain {}: its blocks stay {} steps long, as long as {} steps of production allowed; a run "
      "of {} steps from the start may have longer ones, and other steps",
      number_, blocks_->interval(), steps, settings_.sampling.steps);
}

void ChainRun::begin_blocks(const nlohmann::json* state) {
  blocks_ = std::make_unique<BlockRun>(
      BlockRun::Parts{context_.inputs, context_.interruption, reference_->reference, *chain_,
                      *engine_, *output_, number_, block_interval(), total_steps()},
      folder_, state);
  if (state == nullptr && schedule_.automatic()) {
    spdlog::info("chain {}, step {}: qm.interval auto is {} steps from here on", number_, step_,
                 blocks_->interval());
  }
}

bool ChainRun::test_is_due() const {
  return in_blocks() && !known_ &&
         (blocks_ == nullptr || blocks_->blocks().empty() ||
          blocks_->blocks().back().end.step < step_);
}

/// @return false where the run was interrupted
bool ChainRun::sample_block() {
  if (blocks_ == nullptr) begin_blocks(nullptr);
  const auto pause = [this] { return context_.interruption.requested() || checkpoint_is_due(); };
  try {
    step_ = blocks_->advance(step_, pause);
  } catch (const RunError& error) {
    // Of the steps: an SCF may be under way, to which the engine belongs.
    if (!blocks_->resting_step()) throw;
    save_engine_log();
    step_ = *blocks_->resting_step();
    save(checkpoint());
    if (dynamic_cast<const Cancelled*>(&error) == nullptr) throw;
    return false;
  }
  worker_memory_mb_ = blocks_->worker_memory_mb();
  summary_.qm_restarts = restarts_before_ + engine_->restarts();
  return true;
}

/// After a test it is first asked whether the run ends there.
void ChainRun::go_on_after_test() {
  if (blocks_ == nullptr) return;
  step_ = blocks_->take_ahead(step_);
  if (checkpoint_is_due()) save(checkpoint());
}

/// Chains meet at the ends of blocks, which are counted, for they may be of different lengths.
StoppingGate::Answer ChainRun::ask_gate_of_blocks() {
  constexpr auto kGoOn = StoppingGate::Answer::go_on;
  if (!context_.gate.active() || blocks_ == nullptr || blocks_->blocks().size() < 2) return kGoOn;
  const std::uint64_t gate = blocks_->blocks().size() - 1;
  if (gate <= gate_passed_ || step_ >= total_steps()) return kGoOn;
  const auto answer = context_.gate.arrive(number_, gate, blocks_->statistics());
  if (answer == kGoOn) gate_passed_ = gate;
  return answer;
}

/// Others may have more blocks, and would wait for this chain.
void ChainRun::leave_gate() {
  if (!context_.gate.active() || blocks_ == nullptr) return;
  context_.gate.chain_finished(number_, blocks_->blocks().size() - 1, blocks_->statistics());
}

void ChainRun::finish_blocks() {
  summary_.qm_interval_steps = blocks_->interval();
  summary_.blocks.assign(blocks_->blocks().begin(), blocks_->blocks().end());
  summary_.response_components = reference_->reference.components;
  blocks_->close();
}

nlohmann::json ChainRun::exact_state() const {
  nlohmann::json state{{"reference", reference_->digest},
                       {"decorrelation", to_binary(decorrelation_)},
                       {"watch_interval", watch_interval_}};
  if (blocks_ != nullptr) state["blocks"] = blocks_->state(step_);
  return state;
}

void ChainRun::restore_exact(const nlohmann::json& state) {
  if (state.at("reference").get<std::string>() != reference_->digest) {
    throw InputError(RunReference::path_in(settings_.output.folder).string(),
                     "is not the reference density that the run was begun with", "",
                     how_to_put_right("the file as the run made it"));
  }
  decorrelation_ = vector_from_binary<double>(state.at("decorrelation"));
  watch_interval_ = state.at("watch_interval");
  set_solute_energy();
  if (state.contains("blocks")) begin_blocks(&state.at("blocks"));
}

}  // namespace starpmc
