#include "app/chain_run.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "app/movement.hpp"
#include "base/checked_file.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/logging.hpp"

namespace starpmc {
namespace {

constexpr std::uint64_t kGateInterval = 10000;  ///< steps, where there are no updates

}  // namespace

ChainRun::ChainRun(const RunContext& context, unsigned number, ChainFolder folder,
                   std::unique_ptr<QmEngine> engine)
    : context_(context),
      settings_(context.inputs.settings),
      schedule_(settings_.qm.interval, settings_.sampling.equilibration_steps,
                settings_.sampling.temperature_kelvin),
      search_(settings_.sampling, context_.inputs.system.molecules.size()),
      number_(number),
      folder_(std::move(folder)),
      engine_(std::move(engine)),
      pace_(settings_.output.checkpoint_interval_seconds, CheckpointPace::Clock::now()) {}

ChainRun::~ChainRun() { end_engine(); }

void ChainRun::end_engine() noexcept {
  blocks_.reset();  // waits for an SCF under way, to which the engine belongs
  save_engine_log();
  engine_.reset();
}

void ChainRun::require_finite(const EnergyTerms& terms, const std::string& when) {
  if (std::isfinite(terms.total())) return;
  std::string which;
  const auto values = terms.values();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      which +=
          fmt::format("{}{} = {}", which.empty() ? "" : ", ", EnergyTerms::names[i], values[i]);
    }
  }
  throw RunError(
      fmt::format("the energy {} is not finite ({}): sites lie on each other, the QM density has "
                  "absurd charges, or a device gives wrong results; see the coordinates and, with "
                  "output.save-grid true, the density, or try --run.implementation scalar",
                  when, which.empty() ? "its terms are, their sum is not" : which));
}

/// More than any chain makes while it is not known where equilibration ends.
std::uint64_t ChainRun::total_steps() const {
  if (!search_.steps()) return std::numeric_limits<std::uint64_t>::max();
  return *search_.steps() + settings_.sampling.steps;
}

std::uint64_t ChainRun::next_update() const {
  return has_more_updates() ? schedule_.next(summary_.qm_updates) : total_steps();
}

std::uint64_t ChainRun::gate_interval() const {
  return updates_density() && !schedule_.automatic() ? settings_.qm.interval : kGateInterval;
}

/// Each chain's own production, where they are equilibrated after different numbers of steps.
std::uint64_t ChainRun::gate_origin() const { return search_.automatic() ? *search_.steps() : 0; }

std::uint64_t ChainRun::expected_updates() const {
  const std::uint64_t interval = schedule_.interval(summary_.qm_updates);
  const std::uint64_t total = search_.steps() ? total_steps() : step_ + settings_.sampling.steps;
  return summary_.qm_updates.size() + (total - step_ + interval - 1) / interval;
}

void ChainRun::save_engine_log() const noexcept {
  try {
    if (engine_ == nullptr || engine_->log().empty()) return;
    write_file_atomically(folder_.file("qm-worker.log"), engine_->log());
  } catch (const std::exception& error) {
    spdlog::warn("{}", error.what());
  }
}

void ChainRun::make_output(const nlohmann::json* resumed) {
  const auto report = [this](const ProgressState& state) {
    context_.progress.update(number_, state);
  };
  output_ = std::make_unique<RunOutput>(context_.inputs, folder_, report, resumed);
}

void ChainRun::start() {
  chain_ = make_chain(system_of_chain(context_.inputs, number_), settings_, number_,
                      context_.chains_here);
  if (samples_exactly()) take_reference();
  make_output(nullptr);
  if (samples_exactly()) set_solute_energy();
  if (!in_equilibration()) begin_production();
}

bool ChainRun::checkpoint_is_due() const { return pace_.is_due(CheckpointPace::Clock::now()); }

bool ChainRun::checkpoint_is_worth_it() const {
  return pace_.is_worth_it(CheckpointPace::Clock::now(), output_->checkpoint_seconds());
}

bool ChainRun::update_is_due() const {
  return has_more_updates() && !updated_ && step_ == next_update() &&
         (step_ < total_steps() || step_ == 0);
}

/// The first checkpoint is on the disk before the first step: where there is none, nothing is lost.
void ChainRun::begin_output(const EnergyTerms& energies) {
  output_->start(energies, *chain_);
  save(checkpoint());
  output_->wait();
}

