#include "app/subcommands.hpp"

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <cstdint>
#include <filesystem>
#include <ostream>

#include "app/subcommand_options.hpp"
#include "config/describe.hpp"
#include "config/option.hpp"
#include "config/values.hpp"
#include "kernels/base/error.hpp"
#include "system/solvated_files.hpp"

namespace starpmc {
namespace {

namespace options = boost::program_options;

void print_solvate_help(const options::options_description& described, std::ostream& out) {
  out << "Usage: starpmc solvate [--solute FILE] --waters N [options]\n\n"
         "Puts a solute into a cube of equilibrated water at the liquid's density and writes\n"
         "NAME.gro and NAME.top. What it prints is a configuration that runs: > NAME.cfg. The "
         "water\n"
         "and the OPLS-AA parameters come from GROMACS's data (Debian: apt install "
         "gromacs-data).\n\n"
      << described
      << "\nExample: starpmc solvate --solute chorismate.xyz --waters 500 --charge -2\n";
}

/// What is printed has to lead to the files.
void check_name(const std::filesystem::path& output) {
  if (!output.has_filename() || output.filename() == "." || output.filename() == "..") {
    throw InputError("--output", "is no name for files", output.string(),
                     "write a name without .gro and .top, as in --output box");
  }
  try {
    config::check_writable(*config::find_option("system.coordinates"), output.string() + ".gro");
  } catch (const config::ValueProblem& problem) {
    throw InputError("--output", problem.what(), output.string(), problem.remedy);
  }
}

SolvateRequest make_request(const options::variables_map& values) {
  SolvateRequest request;
  if (values.contains("solute")) request.solute = values["solute"].as<std::string>();
  if (values.contains("waters")) request.waters = values["waters"].as<long>();
  if (values.contains("box")) request.edge_angstrom = values["box"].as<double>();
  request.model = values["model"].as<std::string>();
  const std::string stem = request.solute.empty() ? "water" : request.solute.stem().string();
  request.output = values.contains("output") ? values["output"].as<std::string>() : stem;
  check_name(request.output);
  request.charge = values["charge"].as<int>();
  if (values.contains("ions")) request.ions = values["ions"].as<std::string>();
  request.ion_distance_angstrom = values["ion-distance"].as<double>();
  request.seed = values["seed"].as<std::uint64_t>();
  if (values.contains("table")) request.table = values["table"].as<std::string>();
  request.overwrite = values.contains("overwrite");
  return request;
}

void print_ions(const SolvatedFiles& files, std::ostream& out) {
  if (files.ions.empty()) return;
  out << "#\n# Ions, and their type in oplsaa.ff\n";
  for (const Ions& kind : files.ions) {
    out << fmt::format("#   {:<5} {:<10} {:+d} e, {} of them\n", kind.atom, kind.type, kind.charge,
                       kind.count);
  }
}

/// As comments: what is printed is a configuration.
void print_types(const SolvatedFiles& files, std::ostream& out) {
  if (files.solute_types.empty()) return;
  bool any_guess = false;
  out << "#\n# Lennard-Jones types of the solute's atoms\n";
  for (const SoluteAtomType& atom : files.solute_types) {
    any_guess = any_guess || atom.is_guess;
    const std::string comment = atom.comment.empty() ? "" : "  " + atom.comment;
    out << fmt::format("#   {:<5} {:<10}{}{}\n", atom.atom, atom.type, atom.is_guess ? "?" : " ",
                       comment);
  }
  if (any_guess) {
    out << "# ? a guess: check it, or give rules of your own by --table\n";
  }
}

void print_summary(const SolvateRequest& request, const SolvatedFiles& files, std::ostream& out) {
  const std::string around =
      files.solute_atoms == 0 ? ""
                              : fmt::format(" around {} ({} atom{})", files.qm_molecule,
                                            files.solute_atoms, files.solute_atoms == 1 ? "" : "s");
  out << fmt::format("# {} {} waters{} in a cube of {:.3f} angstrom: {} and {}\n", files.waters,
                     request.model, around, files.edge_angstrom, files.coordinates.string(),
                     files.topology.string());
  print_types(files, out);
  print_ions(files, out);
  out << fmt::format("\n[system]\ncoordinates = {}\ntopology = {}\n", files.coordinates.string(),
                     files.topology.string());
  if (files.solute_atoms > 0) {
    out << fmt::format("qm-molecule = {}\n\n[qm]\ncharge = {}\n", files.qm_molecule,
                       request.charge);
    if (files.solute_electrons % 2 != 0) {
      out << fmt::format(
          "multiplicity = 2  # {} electrons, an odd number: a radical, or the charge is wrong\n",
          files.solute_electrons);
    }
  }
  out << "\n[sampling]\nsteps = 1000000\n";
}

}  // namespace

boost::program_options::options_description solvate_options() {
  options::options_description described("Options");
  auto add = described.add_options();
  add("solute", options::value<std::string>(),
      "solute, .xyz (angstrom) or .gro (nm; its atom names tell the elements); none: pure water");
  add("waters", options::value<long>(), "number of water molecules; sets the edge of the cube");
  add("box", options::value<double>(),
      "edge of the cube in angstrom, instead of --waters; as many waters as the liquid's density "
      "gives");
  add("model", options::value<std::string>()->default_value("tip3p"),
      "water model: tip3p, spc, spce or tip4p");
  add("output", options::value<std::string>(),
      "name of the files to write, without .gro and .top; the solute's name by default, or "
      "'water'");
  add("charge", options::value<int>()->default_value(0),
      "charge of the solute in elementary charges; noted in the files for the QM program");
  add("ions", options::value<std::string>(),
      "salt and its concentration in mol/L, as NaCl:0.15 or MgCl2:0.1, and counter-ions of the "
      "solute's charge; with 0 these only. Ions take the place of waters");
  add("ion-distance", options::value<double>()->default_value(6),
      "least distance of an ion from the solute and the other ions, angstrom");
  add("seed", options::value<std::uint64_t>()->default_value(1),
      "chooses the cut out of the equilibrated water, and the waters that ions replace");
  add("table", options::value<std::string>(),
      "rules for the solute's Lennard-Jones types; the built-in opls_types.txt by default. Where "
      "one "
      "gives an element another one's type, the topology gets a type of its own for it");
  add("overwrite", "replace files that exist");
  add("help", "show this text");
  return described;
}

int run_solvate(std::span<const std::string> arguments, std::ostream& out) {
  const options::options_description described = solvate_options();
  const options::variables_map values = parse_subcommand("starpmc solvate", described, arguments);
  if (values.contains("help")) {
    print_solvate_help(described, out);
    return 0;
  }
  const SolvateRequest request = make_request(values);
  print_summary(request, write_solvated_files(request), out);
  return 0;
}

}  // namespace starpmc
