#include "app/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <iostream>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <vector>

#include "app/input_checks.hpp"
#include "app/inputs.hpp"
#include "io/output_folder.hpp"
#include "qm/density_grid.hpp"
#include "shown_text.hpp"

namespace starpmc {
namespace {

constexpr double kBytesPerMebibyte = 1 << 20;

void print_line(std::string_view name, const std::string& text) {
  std::cout << fmt::format("{:<24}{}\n", name, text);
}

std::string names_of_types(const System& system, std::span<const std::size_t> types) {
  std::vector<std::string> names;
  for (const std::size_t type : std::set<std::size_t>(types.begin(), types.end())) {
    names.push_back(system.force_field.site_type_names[type]);
  }
  return fmt::format("{}", fmt::join(names, " "));
}

void print_molecules(const System& system) {
  std::map<std::size_t, std::size_t> counts;
  for (const Molecule& molecule : system.molecules) ++counts[molecule.type];
  for (const auto& [index, count] : counts) {
    const MoleculeType& type = system.molecule_types[index];
    std::vector<std::size_t> types;
    double charge = 0;
    for (const Site& site : type.sites) {
      types.push_back(site.type);
      charge += site.charge;
    }
    print_line(
        "MM molecules",
        fmt::format("{} {}: {} site{}, {:+.4g} e, types {}", count, type.name, type.sites.size(),
                    type.sites.size() == 1 ? "" : "s", charge, names_of_types(system, types)));
  }
}

/// A stored density is read; what a QM program makes has at most so many points.
std::size_t most_grid_points(const Inputs& inputs) {
  const auto& qm = inputs.settings.qm;
  if (qm.engine == "frozen") return read_density_grid(qm.grid_file).size();
  return inputs.system.solute->atom_count() * static_cast<std::size_t>(qm.grid_radial) *
         static_cast<std::size_t>(qm.grid_angular);
}

void print_solute(const Inputs& inputs) {
  const Solute& solute = *inputs.system.solute;
  const auto& qm = inputs.settings.qm;
  const int electrons =
      std::accumulate(solute.atomic_numbers.begin(), solute.atomic_numbers.end(), -qm.charge);
  print_line("QM molecule",
             fmt::format("{}: {}, charge {:+d} e, {} electrons, multiplicity {}", solute.name,
                         formula(solute), qm.charge, electrons, qm.multiplicity));
  print_line("  its types", names_of_types(inputs.system, solute.types));
  const bool stored = qm.engine == "frozen";
  print_line("QM engine",
             stored
                 ? fmt::format("frozen, density of {}", shown_text(qm.grid_file.string()))
                 : fmt::format("{}, {}/{}, an update every {} steps", qm.engine, qm.method,
                               qm.basis, qm.interval == 0 ? "auto" : std::to_string(qm.interval)));
  const std::size_t points = most_grid_points(inputs);
  const double bytes = static_cast<double>(points * 5 * sizeof(double));
  print_line("Density grid",
             fmt::format("{}{} points, {:.0f} MiB for each chain", stored ? "" : "at most ", points,
                         bytes / kBytesPerMebibyte));
}

}  // namespace

int run_check(std::span<const std::string> arguments) {
  const Inputs inputs = read_inputs(arguments, "check");
  const Settings& settings = inputs.settings;
  OutputFolder::check(settings.output.folder, settings.output.overwrite);
  const System& system = inputs.system;
  const Vector3& edges = system.box.lengths;
  print_line("System", system.title);
  print_line("Box", fmt::format("{:.4f} x {:.4f} x {:.4f} A", edges.x, edges.y, edges.z));
  print_molecules(system);
  if (system.solute) print_solute(inputs);
  // Sums of charges such as 0.417 are not exactly 0.
  const double charge = net_charge(system, settings);
  print_line("Net charge", fmt::format("{:+.4g} e", std::abs(charge) < 1e-6 ? 0 : charge));
  print_line("Cutoffs", fmt::format("{:g} A (Coulomb), {:g} A (van der Waals)",
                                    settings.interaction.coulomb_cutoff_angstrom,
                                    settings.interaction.vdw_cutoff_angstrom));
  print_line(
      "Steps",
      fmt::format("{} after {} of equilibration, {} chain{}, {:g} K", settings.sampling.steps,
                  settings.sampling.equilibration_steps
                      ? std::to_string(*settings.sampling.equilibration_steps)
                      : fmt::format("as many as it takes, at most {},", settings.sampling.steps),
                  settings.sampling.chains == 0 ? "auto" : std::to_string(settings.sampling.chains),
                  settings.sampling.chains == 1 ? "" : "s", settings.sampling.temperature_kelvin));
  print_line("Results in", shown_text(settings.output.folder.string()));
  for (const std::string& note : system.notes) print_line("Note", shown_text(note));
  for (const std::string& warning : inputs.warnings) print_line("Warning", shown_text(warning));
  return 0;
}

}  // namespace starpmc
