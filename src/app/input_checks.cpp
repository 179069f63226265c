#include "app/input_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "base/constants.hpp"
#include "kernels/base/error.hpp"
#include "kernels/common/layout.h"

namespace starpmc {
namespace {

constexpr double shortest_cutoff_angstrom = 6;
constexpr double shortest_edge_angstrom = 15;
constexpr double least_net_charge = 0.01;
constexpr double water_permittivity = 78.4;  // at 298 K
constexpr double kelvin_of_0_celsius = 273.15;
constexpr double lowest_in_celsius = 15;
constexpr double highest_in_celsius = 60;

/// A liquid leaves no such gap, a slab of it none along two edges.
constexpr double least_filled_share = 1.0 / 3;
constexpr std::size_t fewest_that_fill = 20;

/// Share of the edge that is left when the longest gap between the molecules' centres is taken
/// away.
double filled_share(std::vector<double> coordinates, double edge) {
  for (double& x : coordinates) x -= edge * std::floor(x / edge);
  std::ranges::sort(coordinates);
  double gap = coordinates.front() + edge - coordinates.back();
  for (std::size_t i = 1; i < coordinates.size(); ++i) {
    gap = std::max(gap, coordinates[i] - coordinates[i - 1]);
  }
  return 1 - gap / edge;
}

/// Of that edge of the box of which they fill the most.
double filled_share(const System& system) {
  double most = 0;
  for (const auto& [component, edge] :
       {std::pair{&Vector3::x, system.box.lengths.x}, std::pair{&Vector3::y, system.box.lengths.y},
        std::pair{&Vector3::z, system.box.lengths.z}}) {
    std::vector<double> coordinates;
    for (const Molecule& molecule : system.molecules) {
      coordinates.push_back(molecule.centre.*component);
    }
    most = std::max(most, filled_share(std::move(coordinates), edge));
  }
  return most;
}

/// A solute or liquids such as water: not what is sampled at 25 K, as neon may be.
bool has_charges(const System& system) {
  return system.solute || std::ranges::any_of(system.molecule_types, [](const MoleculeType& type) {
           return std::ranges::any_of(type.sites, [](const Site& s) { return s.charge != 0; });
         });
}

}  // namespace

std::string formula(const Solute& solute) {
  std::map<std::string_view, std::size_t> counts;
  for (const std::string& element : solute.elements) ++counts[element];
  std::string text;
  for (const auto& [element, count] : counts) {
    text += fmt::format("{}{}{}", text.empty() ? "" : " ", element,
                        count == 1 ? "" : std::to_string(count));
  }
  return text;
}

double net_charge(const System& system, const Settings& settings) {
  std::vector<double> charges;
  for (const MoleculeType& type : system.molecule_types) {
    charges.push_back(std::accumulate(type.sites.begin(), type.sites.end(), 0.0,
                                      [](double sum, const Site& s) { return sum + s.charge; }));
  }
  double sum = system.solute ? settings.qm.charge : 0;
  for (const Molecule& molecule : system.molecules) sum += charges[molecule.type];
  return sum;
}

void check_electron_count(const System& system, const Settings& settings,
                          const OptionPlaces& places) {
  if (!system.solute || settings.qm.engine == "frozen") return;
  if (places.doubtful("qm.charge") || places.doubtful("qm.multiplicity")) return;
  const std::vector<int>& numbers = system.solute->atomic_numbers;
  const int electrons = std::accumulate(numbers.begin(), numbers.end(), -settings.qm.charge);
  const int unpaired = settings.qm.multiplicity - 1;
  if (electrons > 0 && unpaired <= electrons && (electrons - unpaired) % 2 == 0) return;
  throw InputError(
      places(places.given("qm.multiplicity") ? "qm.multiplicity" : "qm.charge"),
      fmt::format(
          "the QM molecule {} ({}) with charge {:+d} has {} electrons, which cannot have the "
          "multiplicity {}",
          system.solute->name, formula(*system.solute), settings.qm.charge, electrons,
          settings.qm.multiplicity),
      "",
      "correct qm.charge, qm.multiplicity (2 for one unpaired electron) or the molecule's atoms");
}

double born_energy(double charge, double distance_angstrom, double relative_permittivity) {
  return -STARPMC_COULOMB_CONSTANT * charge * charge / (2 * distance_angstrom) *
         (1 - 1 / relative_permittivity);
}

std::vector<std::string> input_warnings(const System& system, const Settings& settings,
                                        const OptionPlaces& places) {
  std::vector<std::string> warnings;
  const auto& interaction = settings.interaction;
  const auto check_cutoff = [&](const std::string& name, double cutoff) {
    const bool longest = cutoff == system.box.shortest_edge() / 2;  // the box is to blame
    if (!places.given(name) || longest || cutoff >= shortest_cutoff_angstrom) return;
    warnings.push_back(
        fmt::format("{}: {:g} A is a short cutoff; did you mean nm? {:g} nm is {:g} A",
                    places(name), cutoff, cutoff, kAngstromPerNanometre * cutoff));
  };
  check_cutoff("interaction.coulomb-cutoff", interaction.coulomb_cutoff_angstrom);
  check_cutoff("interaction.vdw-cutoff", interaction.vdw_cutoff_angstrom);
  if (const double edge = system.box.shortest_edge(); edge < shortest_edge_angstrom) {
    warnings.push_back(fmt::format(
        "{}: the box's shortest edge is {:.3f} A, so that no cutoff can be longer than "
        "{:.3f} A; take a larger box; if that is not what it should be, see whether its "
        "lengths are in nm",
        settings.system.coordinates.string(), edge, edge / 2));
  }
  if (system.molecules.size() >= fewest_that_fill && filled_share(system) < least_filled_share) {
    warnings.push_back(fmt::format(
        "{}: along each edge of the box ({:.1f} x {:.1f} x {:.1f} A) the molecules fill less than "
        "a third, as a droplet in a vacuum; if that is not what it should be, see whether the "
        "box's lengths are in nm",
        settings.system.coordinates.string(), system.box.lengths.x, system.box.lengths.y,
        system.box.lengths.z));
  }
  if (const double charge = net_charge(system, settings); std::abs(charge) > least_net_charge) {
    const double cutoff = interaction.coulomb_cutoff_angstrom;
    warnings.push_back(fmt::format(
        "the box has a net charge of {:+.4g} e: each site's Coulomb interactions end at the "
        "cutoff, "
        "without a neutralising background; left out is the energy of an ion with what lies beyond "
        "the cutoff ({:.4g} A), by Born's equation {:.1f} kJ/mol for one of this charge in water",
        charge, cutoff, born_energy(charge, cutoff, water_permittivity)));
  }
  const std::uint64_t steps = settings.sampling.steps;
  const auto check_interval = [&](const char* name, std::uint64_t interval, const char* averages) {
    if (steps == 0 || interval <= steps) return;
    warnings.push_back(
        fmt::format("{}: found {}, but production has {} steps (sampling.steps): {} have one "
                    "sample at most, and "
                    "so no error; lower it, or make more steps",
                    places(name), interval, steps, averages));
  };
  check_interval("output.energy-interval", settings.output.energy_interval,
                 "mean energies over steps");
  check_interval("output.pressure-interval", settings.output.pressure_interval, "mean pressures");
  const double kelvin = settings.sampling.temperature_kelvin;
  if (kelvin >= lowest_in_celsius && kelvin <= highest_in_celsius && has_charges(system)) {
    warnings.push_back(
        fmt::format("{}: {:g} K is cold; did you mean {:g} K ({:g} degrees Celsius)?",
                    places("sampling.temperature"), kelvin, kelvin + kelvin_of_0_celsius, kelvin));
  }
  if (settings.sampling.equilibration_steps == 0U && settings.sampling.chains != 1) {
    warnings.push_back(fmt::format(
        "{}: without steps of equilibration all chains begin to count at one configuration, so "
        "that "
        "R-hat and the chains' agreement say nothing of what lies far from it; write auto, or so "
        "many that the chains forget it",
        places("sampling.equilibration-steps")));
  }
  return warnings;
}

}  // namespace starpmc
