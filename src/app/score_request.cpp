#include "app/score_request.hpp"

#include <fmt/format.h>

#include <ostream>

#include "app/subcommand_options.hpp"
#include "base/input_file.hpp"
#include "config/value_names.hpp"
#include "kernels/base/error.hpp"
#include "system/data_folder.hpp"
#include "system/text.hpp"

namespace starpmc {
namespace {

namespace options = boost::program_options;

constexpr const char* kDefaultOutput = "score-output/score";

void print_score_help(const options::options_description& described, std::ostream& out) {
  out << "Usage: starpmc score --receptor R.pqr --ligand L.pqr [options]\n\n"
         "Interaction energies (kJ/mol) of poses of a ligand with a receptor, without a periodic "
         "box.\nWrites NAME.csv (every pose) and NAME.json (the best ones, settings, timings).\n\n"
      << described
      << "\nExample: starpmc score --receptor r.pqr --ligand l.pqr --poses poses.csv "
         "--terms coulomb+12-6\n";
}

class Reader {
 public:
  explicit Reader(const options::variables_map& values) : values_(values) {}

  std::string text(const char* name) const {
    return values_.contains(name) ? values_[name].as<std::string>() : "";
  }
  std::string required(const char* name, const char* remedy) const {
    if (!text(name).empty()) return text(name);
    throw InputError("starpmc score", fmt::format("--{} is missing", name), "", remedy);
  }
  /// Index of the option's value among `names`.
  std::size_t choice(const char* name, const std::vector<std::string>& names) const {
    const std::string found = text(name);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (equal_ignoring_case(names[i], found)) return i;
    }
    throw InputError(std::string("--") + name, "unknown value", found,
                     suggest(found, names, fmt::format("choose from {}", fmt::join(names, ", "))));
  }
  long integer(const char* name, long least, long most) const {
    const std::string place = std::string("--") + name;
    const long value = parse_integer(text(name), place, "the number", least);
    if (value <= most) return value;
    throw InputError(place, "the number is out of range", text(name),
                     fmt::format("write {} to {}", least, most));
  }
  /// Greater than 0, at most 1e6.
  double positive(const char* name) const {
    const std::string place = std::string("--") + name;
    const double value = parse_number(text(name), place, "the number");
    if (value > 0 && value <= 1e6) return value;
    throw InputError(place, "the number is out of range", text(name),
                     "write a number greater than 0, at most 1e6");
  }

 private:
  const options::variables_map& values_;
};

PoseInteraction read_interaction(const Reader& reader) {
  PoseInteraction interaction{};
  interaction.lennard_jones = static_cast<int>(reader.choice("terms", {"coulomb", "coulomb+12-6"}));
  if (reader.text("cutoff") != "none") interaction.cutoff = reader.positive("cutoff");
  interaction.distance_dependent =
      static_cast<int>(reader.choice("dielectric", {"constant", "distance"}));
  interaction.newton_steps = static_cast<int>(reader.integer("newton-steps", 0, 2));
  return interaction;
}

Precision read_precision(const Reader& reader) {
  std::vector<std::string> names;
  for (const Precision precision : kPrecisions) names.emplace_back(value_name(precision));
  return kPrecisions[reader.choice("precision", names)];
}

void check_sources(const ScoreRequest& request) {
  for (const auto& [option, path] : {std::pair("--well-depths", request.well_depths),
                                     std::pair("--topology", request.topology)}) {
    if (path.empty() || request.has_vdw()) continue;
    throw InputError(option, "12-6 parameters without a 12-6 term", path.string(),
                     "add --terms coulomb+12-6, or leave this out");
  }
  if (!request.well_depths.empty() && !request.topology.empty()) {
    throw InputError("--well-depths", "12-6 parameters come from one source",
                     request.well_depths.string(), "give either --well-depths or --topology");
  }
}

/// Of what is read, nothing is replaced.
void check_inputs_stay(const ScoreRequest& request, const std::filesystem::path& written) {
  for (const auto& [option, path] :
       {std::pair("--receptor", request.receptor), std::pair("--ligand", request.ligand),
        std::pair("--poses", request.poses), std::pair("--well-depths", request.well_depths),
        std::pair("--topology", request.topology)}) {
    if (path.empty() || !is_found_by(path, written)) continue;
    throw InputError(option, "is the file that --output would write", path.string(),
                     "choose another name for --output");
  }
}

void check_output(const ScoreRequest& request, bool overwrite) {
  const std::filesystem::path output(request.output);
  const std::filesystem::path name = output.filename();
  if (name.empty() || name == "." || name == "..") {
    throw InputError("--output", "names a folder, not the files in it", request.output,
                     fmt::format("write {}", (output / "score").string()));
  }
  for (const auto& path : {request.table_path(), request.json_path()}) {
    std::error_code ignored;
    if (request.rows || path != request.table_path()) {
      check_inputs_stay(request, path);
      if (std::filesystem::is_directory(path, ignored)) {
        throw InputError("--output", "there is a folder of the file's name", path.string(),
                         "choose another name");
      }
    }
    if (overwrite || !std::filesystem::exists(path, ignored)) continue;
    throw InputError("--output", "the file exists", path.string(),
                     "choose another name, or add --overwrite");
  }
  const std::filesystem::path folder = request.json_path().parent_path();
  if (folder.empty() || std::filesystem::is_directory(folder)) return;
  if (request.output == kDefaultOutput && !std::filesystem::exists(folder)) return;
  throw InputError("--output", "there is no such folder", folder.string(), "make it first");
}

}  // namespace

