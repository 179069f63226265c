#include "app/preparation_forecast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/preparation_plan.hpp"
#include "app/qm_forecast.hpp"
#include "app/reference_lattices.hpp"
#include "app/reference_preparation.hpp"
#include "base/constants.hpp"

namespace starpmc {
namespace {

constexpr std::uint64_t kUsualRounds = 2;
// PySCF on one core, PBE/def2-SVP (src/qm/README.md): 32 components of acetone (86 functions) take
// 1.4 s beside the tests, 96 of chorismate (264) 22 s: so many updates each.
constexpr double kUpdatesOfComponent = 0.15;
// Positions a second, of a density with as many functions and of one with its responses.
constexpr double kFunctions = 264;
constexpr double kDensityRate = 2400;
constexpr double kResponseRate = 1500;
constexpr double kRateExponent = 1.67;

double values_of(const LatticePlan& plan) {
  double nodes = 0;
  for (int level = 0; level < plan.lattice().levels; ++level) nodes += plan.node_count(level);
  return nodes * plan.lattice().components;
}

}  // namespace

PreparationForecast preparation_forecast(const Inputs& inputs, const QmForecast& qm,
                                         const SamplingTrial& trial, unsigned chains,
                                         unsigned cpu_workers) {
  const Settings::QmSection& settings = inputs.settings.qm;
  const double team = std::max(1U, std::min(chains, cpu_workers));
  PreparationForecast forecast;
  const std::uint64_t of_round = configurations_of_round(settings.configurations);
  const std::uint64_t sweeps = kUsualRounds * (PreparationChains::kChains * kSweepsOfRelaxation +
                                               of_round * kSweepsBetweenConfigurations) +
                               settings.configurations * kSweepsBetweenConfigurations;
  forecast.steps = sweeps * inputs.system.molecules.size();
  const double at_once = std::min<double>(PreparationChains::kChains, std::max(1U, cpu_workers));
  const double rate = trial.steps_per_second / team * at_once;
  forecast.sampling_seconds = static_cast<double>(forecast.steps) / rate;

  const auto tests = static_cast<double>(test_configurations(settings.configurations).size());
  const auto references = static_cast<double>(kUsualRounds + 2);
  const std::uint64_t fine = PreparationChains::held_out(settings.configurations);
  const auto coarse = static_cast<double>(kUsualRounds * of_round + settings.configurations - fine);
  forecast.scfs = static_cast<std::uint64_t>(references + tests);
  forecast.scf_seconds = qm.update_seconds * (references + std::ceil(tests / team) +
                                              kUpdatesOfConfiguration * static_cast<double>(fine) +
                                              kUpdatesOfCoarseConfiguration * coarse);

  forecast.components = std::min(settings.response_components.value_or(usual_components(qm)),
                                 most_response_components(settings.configurations));
  forecast.response_seconds = kUpdatesOfComponent * qm.update_seconds * forecast.components;

  const auto plan = [&](const LatticeChoice& choice, int components) {
    return LatticePlan(choice, inputs.system.solute->positions, inputs.system.box, components,
                       "the reference");
  };
  const double cutoff = inputs.settings.interaction.coulomb_cutoff_angstrom;
  const LatticePlan rough = plan(potential_choice(Fineness::rough, cutoff), 1);
  const LatticePlan of_reference = plan(potential_choice(Fineness::fine, cutoff), 1);
  const std::uint64_t of_density =
      (kUsualRounds + 1) * rough.near_positions().size() + of_reference.near_positions().size();
  forecast.positions = of_density;
  forecast.table_mb = values_of(of_reference) * sizeof(float);
  double of_response = 0;
  if (forecast.components > 0) {
    const LatticePlan response = plan(LatticeChoice::for_response(), forecast.components);
    of_response = static_cast<double>(response.near_positions().size());
    forecast.positions += response.near_positions().size();
    forecast.table_mb += values_of(response) * sizeof(ResponseCoefficient);
  }
  forecast.table_mb /= kBytesPerMebibyte;
  const double slower = std::pow(qm.basis_functions / kFunctions, kRateExponent);
  forecast.table_seconds =
      slower * (static_cast<double>(of_density) / kDensityRate + of_response / kResponseRate) /
      team;
  return forecast;
}

std::string describe(const PreparationForecast& forecast) {
  return fmt::format(
      "about {}: {} of sampling ({} steps in about {} rounds and for the response), {} of {} SCF "
      "calculations, {} of the response ({} components), {} of tables ({} potentials, {:.0f} MiB "
      "for all chains); the QM program's are estimates, good to a factor of three",
      duration(forecast.seconds()), duration(forecast.sampling_seconds), forecast.steps,
      kUsualRounds, duration(forecast.scf_seconds), forecast.scfs,
      duration(forecast.response_seconds), forecast.components, duration(forecast.table_seconds),
      forecast.positions, forecast.table_mb);
}

}  // namespace starpmc
