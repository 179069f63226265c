#include "bench/paper_inputs.hpp"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "config/config_file.hpp"
#include "config/describe.hpp"
#include "config/options.hpp"
#include "error.hpp"
#include "installation.hpp"
#include "io/checked_file.hpp"
#include "io/json_text.hpp"
#include "io/sha256.hpp"
#include "qm/make_engine.hpp"
#include "qm/worker_engine.hpp"
#include "sampling/chain.hpp"
#include "system/data_folder.hpp"
#include "system/read_system.hpp"
#include "temporary_folder.hpp"

namespace starpmc {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr double kEnergyTolerance = 0.01;    // kJ/mol
constexpr double kElectronTolerance = 1e-4;  // electrons

/// A folder beside the files that are made in it: they get their names by renaming, when complete.
TemporaryFolder make_workshop() {
  return TemporaryFolder(cache_folder() / "bench" / ".making-", "XDG_CACHE_HOME");
}

std::string file_digest(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw RunError("cannot read " + path.string());
  Sha256 sum;
  sum.add(std::string{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
  return sum.hexadecimal_digest();
}

Json read_json(const fs::path& path) {
  std::ifstream file(path);
  return file ? Json::parse(file, nullptr, false) : Json(Json::value_t::discarded);
}

Settings read_paper_settings(const BenchPreset& preset) {
  return read_settings(configs_folder() / (std::string(preset.name) + ".cfg"), {});
}

/// What the density depends on: another box or another section [qm] makes another one.
std::string density_key(const PaperInputFiles& files, const Settings::QmSection& qm) {
  Sha256 sum;
  sum.add(file_digest(files.coordinates));
  sum.add(fmt::format("extents {} {} {} {} {} {} {} {} {} {} {} {}", qm.engine, qm.charge,
                      qm.multiplicity, qm.method, qm.basis, qm.density_fitting, qm.embedding,
                      qm.grid_radial, qm.grid_angular, qm.scf_grid_radial, qm.scf_grid_angular,
                      qm.charge_threshold));
  return sum.hexadecimal_digest();
}

/// Whether what is said of the stored density is of this box and these settings.
bool is_of(const PaperInputFiles& files, const std::string& key) {
  const Json facts = read_json(files.facts);
  return facts.is_object() && facts.value("made_of", "") == key;
}

/// A density that is there, belongs to the box and is whole.
std::optional<DensityGrid> stored_density(const PaperInputFiles& files, const std::string& key) {
  if (!is_of(files, key)) return {};
  try {
    return read_density_grid(files.density);
  } catch (const InputError&) {
    return {};  // made anew
  }
}

DensityGrid make_density(const BenchSystem& bench, const PaperInputFiles& files,
                         const std::string& key) {
  Settings settings = bench.settings;
  settings.qm.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const auto engine = make_engine(settings.qm, *bench.system.solute);
  const auto chain = make_chain(bench.system, settings, 0);
  QmResult result = chain->update_density(*engine);
  check_electrons(result, settings.qm.electron_tolerance);
  // Which points are below the threshold may differ between machines; where they are may not.
  Json facts{{"made_of", key},
             {"engine", engine->name() + " " + engine->version()},
             {"qm_energy_kj_per_mol", result.energy_kj_per_mol},
             {"electrons_on_grid", result.electrons_on_grid},
             {"points", result.grid.size()},
             {"positions_sha256", positions_digest(result.grid)}};
  drop_small_charges(result.grid, settings.qm.charge_threshold);
  facts["points_with_charge"] = result.grid.size();
  write_density_grid(files.density, result.grid);
  write_file_atomically(files.facts, json_text(facts));
  return result.grid;
}

}  // namespace

PaperInputFiles paper_input_files(const BenchPreset& preset) {
  const fs::path stem = cache_folder() / "bench" / preset.name;
  const auto with = [&](const char* ending) { return fs::path(stem.string() + ending); };
  return {with(".gro"), with(".top"), with(".density"), with(".json")};
}

std::vector<BenchPreset> paper_presets() {
  std::vector<BenchPreset> presets;
  for (const BenchPreset& preset : bench_presets()) {
    if (preset.name.starts_with("bench-")) presets.push_back(preset);
  }
  return presets;
}

void make_paper_box(const BenchPreset& preset) {
  const PaperInputFiles files = paper_input_files(preset);
  if (fs::exists(files.coordinates) && fs::exists(files.topology)) return;
  const TemporaryFolder workshop = make_workshop();
  const SolvatedFiles made = write_preset_box(preset, preset.waters, workshop.path());
  for (const fs::path& file : {made.topology, made.coordinates}) synchronise_file(file);
  rename_durably(made.topology, files.topology);
  rename_durably(made.coordinates, files.coordinates);
}

void make_paper_boxes_of(const fs::path& configuration) {
  for (const auto& assignment : config::read_config_file(configuration)) {
    for (const BenchPreset& preset : paper_presets()) {
      const fs::path box = paper_input_files(preset).coordinates;
      if (assignment.value == "{cache}/bench/" + box.filename().string()) make_paper_box(preset);
    }
  }
}

std::string positions_digest(const DensityGrid& grid) {
  constexpr double kUnit = 1e-6;
  Sha256 sum;
  for (const auto* axis : {&grid.x, &grid.y, &grid.z}) {
    std::vector<std::int64_t> units;
    units.reserve(axis->size());
    for (const double position : *axis) units.push_back(std::llround(position / kUnit));
    sum.add(std::as_bytes(std::span(units)));
  }
  return sum.hexadecimal_digest();
}

std::vector<InputCheck> check_paper_input(const BenchPreset& preset) {
  const PaperInputFiles files = paper_input_files(preset);
  const Json known = read_json(configs_folder() / "bench-inputs.json");
  const Json expected =
      known.is_object() ? known.value(std::string(preset.name), Json::object()) : Json::object();
  std::vector<InputCheck> checks;
  const auto text = [&](const char* what, const std::string& found) {
    const std::string wanted = expected.value(what, "");
    checks.push_back({what, found, wanted, found == wanted});
  };
  const auto number = [&](const char* what, double found, double tolerance) {
    const bool is_known = expected.contains(what);
    const double wanted = is_known ? expected.at(what).get<double>() : 0;
    checks.push_back({what, fmt::format("{}", found), is_known ? fmt::format("{}", wanted) : "",
                      is_known && std::abs(found - wanted) <= tolerance});
  };
  text("coordinates_sha256", file_digest(files.coordinates));
  text("topology_sha256", file_digest(files.topology));
  const Json facts = read_json(files.facts);
  if (!facts.is_object()) return checks;
  number("points", facts.at("points"), 0);
  text("positions_sha256", facts.at("positions_sha256"));
  number("qm_energy_kj_per_mol", facts.at("qm_energy_kj_per_mol"), kEnergyTolerance);
  number("electrons_on_grid", facts.at("electrons_on_grid"), kElectronTolerance);
  return checks;
}

bool has_paper_density(const BenchPreset& preset) {
  const PaperInputFiles files = paper_input_files(preset);
  for (const fs::path& file : {files.coordinates, files.topology, files.density, files.facts}) {
    if (!fs::exists(file)) return false;
  }
  return is_of(files, density_key(files, read_paper_settings(preset).qm));
}

BenchSystem read_paper_system(const BenchPreset& preset) {
  make_paper_box(preset);
  BenchSystem bench;
  bench.name = preset.name;
  bench.settings = read_paper_settings(preset);
  const Settings::SystemSection& from = bench.settings.system;
  bench.system =
      read_system({from.coordinates, from.topology, from.solute, from.qm_molecule, from.defines,
                   from.include_folders, from.rigid, bench.settings.qm.elements});
  resolve_cutoffs(bench.settings, bench.system.box, OptionPlaces(bench.name));
  bench.synthetic_grid = false;
  return bench;
}

BenchSystem load_paper_input(const BenchPreset& preset) {
  BenchSystem bench = read_paper_system(preset);
  const PaperInputFiles files = paper_input_files(preset);
  const std::string key = density_key(files, bench.settings.qm);
  auto stored = stored_density(files, key);
  bench.grid = stored ? std::move(*stored) : make_density(bench, files, key);
  return bench;
}

}  // namespace starpmc
