#include "app/run_output.hpp"

namespace starpmc {
namespace {

/// Steps between looks at the clock.
constexpr std::uint64_t kReportInterval = 64;

}  // namespace

RunOutput::RunOutput(const Inputs& inputs, const OutputFolder& folder)
    : settings_(inputs.settings),
      energies_(folder.file("energies.csv")),
      trajectory_(folder.file("trajectory.h5"), inputs.system,
                  TrajectoryOptions{.creator_version = STARPMC_VERSION}),
      progress_(Progress::to_standard_error()) {
  const Settings::SamplingSection& sampling = settings_.sampling;
  state_.total_steps = sampling.equilibration_steps + sampling.steps;
  write_system_pdb(folder.file("system.pdb"), inputs.system);
}

void RunOutput::start(const EnergyTerms& totals, std::span<const Molecule> molecules) {
  totals_ = totals;
  energies_.append(0, totals, 0);
  trajectory_.append(0, molecules);
}

void RunOutput::on_update(std::uint64_t step, std::uint64_t updates) {
  state_.qm_update = updates;
  state_.phase = "QM update";
  report(step);
}

void RunOutput::on_step(std::uint64_t step, bool accepted, const EnergyTerms& totals) {
  decisions_.add(accepted);
  totals_ = totals;
  const bool production = step > settings_.sampling.equilibration_steps;
  accepted_ += accepted ? 1 : 0;
  accepted_production_ += production && accepted ? 1 : 0;
  if (step % settings_.output.energy_interval == 0) {
    energies_.append(step, totals, static_cast<double>(accepted_) / static_cast<double>(step));
    if (production) {
      const auto values = totals.values();
      for (std::size_t i = 0; i < values.size(); ++i) terms_[i].add(values[i]);
      total_.add(totals.total());
    }
  }
  if (step % kReportInterval == 0 || step == state_.total_steps) {
    state_.phase = production ? "production" : "equilibration";
    state_.acceptance = static_cast<double>(accepted_) / static_cast<double>(step);
    report(step);
  }
}

void RunOutput::on_frame(std::uint64_t step, std::span<const Molecule> molecules) {
  trajectory_.append(step, molecules);
}

void RunOutput::report(std::uint64_t step) {
  state_.step = step;
  const std::uint64_t interval = settings_.qm.interval;
  if (state_.qm_update > 0 && interval > 0) {
    state_.qm_updates = (state_.total_steps + interval - 1) / interval;
  }
  progress_.update(state_);
}

void RunOutput::finish(RunSummary& summary) {
  progress_.finish();
  energies_.close();
  trajectory_.close();
  summary.steps = settings_.sampling.steps;
  summary.equilibration_steps = settings_.sampling.equilibration_steps;
  if (summary.steps > 0) {
    summary.acceptance =
        static_cast<double>(accepted_production_) / static_cast<double>(summary.steps);
  }
  for (std::size_t i = 0; i < summary.averages.terms.size(); ++i) {
    summary.averages.terms[i] = terms_[i].estimate();
  }
  summary.averages.total = total_.estimate();
  summary.decisions_sha256 = decisions_.hexadecimal_digest();
}

}  // namespace starpmc
