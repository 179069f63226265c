// A chain's updates of the density.

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/chain_run.hpp"
#include "app/update_record.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/logging.hpp"
#include "qm/worker_engine.hpp"

namespace starpmc {
namespace {

/// The running totals drift by little (check_drift()); computing all energies anew between updates
/// is to notice devices at fault.
constexpr std::size_t kUpdatesBetweenChecks = 16;

}  // namespace

QmResult ChainRun::ask_engine() {
  try {
    QmResult result = chain_->update_density(*engine_);
    check_electrons(result, settings_.qm.electron_tolerance);
    return result;
  } catch (const Cancelled&) {
    throw;
  } catch (const RunError& error) {
    save_engine_log();
    const std::filesystem::path log = folder_.file("qm-worker.log");
    throw RunError(std::filesystem::exists(log)
                       ? fmt::format("{}\nthe worker's log is {}", error.what(), log.string())
                       : error.what());
  }
}

bool ChainRun::update() {
  const bool first = step_ == 0;
  EnergyTerms before;
  nlohmann::json unchanged;  // where to go on from without the update
  if (!first) {
    output_->on_update(step_, summary_.qm_updates.size() + 1, expected_updates());
    unchanged = checkpoint();
    before = output_->totals();
    if (summary_.qm_updates.size() % kUpdatesBetweenChecks == 0) {
      check_drift();
      before = summary_.final_energies;
    }
  }
  try {
    take(ask_engine(), before);
  } catch (const Cancelled&) {
    if (!first) save(std::move(unchanged));
    return false;
  } catch (const RunError&) {
    if (!first) save(std::move(unchanged));
    throw;
  }
  updated_ = true;
  if (first) {
    begin_output(after_update_);
  } else if (checkpoint_is_worth_it()) {
    save(checkpoint());
  }
  return true;
}

void ChainRun::take(QmResult result, const EnergyTerms& before) {
  QmUpdateRecord record = update_record(step_, result);
  if (!has_qm_energies()) {
    record.dipole_debye.reset();
  } else if (summary_.qm_updates.empty()) {
    take_energy_zero(result);
  } else {
    set_jump(record, summary_.qm_updates.back(), result,
             before.qmmm_coulomb() - after_update_.qmmm_coulomb());
  }
  worker_memory_mb_ = result.memory_mb;
  if (!result.fallback.empty()) {
    spdlog::warn("chain {}, step {}: the SCF converged only with help: {}", number_, step_,
                 result.fallback);
  }
  if (settings_.output.save_grid) {
    write_density_grid(folder_.file(fmt::format("grid-{}.bin", summary_.qm_updates.size())),
                       result.grid);
  }
  record.dropped_charge = drop_small_charges(result.grid, settings_.qm.charge_threshold);
  record.grid_points = result.grid.size();
  save_engine_log();
  grid_ = std::move(result.grid);
  multipoles_.reset();
  chain_->set_density(grid_);
  after_update_ = summary_.qm_updates.empty() ? chain_->evaluate() : chain_->evaluate_solute();
  require_finite(after_update_, "with the density of this QM update");
  if (has_qm_energies()) {
    output_->set_solute_energy(record.qm_energy_kj_per_mol -
                               summary_.isolated_energy_kj_per_mol.value_or(0) -
                               after_update_.qmmm_coulomb());
  }
  summary_.qm_restarts = restarts_before_ + engine_->restarts();
  summary_.qm_updates.push_back(record);
  report_update();
  if (schedule_.automatic() && step_ == search_.steps()) report_interval();
}

void ChainRun::report_interval() const {
  spdlog::info("chain {}, step {}: qm.interval auto is {} steps from here on", number_, step_,
               schedule_.interval(summary_.qm_updates));
}

/// Once: what a worker that was started again finds may differ in its last bits.
void ChainRun::take_energy_zero(const QmResult& result) {
  summary_.isolated_energy_kj_per_mol = result.isolated_energy_kj_per_mol;
  summary_.isolated_dipole_debye = result.isolated_dipole_debye;
  if (summary_.isolated_energy_kj_per_mol) {
    spdlog::info("chain {}: the isolated solute, {:.6f} kJ/mol, is the zero of the total energy",
                 number_, *summary_.isolated_energy_kj_per_mol);
  } else {
    spdlog::info(
        "chain {}: {} tells no energy of the isolated solute: the zero of the total energy is its "
        "own",
        number_, engine_->name());
  }
}

void ChainRun::report_update() const {
  const QmUpdateRecord& record = summary_.qm_updates.back();
  if (!has_qm_energies()) {
    spdlog::info(
        "chain {}: the stored density has {:.6f} electrons on {} points; it stays as it is",
        number_, record.electrons_on_grid, record.grid_points);
    return;
  }
  spdlog::info(
      "chain {}, step {}: QM energy {:.6f} kJ/mol, {:.6f} electrons on {} points, jump {:.3f} "
      "kJ/mol{}, {} iterations, {:.2f} s",
      number_, step_, record.qm_energy_kj_per_mol, record.electrons_on_grid, record.grid_points,
      record.jump_kj_per_mol,
      record.sampling_error_kj_per_mol
          ? fmt::format(", sampling error {:.3f} kJ/mol", *record.sampling_error_kj_per_mol)
          : "",
      record.iterations, record.seconds_embedding + record.seconds_scf + record.seconds_density);
  if (record.jump_kj_per_mol <= kLargestJumpKjPerMol) return;
  spdlog::warn(
      "chain {}, step {}: the energy rose by {:.3f} kJ/mol as the density was updated, where it "
      "can only fall: {}",
      number_, step_, record.jump_kj_per_mol,
      record.sampling_error_kj_per_mol
          ? "the SCF has found another state, or is not converged; lower qm.energy-convergence"
          : fmt::format("{} does not tell its interaction with the MM charges, so that errors of "
                        "the density grid are part of it; take a finer one (qm.grid-radial, "
                        "qm.grid-angular)",
                        engine_->name()));
}

}  // namespace starpmc