boost::program_options::options_description score_options() {
  options::options_description described("Options", 100);
  auto add = described.add_options();
  const auto text = [](const char* value) {
    return options::value<std::string>()->default_value(value);
  };
  add("receptor", options::value<std::string>(), "PQR file: charges (e), radii and positions (A)");
  add("ligand", options::value<std::string>(),
      "PQR file; its models are the poses, or see --poses");
  add("poses", options::value<std::string>(),
      ".pqr (models), .xyz (frames), or .csv (w,x,y,z,tx,ty,tz: the ligand turned about the mean "
      "of "
      "its sites by a unit quaternion, then moved, A)");
  add("terms", text("coulomb"), "coulomb, coulomb+12-6");
  add("cutoff", text("none"), "energies of pairs are 0 from this distance on, A; none");
  add("dielectric", text("constant"),
      "constant: k q q' / (D r); distance: k q q' / (D r^2), with D = --permittivity");
  add("permittivity", text("1"), "relative permittivity, or per A");
  add("well-depths", options::value<std::string>(),
      "table of well depths (and radii) of the 12-6 term; the built-in well_depths.txt by default");
  add("topology", options::value<std::string>(),
      "GROMACS topology of receptor and ligand, in this order, that the 12-6 parameters are taken "
      "from instead");
  add("best", text("10"), "poses of least energy to be listed, 0 to 100000");
  add("rows", text("all"), "poses in the CSV file: all, or none (no such file)");
  add("output", text(kDefaultOutput),
      "name of the files to write, without .csv and .json; the folder of the default is made");
  add("overwrite", "replace files that exist");
  add("precision", text("mixed"),
      "fp64; mixed: pairs in fp32, sums in fp64; fixed: and coordinates in fixed point");
  add("implementation", text("any"), "any, scalar, simd, opencl");
  add("newton-steps", text("1"),
      "0, 1, 2: of the SIMD kernels from the processor's estimate of 1/sqrt in fp32");
  add("task-memory", text("256"), "KiB of code and data a task may have: fits a core's own cache");
  add("granularity", text("auto"),
      "poses per task; auto: as many as make a millisecond by StarPU's performance model, if they "
      "fit");
  add("help", "show this text");
  return described;
}

std::optional<ScoreRequest> read_score_request(std::span<const std::string> arguments,
                                               std::ostream& out) {
  const options::options_description described = score_options();
  const options::variables_map values = parse_subcommand("starpmc score", described, arguments);
  if (values.contains("help")) {
    print_score_help(described, out);
    return {};
  }
  const Reader reader(values);
  ScoreRequest request;
  request.receptor = reader.required("receptor", "give the receptor's PQR file");
  request.ligand = reader.required("ligand", "give the ligand's PQR file");
  request.poses = reader.text("poses");
  if (request.poses.empty()) request.poses = request.ligand;
  request.well_depths = reader.text("well-depths");
  request.topology = reader.text("topology");
  request.function.interaction = read_interaction(reader);
  request.function.permittivity = reader.positive("permittivity");
  request.best = static_cast<std::size_t>(reader.integer("best", 0, 100'000));
  request.rows = reader.choice("rows", {"all", "none"}) == 0;
  request.output = reader.required("output", "give a name");
  request.precision = read_precision(reader);
  request.implementation = static_cast<Implementation>(
      reader.choice("implementation", {"any", "scalar", "simd", "opencl"}));
  constexpr long kMostKibibytes = 16L * 1024 * 1024;
  request.settings.task_memory_bytes =
      1024 * static_cast<std::size_t>(reader.integer("task-memory", 1, kMostKibibytes));
  if (reader.text("granularity") != "auto") {
    request.settings.granularity =
        static_cast<std::size_t>(reader.integer("granularity", 1, 1'000'000));
  }
  check_sources(request);
  check_output(request, values.contains("overwrite"));
  return request;
}

ScoreInput read_score_input(const ScoreRequest& request) {
  ScoreInput input;
  const PqrModel receptor = read_only_model(request.receptor);
  input.ligand = read_pqr(request.ligand);
  const ScoredModel scored_receptor{receptor, request.receptor};
  const ScoredModel scored_ligand{input.ligand, request.ligand};
  if (!request.has_vdw()) {
    input.sites = charged_sites(scored_receptor, scored_ligand);
  } else if (!request.topology.empty()) {
    input.sites = sites_by_topology(scored_receptor, scored_ligand, request.topology);
  } else {
    const WellDepthTable table(request.well_depths.empty() ? data_folder() / "well_depths.txt"
                                                           : request.well_depths);
    input.sites = sites_by_table(scored_receptor, scored_ligand, table);
  }
  input.function = request.function;
  input.function.interaction.combination = input.sites.combination;
  return input;
}

}  // namespace starpmc
