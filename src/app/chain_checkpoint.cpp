// What a chain's checkpoint holds, and how it is taken up again.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "app/chain_run.hpp"
#include "app/resume_point.hpp"
#include "io/binary_json.hpp"
#include "io/checkpoint.hpp"
#include "io/energy_terms_json.hpp"
#include "io/json_fields.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/logging.hpp"

namespace starpmc {
namespace {

nlohmann::json grid_state(const DensityGrid& grid) {
  return {{"x", to_binary(grid.x)},
          {"y", to_binary(grid.y)},
          {"z", to_binary(grid.z)},
          {"charge", to_binary(grid.charge)},
          {"extent", to_binary(grid.extent)}};
}

DensityGrid grid_from(const nlohmann::json& state) {
  const auto values = [&](const char* name) { return vector_from_binary<double>(state.at(name)); };
  return {values("x"), values("y"), values("z"), values("charge"), values("extent")};
}

/// Centres and orientations; nothing where there are no molecules yet.
nlohmann::json poses_state(const std::vector<Molecule>& molecules) {
  std::vector<double> values;
  for (const Molecule& molecule : molecules) {
    const Vector3& c = molecule.centre;
    const Quaternion& q = molecule.orientation;
    values.insert(values.end(), {c.x, c.y, c.z, q.w, q.x, q.y, q.z});
  }
  return to_binary(values);
}

std::vector<Molecule> poses_from(const nlohmann::json& state, const System& system) {
  const auto values = vector_from_binary<double>(state);
  if (values.empty()) return {};
  std::vector<Molecule> molecules = system.molecules;
  constexpr std::size_t kValues = 7;
  if (values.size() != kValues * molecules.size()) {
    throw RunError("the checkpoint is of another number of molecules");
  }
  for (std::size_t m = 0; m < molecules.size(); ++m) {
    const double* const v = &values[kValues * m];
    molecules[m].centre = {v[0], v[1], v[2]};
    molecules[m].orientation = {v[3], v[4], v[5], v[6]};
  }
  return molecules;
}

}  // namespace

void ChainRun::resume() {
  std::vector<std::string> warnings;
  const std::optional<nlohmann::json> checkpoint =
      find_resume_point({number_, folder_}, context_.fingerprint, context_.inputs, warnings);
  if (!checkpoint) {
    for (std::string& line : set_aside_results(folder_)) warnings.push_back(std::move(line));
  }
  for (const std::string& warning : warnings) spdlog::warn("{}", warning);
  if (!checkpoint) return;
  try {
    restore(*checkpoint);
  } catch (const nlohmann::json::exception& error) {
    throw RunError(fmt::format("{}: the checkpoint lacks something: {}",
                               checkpoint_path(folder_.path()).string(), error.what()));
  }
  spdlog::info("chain {} goes on at step {}", number_, step_);
}

void ChainRun::restore(const nlohmann::json& checkpoint) {
  chain_ = make_chain(system_of_chain(context_.inputs, number_), settings_, number_,
                      context_.chains_here);
  if (samples_exactly()) take_reference();
  chain_->restore(checkpoint.at("chain"));
  grid_ = grid_from(checkpoint.at("grid"));
  if (grid_.size() > 0) chain_->set_density(grid_);
  step_ = checkpoint.at("step");
  restored_step_ = step_;
  resumed_ = true;
  updated_ = checkpoint.at("updated");
  checkpoint.at("after_update").get_to(after_update_);
  checkpoint.at("drift").get_to(summary_.drift);
  worker_memory_mb_ = checkpoint.at("worker_memory_mb").get<double>();
  summary_.qm_restarts = restarts_before_ = checkpoint.at("qm_restarts");
  starpmc::take(checkpoint, "isolated_energy", summary_.isolated_energy_kj_per_mol);
  starpmc::take(checkpoint, "isolated_dipole", summary_.isolated_dipole_debye);
  for (const auto& record : checkpoint.at("qm_updates")) {
    summary_.qm_updates.push_back(qm_update_from(record));
  }
  const std::uint64_t gate_passed = checkpoint.at("gate_passed");
  const auto state = vector_from_binary<double>(checkpoint.at("engine"));
  if (updates_density() && !state.empty()) engine_->restore(state);
  search_.restore(checkpoint.at("equilibration"));
  start_of_production_ = poses_from(checkpoint.at("start_of_production"), context_.inputs.system);
  make_output(&checkpoint.at("output"));  // cuts files back: all else has been found to be right
  if (search_.steps()) {
    schedule_.set_equilibration(*search_.steps());
    output_->set_equilibration(*search_.steps());
  }
  if (samples_exactly()) restore_exact(checkpoint.at("exact"));
  const std::uint64_t steps_before = checkpoint.at("steps");
  if (steps_before < settings_.sampling.steps) take_more_steps(steps_before);
  // A chain that has come beyond a gate has passed it, whatever an earlier version has kept.
  gate_passed_ = std::max(gate_passed, gate_behind());
  context_.gate.chain_resumed(number_, gate_passed_);
}

/// Than the run was begun with.
void ChainRun::take_more_steps(std::uint64_t before) {
  output_->take_more_steps();
  if (search_.depends_on_most_steps()) {
    spdlog::warn(
        "chain {}: its equilibration was ended after {} steps, as many as production was to have; "
        "production goes on from there, while a run of {} steps from the start would have "
        "equilibrated for longer and given other steps",
        number_, *search_.steps(), settings_.sampling.steps);
  }
  warn_of_capped_blocks(before);
}

nlohmann::json ChainRun::checkpoint() const {
  require_finite(output_->totals(), "to be kept in a checkpoint");
  nlohmann::json checkpoint{{"fingerprint", context_.fingerprint},
                            {"title", context_.inputs.system.title},
                            {"chain_number", number_},
                            {"steps", settings_.sampling.steps},
                            {"step", step_},
                            {"updated", updated_},
                            {"after_update", after_update_},
                            {"drift", summary_.drift},
                            {"qm_restarts", summary_.qm_restarts},
                            {"gate_passed", gate_passed_},
                            {"equilibration", search_.state()},
                            {"start_of_production", poses_state(start_of_production_)},
                            {"worker_memory_mb", worker_memory_mb_.load()},
                            {"poses", poses_state(chain_->molecules())},
                            {"chain", chain_->state()},
                            {"grid", grid_state(grid_)},
                            {"output", output_->state()}};
  starpmc::put(checkpoint, "isolated_energy", summary_.isolated_energy_kj_per_mol);
  starpmc::put(checkpoint, "isolated_dipole", summary_.isolated_dipole_debye);
  if (samples_exactly()) checkpoint["exact"] = exact_state();
  const std::vector<double> engine = updates_density() ? engine_->state() : std::vector<double>();
  checkpoint["engine"] = to_binary(engine);
  return checkpoint;
}

void ChainRun::save(nlohmann::json checkpoint) {
  checkpoint["qm_updates"] = nlohmann::json::array();
  for (const QmUpdateRecord& update : summary_.qm_updates) {
    checkpoint["qm_updates"].push_back(to_json_record(update));
  }
  output_->save(std::move(checkpoint));
  pace_.taken(CheckpointPace::Clock::now());
}

void ChainRun::remove_previous_checkpoint() { starpmc::remove_previous_checkpoint(folder_.path()); }

}  // namespace starpmc
