#include "app/block_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/block_test.hpp"
#include "base/constants.hpp"
#include "io/binary_json.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/logging.hpp"

namespace starpmc {
namespace {

/// Of steps made ahead that wait for their block's test.
constexpr std::size_t kMostBytesAhead = std::size_t{32} << 20;

}  // namespace

void BlockRun::Observer::on_step(std::uint64_t step, bool accepted, const EnergyTerms& totals) {
  const auto values = totals.values();
  for (std::size_t term = 0; term < values.size(); ++term) sums_[term] += values[term];
  ++steps_;
  output_.on_step(step, accepted, totals);
}

void BlockRun::Observer::on_frame(std::uint64_t step, std::span<const Molecule> molecules) {
  output_.on_frame(step, molecules);
}

void BlockRun::Observer::on_virial(std::uint64_t step, const VirialTerms& terms) {
  output_.on_virial(step, terms);
}

EnergyTerms BlockRun::Observer::mean() const {
  auto means = sums_;
  for (double& mean : means) mean /= static_cast<double>(std::max<std::uint64_t>(steps_, 1));
  return EnergyTerms::of(means);
}

void BlockRun::Observer::clear() {
  sums_ = {};
  steps_ = 0;
}

nlohmann::json BlockRun::Observer::state() const {
  return {{"sums", to_binary(std::span<const double>(sums_))}, {"steps", steps_}};
}

void BlockRun::Observer::restore(const nlohmann::json& state) {
  from_binary(state.at("sums"), "sums of a block", std::span<double>(sums_));
  steps_ = state.at("steps");
}

BlockRun::BlockRun(const Parts& parts, const ChainFolder& folder, const nlohmann::json* state)
    : parts_(parts),
      kt_(kGasConstant * parts.inputs.settings.sampling.temperature_kelvin),
      recorder_(parts.engine),
      scf_(parts.engine),
      observer_(parts.output),
      blocks_(state == nullptr ? std::vector<QmBlock>() : blocks_from(state->at("blocks"))),
      statistics_(energies_of(blocks_, kt_)),
      table_(folder.file("blocks.csv"), blocks_) {
  if (state == nullptr) return;
  parts_.interval = state->at("interval");
  start_ = state->at("start");
  kept_ = state->at("kept");
  planned_end_ = state->value("planned_end", std::uint64_t{0});
  if (!blocks_.empty()) {
    accepted_ = std::ranges::count_if(std::span(blocks_).subspan(1), &QmBlock::accepted);
    forgetting_ = forgetting(blocks_, kt_);
    first_ = first_of_true_ensemble(blocks_.size() - 1, accepted_, forgetting_);
  }
  observer_.restore(state->at("observer"));
  if (kept_ >= blocks_.size() && !blocks_.empty()) {
    throw RunError("the checkpoint's blocks do not fit together");
  }
}

nlohmann::json BlockRun::state(std::uint64_t step) const {
  const bool laid_out = parts_.inputs.settings.sampling.near_share > 0 && !blocks_.empty() &&
                        step > blocks_.back().end.step;
  return {{"interval", parts_.interval},
          {"start", start_},
          {"kept", kept_},
          {"planned_end", laid_out ? block_end() : 0},
          {"blocks", blocks_state(blocks_)},
          {"observer", observer_.state()}};
}

std::uint64_t BlockRun::block_end() const {
  if (planned_end_ > 0) return planned_end_;
  return std::min(parts_.total_steps, blocks_.back().end.step + parts_.interval);
}

ChainSegment BlockRun::segment(std::uint64_t block_start, std::uint64_t step,
                               std::uint64_t end) const {
  const auto& output = parts_.inputs.settings.output;
  return {step,        end - step,       output.trajectory_interval, 0, output.pressure_interval,
          block_start, end - block_start};
}

std::uint64_t BlockRun::advance(std::uint64_t step, const std::function<bool()>& pause) {
  resting_step_.reset();
  if (blocks_.empty()) return end_block(step);
  const std::uint64_t end = block_end();
  if (step < end)
    step = parts_.chain.run(segment(blocks_.back().end.step, step, end), observer_, pause);
  return step < end ? step : end_block(step);
}

/// All but what the SCF tells.
QmBlock BlockRun::sampled_end(std::uint64_t step) {
  const ReferenceEnergy energy = parts_.chain.reference_energy();
  sampled_energy_ =
      parts_.reference.solute_energy_kj_per_mol + energy.electrostatic + energy.polarisation;
  QmBlock block;
  block.end.step = step;
  block.end.terms = parts_.output.totals();
  block.end.sampled_energy_kj_per_mol = parts_.output.total_energy();
  block.mean_terms = observer_.mean();
  return block;
}

/// Steps of the next block while the SCF runs.
void BlockRun::sample_ahead(std::uint64_t step) {
  const std::uint64_t end = std::min(parts_.total_steps, step + parts_.interval);
  if (scf_.done() || step == end) return;
  const std::uint64_t reached = parts_.chain.run(segment(step, step, end), ahead_, [&] {
    return scf_.done() || parts_.interruption.requested() || ahead_.bytes() > kMostBytesAhead;
  });
  if (reached > step) ahead_end_ = reached;
}

std::uint64_t BlockRun::take_ahead(std::uint64_t step) {
  if (ahead_end_ == 0) return step;
  ahead_.tell(observer_);
  ahead_ = {};
  return std::exchange(ahead_end_, 0);
}

void BlockRun::drop_ahead() {
  ahead_ = {};
  if (std::exchange(ahead_end_, 0) != 0) parts_.chain.restore(start_);
}

void BlockRun::complete(QmBlock& block, const QmResult& result) {
  BlockEnd& end = block.end;
  end.difference_kj_per_mol = result.energy_kj_per_mol - sampled_energy_;
  if (!std::isfinite(end.difference_kj_per_mol)) {
    throw RunError("the difference of true and sampled energy is not finite");
  }
  end.dipole_debye = std::to_array(result.dipole_debye);
  end.polarisation_energy_kj_per_mol = result.polarisation_energy_kj_per_mol;
  end.iterations = result.iterations;
  end.seconds = result.seconds_embedding + result.seconds_scf + result.seconds_density;
  worker_memory_mb_ = result.memory_mb;
  if (!result.fallback.empty()) {
    spdlog::warn("chain {}, step {}: the SCF converged only with help: {}", parts_.number, end.step,
                 result.fallback);
  }
  if (blocks_.empty()) return;
  const BlockDecision decision =
      test_block(kept().end.difference_kj_per_mol, end.difference_kj_per_mol, kt_,
                 parts_.inputs.settings.sampling.seed, parts_.number, end.step);
  block.probability = decision.probability;
  block.accepted = decision.accepted;
}

void BlockRun::report(const QmBlock& block) const {
  spdlog::info(
      "chain {}, step {}: {}, true less sampled energy {:.3f} kJ/mol{}, {} iterations, {:.2f} s",
      parts_.number, block.end.step,
      blocks_.size() == 1 ? "production begins"
      : block.accepted    ? "block accepted"
                          : "block rejected",
      block.end.difference_kj_per_mol,
      blocks_.size() == 1 ? "" : fmt::format(", probability {:.3f}", block.probability),
      block.end.iterations, block.end.seconds);
}

std::uint64_t BlockRun::end_block(std::uint64_t step) {
  parts_.output.on_update(
      step, blocks_.size() + 1,
      blocks_.size() + 1 + (parts_.total_steps - step + parts_.interval - 1) / parts_.interval);
  QmBlock block = sampled_end(step);
  nlohmann::json end_state = parts_.chain.state();
  scf_.start(recorder_.record(parts_.chain));
  sample_ahead(step);
  try {
    complete(block, scf_.take());
  } catch (...) {
    ahead_ = {};
    if (std::exchange(ahead_end_, 0) != 0) parts_.chain.restore(end_state);
    resting_step_ = step;
    throw;
  }
  decide(block, std::move(end_state));
  planned_end_ = 0;
  return step;
}

void BlockRun::decide(const QmBlock& block, nlohmann::json end_state) {
  if (block.accepted) {
    kept_ = blocks_.size();
    start_ = std::move(end_state);
  } else {
    ahead_ = {};
    ahead_end_ = 0;
    parts_.chain.restore(start_);
    parts_.output.set_totals(kept().end.terms);
  }
  blocks_.push_back(block);
  table_.append(blocks_.size() - 1, block);
  report(block);
  observer_.clear();
  add_energy();
}

/// Of what the last test has left. How many of the first blocks are left out depends on all that
/// there are.
void BlockRun::add_energy() {
  if (blocks_.size() < 2) return;
  accepted_ += blocks_.back().accepted ? 1 : 0;
  if (blocks_of_forgetting(blocks_.size()) == blocks_.size()) {
    forgetting_ = forgetting(blocks_, kt_);
  }
  const std::size_t first = first_of_true_ensemble(blocks_.size() - 1, accepted_, forgetting_);
  if (std::exchange(first_, first) == first) {
    statistics_.add(kept().end.true_energy_kj_per_mol());
    statistics_.set_remembers_start(!forgetting_.enough);
  } else {
    statistics_ = energies_of(blocks_, kt_);
  }
}

}  // namespace starpmc
