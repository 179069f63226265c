#include "app/subcommands.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <boost/program_options.hpp>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "app/replace_process.hpp"
#include "app/subcommand_options.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/installation.hpp"
#include "qm/make_engine.hpp"
#include "system/solute_path.hpp"

namespace starpmc {
namespace {

namespace fs = std::filesystem;
namespace options = boost::program_options;

constexpr double kHartreeInKjPerMol = 2625.4996394799;

void print_path_help(const options::options_description& described, std::ostream& out) {
  out << "Usage: starpmc path --transition-state GUESS.xyz [options]\n"
         "       starpmc path --from A.xyz --to B.xyz [options]\n"
         "       starpmc path --check PATH.xyz\n\n"
         "Makes a reaction path of a solute: the transition state from a guess, or from what lies\n"
         "between two minima, the intrinsic reaction coordinate down both sides, and images at\n"
         "equal distances along it in DIR/path.xyz. The same command again goes on where it was\n"
         "stopped. --check reads a path of yours and says whether it is one.\n\n"
      << described
      << "\nExample: starpmc path --transition-state guess.xyz --charge -1 --solvent water\n";
}

fs::path path_script() {
  return installed_file({"STARPMC_PATH", "path", "src/path", "path.py"}, "starpmc path");
}

/// A table of the images; read_solute_path() has refused what is no path.
void print_checked_path(const fs::path& file, std::ostream& out) {
  const SolutePath path = read_solute_path(file);
  for (const std::string& warning : path.warnings) spdlog::warn(warning);
  out << "image  coordinate  largest step       energy\n"
         "       A u^1/2     A                  kJ/mol above the first\n";
  const auto& first = path.images.front().energy_hartree;
  for (std::size_t i = 0; i < path.images.size(); ++i) {
    const SolutePath::Image& image = path.images[i];
    const std::string energy =
        first && image.energy_hartree
            ? fmt::format("{:.3f}", (*image.energy_hartree - *first) * kHartreeInKjPerMol)
            : "-";
    out << fmt::format("{:5d}  {:10.4f}  {:12.4f}  {:>11}\n", i + 1, image.coordinate,
                       image.largest_step, energy);
  }
  out << fmt::format("{}: {} images of {} atoms, superposed {:.4f} angstrom u^1/2 long\n",
                     file.string(), path.images.size(), path.elements.size(),
                     path.images.back().coordinate);
}

/// Refuses what the script could not use.
void check_path_request(const options::variables_map& values) {
  const auto refuse = [](const std::string& name, const std::string& found,
                         const std::string& remedy) {
    throw InputError("--" + name, "not possible", found, remedy);
  };
  const auto at_least = [&](const char* name, int least) {
    if (!values.contains(name) || values[name].as<int>() >= least) return;
    refuse(name, std::to_string(values[name].as<int>()), fmt::format("at least {}", least));
  };
  at_least("images", 3);
  at_least("multiplicity", 1);
  at_least("max-steps", 1);
  at_least("max-iterations", 1);
  at_least("threads", 1);
  const auto& device = values["device"].as<std::string>();
  if (device != "auto" && device != "cpu" && device != "gpu") {
    refuse("device", device, "auto, cpu or gpu");
  }
  const double step = values["step"].as<double>();
  if (!(step >= 0.001 && step <= 1)) refuse("step", fmt::format("{}", step), "0.001 to 1");
  if (values.contains("output")) {
    const fs::path output = values["output"].as<std::string>();
    std::error_code ignored;
    if (output.empty() || (fs::exists(output, ignored) && !fs::is_directory(output, ignored))) {
      throw InputError("--output", output.empty() ? "empty" : "is a file, not a folder",
                       output.string(), "name the folder for the results");
    }
  }
  if (values.contains("transition-state")) return;
  if (values.contains("from") && values.contains("to")) return;
  throw InputError("starpmc path", "neither a transition state nor two minima are named", "",
                   "--transition-state GUESS.xyz, or --from A.xyz --to B.xyz; or --check PATH.xyz");
}

std::string default_folder(const options::variables_map& values) {
  const char* name = values.contains("transition-state") ? "transition-state" : "from";
  return fs::path(values[name].as<std::string>()).stem().string() + "-path";
}

std::vector<std::string> script_command(const options::variables_map& values) {
  Settings::QmSection worker;
  worker.engine = "pyscf";
  const fs::path workers = fs::path(worker_command(worker).command.at(1)).parent_path();
  // -B: nothing is written beside the script.
  std::vector<std::string> command{find_worker_python(worker).string(),
                                   "-B",
                                   path_script().string(),
                                   "--workers=" + workers.string(),
                                   "--program-version",
                                   STARPMC_VERSION};
  const auto add = [&](const std::string& name, const std::string& value) {
    command.push_back("--" + name + "=" + value);
  };
  for (const char* name :
       {"transition-state", "from", "to", "hold", "method", "basis", "solvent", "device"}) {
    if (values.contains(name)) add(name, values[name].as<std::string>());
  }
  add("output",
      values.contains("output") ? values["output"].as<std::string>() : default_folder(values));
  for (const char* name :
       {"charge", "multiplicity", "images", "max-steps", "max-iterations", "threads"}) {
    if (values.contains(name)) add(name, std::to_string(values[name].as<int>()));
  }
  add("step", fmt::format("{}", values["step"].as<double>()));
  for (const char* name : {"density-fitting", "overwrite"}) {
    if (values.contains(name)) command.push_back("--" + std::string(name));
  }
  return command;
}

void add_level_options(options::options_description& described) {
  auto add = described.add_options();
  add("charge", options::value<int>()->default_value(0), "charge in elementary charges");
  add("multiplicity", options::value<int>()->default_value(1),
      "2S+1: 1 where all electrons are paired");
  add("method", options::value<std::string>()->default_value("pbe"),
      "functional, as qm.method names it (pbe, b3lyp, pbe0-d3bj), or hf");
  add("basis", options::value<std::string>()->default_value("def2-svp"),
      "basis set, as qm.basis names it");
  add("solvent", options::value<std::string>()->default_value("none"),
      "implicit solvent (C-PCM): none, water, another name, or a relative permittivity");
  add("density-fitting", "Coulomb integrals by density fitting: several times as fast");
  add("device", options::value<std::string>()->default_value("auto"),
      "auto, cpu or gpu: GPU4PySCF computes where it is installed and finds a GPU");
  add("max-iterations", options::value<int>()->default_value(100), "of an SCF");
  add("threads", options::value<int>(), "threads of PySCF; by default one for each core");
}

}  // namespace

boost::program_options::options_description path_options() {
  options::options_description described("Options");
  auto add = described.add_options();
  add("transition-state", options::value<std::string>(),
      ".xyz file, a guess of the transition state; with --from or --to the path begins or ends at "
      "the side that is nearer to them");
  add("from", options::value<std::string>(), ".xyz file of the minimum where the path begins");
  add("to", options::value<std::string>(),
      ".xyz file of the minimum where it ends, with the same atoms in the same order");
  add("hold", options::value<std::string>(),
      "distances at which the guess is relaxed before the search, in angstrom, atoms from 1, "
      "such as 6-7=2.0,1-9=2.4");
  add("check", options::value<std::string>(),
      ".xyz file with several frames: says whether it is a continuous path, and makes none");
  add("output", options::value<std::string>(),
      "folder for the results; the first file's name and -path by default");
  add("overwrite", "begin anew where the folder has the results of something else");
  add("images", options::value<int>()->default_value(21),
      "number of images, up to a fifth more where that makes their distances more equal");
  add_level_options(described);
  add("step", options::value<double>()->default_value(0.05, "0.05"),
      "length of a step down from the transition state, angstrom u^1/2");
  add("max-steps", options::value<int>()->default_value(200),
      "of the search for the transition state, and of each side of the path");
  add("help", "show this text");
  return described;
}

int run_path(std::span<const std::string> arguments, std::ostream& out) {
  const options::options_description described = path_options();
  const options::variables_map values = parse_subcommand("starpmc path", described, arguments);
  if (values.contains("help")) {
    print_path_help(described, out);
    return 0;
  }
  if (values.contains("check")) {
    print_checked_path(values["check"].as<std::string>(), out);
    return 0;
  }
  check_path_request(values);
  out.flush();
  replace_process(script_command(values));
}

}  // namespace starpmc
