#include "app/reference_preparation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "app/preparation_plan.hpp"
#include "base/constants.hpp"
#include "base/seconds_since.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/logging.hpp"
#include "qm/errors.hpp"
#include "sampling/reference_tables.hpp"

namespace starpmc {
namespace {

constexpr int kMostRounds = 8;
/// Two rounds agree where their dipoles differ by less than this and a share of them, and the costs
/// of their polarisation by less than kT or a share of it: what the means of so few configurations
/// scatter by.
constexpr double kDipoleDebye = 0.1;
constexpr double kShareOfDipole = 0.03;
constexpr double kShareOfEnergy = 0.1;
constexpr std::uint64_t kMostTests = 40;

Settings settings_of_chains(Settings settings) {
  settings.output.pressure_interval = 0;
  if (!settings.sampling.equilibration_steps) settings.sampling.equilibration_steps = 0;
  return settings;
}

std::string coulomb_text(const Settings::PotentialSection& potential) {
  return fmt::format("{} ({})", potential.coulomb,
                     std::array{"truncate", "shift", "force-shift", "switch"}.at(
                         static_cast<std::size_t>(potential.coulomb_treatment)));
}

/// What the engine makes of several configurations is what it makes of this one.
Embedding mean_of(std::span<const Embedding> embeddings) {
  Embedding mean = embeddings.front();
  for (const Embedding& one : embeddings.subspan(1)) {
    std::ranges::transform(mean.numbers, one.numbers, mean.numbers.begin(), std::plus<>{});
    mean.largest_potential = std::max(mean.largest_potential, one.largest_potential);
  }
  const auto count = static_cast<double>(embeddings.size());
  for (double& number : mean.numbers) number /= count;
  return mean;
}

double magnitude(const std::array<double, 3>& v) { return std::hypot(v[0], v[1], v[2]); }

}  // namespace

int most_response_components(std::uint64_t configurations) {
  const std::uint64_t used = configurations - PreparationChains::held_out(configurations);
  return std::max(0, static_cast<int>(used) - 1);
}

std::vector<std::uint64_t> test_configurations(std::uint64_t configurations) {
  const std::uint64_t held_out = PreparationChains::held_out(configurations);
  const std::uint64_t count = std::min(kMostTests, held_out);
  std::vector<std::uint64_t> tests;
  for (std::uint64_t i = 0; i < count; ++i) {
    // From the first of them to the last one, evenly.
    const std::uint64_t offset =
        count < 2 ? 0 : (2 * i * (held_out - 1) + count - 1) / (2 * (count - 1));
    tests.push_back(configurations - held_out + offset);
  }
  return tests;
}

ReferenceIdentity reference_identity(const System& system, const Settings& settings) {
  const Solute& solute = *system.solute;
  const Settings::QmSection& qm = settings.qm;
  return {solute.elements,
          solute.positions,
          qm.charge,
          qm.multiplicity,
          qm.engine,
          qm.method,
          qm.basis,
          qm.density_fitting,
          qm.scf_grid_radial,
          qm.scf_grid_angular,
          coulomb_text(settings.potential),
          settings.interaction.coulomb_cutoff_angstrom,
          system.box.lengths};
}

ReferencePreparation::ReferencePreparation(const Inputs& inputs, const Interruption& interruption,
                                           QmEngine& engine, EngineTeam& team,
                                           const PreparationCheckpoint& checkpoint,
                                           std::string name,
                                           std::function<void(const ProgressState&)> report)
    : inputs_(inputs),
      interruption_(interruption),
      engine_(engine),
      team_(team),
      checkpoint_(checkpoint),
      name_(std::move(name)),
      report_(std::move(report)),
      sweep_(inputs.system.molecules.size()),
      settings_(settings_of_chains(inputs.settings)),
      chains_(
          [&](std::uint32_t number) {
            return make_chain(system_of_reference_chain(inputs, number), settings_, number,
                              PreparationChains::kChains);
          },
          interruption, engine),
      moves_(inputs.system, inputs.settings) {
  reference_.identity = reference_identity(inputs.system, inputs.settings);
}

bool ReferencePreparation::agree(const Round& one, const Round& other) const {
  std::array<double, 3> change{};
  for (std::size_t k = 0; k < change.size(); ++k) {
    change[k] = one.dipole_debye[k] - other.dipole_debye[k];
  }
  const double kt = kGasConstant * inputs_.settings.sampling.temperature_kelvin;
  const double cost = other.solute_energy_kj_per_mol - reference_.isolated_energy_kj_per_mol;
  return magnitude(change) < kDipoleDebye + kShareOfDipole * magnitude(other.dipole_debye) &&
         std::abs(one.solute_energy_kj_per_mol - other.solute_energy_kj_per_mol) <
             std::max(kt, kShareOfEnergy * cost);
}

/// For what one engine makes while all others wait.
int ReferencePreparation::threads() const {
  return static_cast<int>(std::max({1U, std::thread::hardware_concurrency(),
                                    static_cast<unsigned>(inputs_.settings.qm.threads)}));
}

void ReferencePreparation::tell(const std::string& phase, std::uint64_t done, std::uint64_t total) {
  ProgressState state;
  state.phase = phase;
  state.unit = "part";
  state.step = done;
  state.total_steps = total;
  state.acceptance = std::numeric_limits<double>::quiet_NaN();
  report_(state);
}

/// So many from here on, embedded by the whole team while the chains go on to the next.
void ReferencePreparation::sample_configurations(std::uint64_t configurations, Quadrature of_last) {
  std::vector<std::size_t> numbers;  // of the pieces, in the order in which they come up
  numbers.reserve(configurations);
  std::vector<SolventPotential> potentials(configurations);
  embeddings_.assign(configurations, {});
  EngineTeam::Work work;
  work.size =
      kUpdatesOfCoarseConfiguration * static_cast<double>(engine_.quadrature_points().size());
  work.piece = [&](QmEngine& engine, std::size_t piece) {
    const std::size_t number = numbers[piece];
    const SolventPotential& potential = potentials[number];
    embeddings_[number] = engine.embedding(potential.at_points, potential.at_nuclei,
                                           potential.charges, potential.quadrature);
    potentials[number].at_points = {};
  };
  EngineTeam::Batch batch(team_, &engine_, work);
  tell("reference: configurations", 0, configurations);
  chains_.sample(configurations, kSweepsBetweenConfigurations * sweep_, of_last,
                 [&](std::size_t number, SolventPotential potential) {
                   potentials[number] = std::move(potential);
                   numbers.push_back(number);
                   batch.add();
                   tell("reference: configurations", numbers.size(), configurations);
                 });
  batch.finish([&](std::size_t done) { tell("reference: embedding", done, configurations); });
  moves_.clear();
  for (const SolventPotential& potential : potentials) moves_.add(potential.charges);
}

/// By the whole team.
std::vector<double> ReferencePreparation::energies_of_tests() {
  std::vector<double> energies(tests_.size());
  engine_.hold_density();
  EngineTeam::Work work;
  work.pieces = tests_.size();
  work.size = static_cast<double>(engine_.quadrature_points().size());
  work.prepare = [&](QmEngine& helper) {
    helper.restore(reference_.worker_state);
    helper.hold_density();
  };
  work.piece = [&](QmEngine& engine, std::size_t test) {
    if (&engine == &engine_) {
      energies[test] = engine.energy(tests_[test]);
      return;
    }
    engine.forget_configurations();
    engine.add_configuration(embeddings_[tests_[test]]);
    energies[test] = engine.energy(0);
  };
  const auto start = std::chrono::steady_clock::now();
  const std::size_t engines = team_.run(engine_, work, [this](std::size_t done) {
    tell("reference: test configurations", done, tests_.size());
  });
  spdlog::info("{}: energies of {} test configurations by {} QM worker{} in {:.1f} s", name_,
               tests_.size(), engines, engines == 1 ? "" : "s", seconds_since(start));
  return energies;
}

/// The density in the mean potential of so many configurations from here on.
ReferencePreparation::Round ReferencePreparation::make_density(std::uint64_t configurations,
                                                               Quadrature of_last) {
  const auto start = std::chrono::steady_clock::now();
  sample_configurations(configurations, of_last);
  engine_.forget_configurations();
  for (const Embedding& embedding : embeddings_) engine_.add_configuration(embedding);
  spdlog::info("{}: {} configurations in {:.1f} s", name_, configurations, seconds_since(start));
  return find_in_mean(configurations);
}

/// Of the configurations that the engine keeps.
ReferencePreparation::Round ReferencePreparation::find_in_mean(std::uint64_t configurations) {
  state_before_ = engine_.state();
  const ReferenceDensity density = engine_.reference(threads());
  if (!density.scf.fallback.empty()) {
    spdlog::warn("{}: the SCF converged only with help: {}", name_, density.scf.fallback);
  }
  reference_.solute_energy_kj_per_mol = density.solute_energy_kj_per_mol;
  reference_.worker_state = engine_.state();
  reference_.dipole_debye = std::to_array(density.scf.dipole_debye);
  reference_.isolated_energy_kj_per_mol = density.scf.isolated_energy_kj_per_mol.value_or(0);
  reference_.isolated_dipole_debye = density.scf.isolated_dipole_debye;
  reference_.memory_mb = density.scf.memory_mb;
  reference_.configurations = configurations;
  return {reference_.dipole_debye, reference_.solute_energy_kj_per_mol};
}

/// The tables of the present density.
void ReferencePreparation::make_tables(Fineness fineness, int most_components) {
  ResponseRequest request;
  request.most_components = most_components;
  // A number that was asked for is taken, however few would serve.
  const bool automatic = !inputs_.settings.qm.response_components;
  request.tolerance_kj_per_mol = automatic ? inputs_.settings.qm.response_tolerance_kj_per_mol : 0;
  request.threads = threads();
  request.rough = fineness == Fineness::rough;
  if (most_components > 0) {
    request.tests = tests_;
    request.energies_kj_per_mol = energies_of_tests();
  }
  ReferenceLattices lattices(inputs_.system, inputs_.settings, fineness, engine_, team_, name_,
                             [this](const std::string& what, auto done, auto total) {
                               tell("reference: " + what, done, total);
                             });
  const bool fine = fineness == Fineness::fine;
  if (fine) moves_.choose();
  lattices.make(request, fine ? &moves_ : nullptr, reference_);
}

/// The chain's Hamiltonian is that of the present density, without a response, from here on.
void ReferencePreparation::sample_with_density() {
  make_tables(Fineness::rough, 0);
  const auto tables = std::make_shared<const ReferenceTables>(reference_);
  if (kept_chains_.is_null()) {
    chains_.set_reference(tables);
    return;
  }
  try {
    chains_.restore(std::exchange(kept_chains_, {}), tables);
  } catch (const nlohmann::json::exception& error) {
    throw RunError(fmt::format(
        "{}: the chains' state lacks something: {}; remove the file, and the reference is made "
        "from the start",
        checkpoint_.path().string(), error.what()));
  }
}

void ReferencePreparation::keep(int round, bool settled) {
  checkpoint_.write({round, settled, seconds_before_ + seconds_since(start_),
                     reference_.configurations, state_before_, mean_of(embeddings_),
                     chains_.state()});
}

/// The SCF in the round's mean potential is done again, with the same result.
ReferencePreparation::Round ReferencePreparation::go_on_from(PreparationState state) {
  spdlog::info("{}: goes on after round {}", name_, state.round);
  seconds_before_ = state.seconds;
  kept_chains_ = std::move(state.chains);
  engine_.restore(state.worker_state);
  engine_.forget_configurations();
  engine_.add_configuration(state.mean);
  return find_in_mean(state.configurations);
}

/// Rounds until two of them agree.
void ReferencePreparation::find_density() {
  std::optional<PreparationState> kept = checkpoint_.read();
  const int done = kept ? kept->round : 0;
  bool settled = kept && kept->settled;
  Round last = kept ? go_on_from(std::move(*kept)) : make_density(1, Quadrature::coarse);
  const std::uint64_t configurations = configurations_of_round(inputs_.settings.qm.configurations);
  for (int round = done + 1; !settled; ++round) {
    sample_with_density();
    chains_.relax(kSweepsOfRelaxation * sweep_, inputs_.settings.sampling.tune_interval);
    const Round now = make_density(configurations, Quadrature::coarse);
    spdlog::info(
        "{}, round {}: in the mean potential of {} configurations the solute has a dipole "
        "of {:.3f} debye, and {:.3f} kJ/mol more than isolated",
        name_, round, configurations, magnitude(now.dipole_debye),
        now.solute_energy_kj_per_mol - reference_.isolated_energy_kj_per_mol);
    const bool agreed = agree(last, now);
    if (!agreed && round == kMostRounds) warn_of_disagreement();
    settled = agreed || round == kMostRounds;
    keep(round, settled);
    last = now;
  }
}

void ReferencePreparation::warn_of_disagreement() const {
  spdlog::warn(
      "{}: after {} rounds its dipole still changed by more than {} debye and {:.0f} %, or "
      "the cost of its polarisation by more than kT and {:.0f} %; blocks may be accepted less "
      "often for it, what is sampled stays exact; more qm.configurations make the rounds longer",
      name_, kMostRounds, kDipoleDebye, 100 * kShareOfDipole, 100 * kShareOfEnergy);
}

SoluteReference ReferencePreparation::make() {
  find_density();
  sample_with_density();
  tests_ = test_configurations(inputs_.settings.qm.configurations);
  // The last chain's tell by the energies of an SCF in each what the response leaves out.
  make_density(inputs_.settings.qm.configurations, Quadrature::fine);
  make_tables(Fineness::fine, inputs_.settings.qm.response_components.value_or(
                                  most_response_components(inputs_.settings.qm.configurations)));
  reference_.seconds = seconds_before_ + seconds_since(start_);
  std::string difference = "not measured";
  if (!reference_.widths.empty()) {
    const ResponseWidth& last = reference_.widths.back();
    difference =
        fmt::format("{:.3f} kJ/mol (root mean square; mean {:.3f}, standard deviation {:.3f})",
                    std::hypot(last.mean, last.width), last.mean, last.width);
  }
  spdlog::info(
      "{} density of {} configurations in {}: dipole {:.3f} debye, response of {} "
      "components; true less sampled energy on configurations that these were not made from, "
      "though the mean potential was: {}",
      name_, reference_.configurations, format_duration(reference_.seconds),
      magnitude(reference_.dipole_debye), reference_.components, difference);
  engine_.forget_configurations();
  return std::move(reference_);
}

}  // namespace starpmc