void ChainRun::check_drift() {
  const EnergyTerms accumulated = output_->totals();
  summary_.final_energies = chain_->evaluate();
  require_finite(summary_.final_energies, "computed anew");
  const double difference = accumulated.total() - summary_.final_energies.total();
  // Devices sum fp32 pair terms in parts: in 500 waters that errs by some 4e-5 kJ/mol a step, at
  // random. Cores sum whole units, without an error.
  constexpr double kSuspicious = 1e-6;         // relative
  constexpr double kSuspiciousOfAStep = 2e-4;  // kJ/mol
  const double expected = kSuspicious * std::max(1e3, std::abs(accumulated.total())) +
                          kSuspiciousOfAStep * std::sqrt(static_cast<double>(step_));
  if (std::abs(difference) > expected) {
    spdlog::warn(
        "accumulated and recomputed energy differ by {:.3g} kJ/mol: molecules overlap, or a "
        "device gives wrong results",
        difference);
  }
  summary_.drift = summary_.drift + (accumulated - summary_.final_energies);
}

/// The next step that something happens at.
std::uint64_t ChainRun::next_stop() const {
  std::uint64_t stop = !search_.steps()     ? search_.next_look(step_)
                       : in_equilibration() ? *search_.steps()
                                            : total_steps();
  stop = std::min({stop, next_update(), next_watch()});
  if (!context_.gate.active() || !search_.steps()) return stop;
  const std::uint64_t interval = gate_interval();
  const std::uint64_t origin = gate_origin();
  return std::min(stop, origin + ((step_ - origin) / interval + 1) * interval);
}

/// Steps up to the next stop, or to a pause.
bool ChainRun::sample() {
  if (in_blocks()) return sample_block();
  const bool equilibration = in_equilibration();
  const std::uint64_t look = search_.steps() ? 0 : search_.next_look(step_);
  const auto pause = [this] { return context_.interruption.requested() || checkpoint_is_due(); };
  const std::uint64_t reached = chain_->run(
      {step_, next_stop() - step_, settings_.output.trajectory_interval,
       equilibration ? settings_.sampling.tune_interval : 0, settings_.output.pressure_interval},
      *output_, pause);
  const bool moved = reached != step_;
  if (moved) updated_ = false;
  step_ = reached;
  if (look > 0 && step_ == look) look_for_equilibration();
  if (equilibration && !in_equilibration()) begin_production();
  if (moved && samples_exactly()) watch_decorrelation();
  if (checkpoint_is_due()) save(checkpoint());
  return true;
}

/// Of the electrons and nuclei of the last update with the MM charges, as far as it has the same
/// bits wherever the chain is computed, kJ/mol.
double ChainRun::solute_coulomb() {
  if (samples_exactly()) return reference_coulomb();
  const System& system = context_.inputs.system;
  if (!system.solute) return 0;
  if (!multipoles_) multipoles_.emplace(system, grid_);
  return multipoles_->energy_kj_per_mol(system, chain_->molecules(),
                                        settings_.interaction.coulomb_cutoff_angstrom);
}

void ChainRun::look_for_equilibration() {
  const EnergyTerms energies = chain_->reproducible_energies();
  require_finite(energies, "computed anew");
  search_.look(step_, energies, solute_coulomb(), chain_->step_sizes());
  if (!search_.steps()) return;
  schedule_.set_equilibration(step_);
  output_->set_equilibration(step_);
  const double sweeps =
      static_cast<double>(step_) / static_cast<double>(context_.inputs.system.molecules.size());
  if (search_.how() == EquilibrationEnd::settled) {
    spdlog::info(
        "chain {}: equilibrated after {} steps, {:.0f} for each molecule: energies and step sizes "
        "have settled",
        number_, step_, sweeps);
  } else {
    spdlog::info(
        "chain {}: energies and step sizes have not settled in {} steps, {:.0f} for each molecule, "
        "as many as production has: it begins now",
        number_, step_, sweeps);
  }
}

void ChainRun::begin_production() { start_of_production_ = chain_->molecules(); }

StoppingGate::Answer ChainRun::ask_gate() {
  constexpr auto kGoOn = StoppingGate::Answer::go_on;
  if (samples_exactly()) return ask_gate_of_blocks();
  if (!context_.gate.active() || step_ >= total_steps() || !search_.steps() ||
      step_ <= *search_.steps()) {
    return kGoOn;
  }
  const std::uint64_t gate = step_ - gate_origin();
  if (gate % gate_interval() != 0 || gate <= gate_passed_) return kGoOn;
  const auto answer = context_.gate.arrive(number_, gate, output_->energy_statistics());
  if (answer == kGoOn) gate_passed_ = gate;
  return answer;
}

/// The last gate that a chain has passed that has come so far.
std::uint64_t ChainRun::gate_behind() const {
  if (!context_.gate.active() || !search_.steps()) return 0;
  if (samples_exactly()) {
    const std::size_t blocks = blocks_ == nullptr ? 0 : blocks_->blocks().size();
    return blocks < 2 ? 0 : blocks - 2;
  }
  const std::uint64_t origin = gate_origin();
  return step_ <= origin ? 0 : (step_ - 1 - origin) / gate_interval() * gate_interval();
}

bool ChainRun::run() {
  try {
    const bool complete = make_steps();
    if (output_ != nullptr) output_->wait();
    return complete;
  } catch (const Cancelled&) {
    // Interrupted while the reference was made, or before the chain had it: nothing has happened
    // yet.
    return false;
  } catch (const RunError& error) {
    await_checkpoint(error);
    throw RunError(fmt::format(
        "chain {}, after step {}: {}\nonce the cause is mended the run goes on from its {} with: "
        "starpmc resume {}",
        number_, step_, error.what(),
        resumed_ || (output_ != nullptr && output_->has_checkpoint()) ? "last checkpoint"
                                                                      : "beginning",
        settings_.output.folder.string()));
  }
}

/// After a failure, whose report must not be replaced by that of another.
void ChainRun::await_checkpoint(const RunError& reported) {
  try {
    if (output_ != nullptr) output_->wait();
  } catch (const RunError& failure) {
    // What has failed may be the writing itself.
    if (std::string_view(failure.what()) != reported.what()) {
      spdlog::error("chain {}: {}", number_, failure.what());
    }
  }
}

bool ChainRun::make_steps() {
  if (chain_ == nullptr) start();
  if (!updates_density() && step_ == 0 && !updated_) {
    updated_ = true;
    begin_output(chain_->evaluate());
  }
  while (!known_ && (step_ < total_steps() || update_is_due() || test_is_due())) {
    const auto answer = ask_gate();
    known_ = answer == StoppingGate::Answer::known;
    if (known_) break;
    if (answer == StoppingGate::Answer::given_up) {
      // It is asked again when the run goes on, and what comes next depends on the answer.
      if (blocks_ != nullptr) blocks_->drop_ahead();
      save(checkpoint());
      return false;
    }
    go_on_after_test();
    if (update_is_due() && !update()) return false;
    if (context_.interruption.requested()) {
      if (step_ > 0 || updated_) save(checkpoint());
      return false;
    }
    if ((step_ < total_steps() || test_is_due()) && !sample()) return false;
  }
  if (!known_) leave_gate();
  if (blocks_ != nullptr) blocks_->drop_ahead();
  save(checkpoint());  // from which the run may be given more steps
  finish();
  return true;
}

void ChainRun::finish() {
  check_drift();
  const StepSizes sizes = chain_->step_sizes();
  summary_.final_max_translation_angstrom = sizes.translation_angstrom;
  summary_.final_max_rotation_degrees = sizes.rotation_degrees;
  const std::vector<Molecule> molecules = chain_->molecules();
  summary_.movement = movement_of(context_.inputs.system, start_of_production_, molecules);
  Sha256 coordinates;
  for (const Molecule& molecule : molecules) {
    const Quaternion& q = molecule.orientation;
    const double pose[] = {
        molecule.centre.x, molecule.centre.y, molecule.centre.z, q.w, q.x, q.y, q.z};
    coordinates.add(std::span<const double>(pose));
  }
  summary_.final_coordinates_sha256 = coordinates.hexadecimal_digest();
  const CertificationReport certification = chain_->certification();
  summary_.certified = {certification.active, certification.bound_kj_per_mol, certification.steps,
                        certification.largest_error_in_bounds};
  if (certification.largest_error_in_bounds > 1) {
    spdlog::warn(
        "an energy change was wrong by {:.1f} times its error bound: a device gives wrong results, "
        "or the "
        "bound does not hold for this system; please report it",
        certification.largest_error_in_bounds);
  }
  if (samples_exactly()) {
    finish_blocks();
  } else if (has_more_updates()) {
    summary_.qm_interval_steps = schedule_.interval(summary_.qm_updates);
  }
  summary_.equilibration_steps = *search_.steps();
  summary_.equilibration_end = search_.how();
  summary_.steps = step_ - std::min(step_, summary_.equilibration_steps);
  output_->finish(summary_);
  output_->write_final_state(molecules);
}

}  // namespace starpmc
