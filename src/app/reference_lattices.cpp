#include "app/reference_lattices.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

#include "app/team_products.hpp"
#include "base/constants.hpp"
#include "base/seconds_since.hpp"
#include "kernels/base/logging.hpp"
#include "kernels/response_coefficients.hpp"
#include "potential/potential_lattice.hpp"

namespace starpmc {
namespace {

// Of a slice: a multiple of what the PySCF worker takes at a time.
constexpr std::size_t kPositionsAtATime = 1040;
// Of a rough table: what it has wrong of the last angstroms does not move the mean potential.
constexpr double kRoughSpacing = 0.5;
constexpr double kRoughLastSpacing = 1.2;
// Of a fine one: the most that the energy of a step may be off, and what it takes to reach that.
// That of the density and that of the response make 0.01 kJ/mol together.
constexpr double kMostTableError = 0.007;  // kJ/mol
constexpr double kRefinement = 0.75;
constexpr double kNone = std::numeric_limits<double>::infinity();  // before the first table
constexpr double kWorthIt = 0.8;  // of the error before; interpolation's alone falls to 0.3
constexpr double kMostTableMegabytes = 64;
// A response has a hundred values at each position: fewer moves than the density's table has.
constexpr std::uint64_t kMovesOfResponse = 10000;

unsigned threads() { return std::max(1U, std::thread::hardware_concurrency()); }

double megabytes_of(std::size_t values, std::size_t bytes_of_one) {
  return static_cast<double>(values * bytes_of_one) / kBytesPerMebibyte;
}

}  // namespace

LatticeChoice potential_choice(Fineness fineness, double coulomb_cutoff) {
  LatticeChoice choice = LatticeChoice::for_potential(coulomb_cutoff);
  if (fineness == Fineness::fine) return choice;
  choice.levels.resize(1);
  choice.levels.front().spacing_angstrom = kRoughSpacing;
  choice.last_spacing_angstrom = kRoughLastSpacing;
  return choice;
}

ReferenceLattices::ReferenceLattices(const System& system, const Settings& settings,
                                     Fineness fineness, QmEngine& engine, EngineTeam& team,
                                     std::string name, WorkProgress progress)
    : system_(system),
      asked_components_(settings.qm.response_components.value_or(0)),
      fineness_(fineness),
      topology_(make_topology_buffers(system, settings)),
      engine_(engine),
      team_(team),
      name_(std::move(name)),
      progress_(std::move(progress)) {}

/// [row][position], of the rows from first_row on.
std::vector<double> ReferenceLattices::potentials(const std::vector<Vector3>& positions,
                                                  std::size_t first_row, std::size_t rows,
                                                  const char* what) {
  std::vector<double> all(rows * positions.size());
  if (positions.empty()) return all;
  const SharedDensity shared = engine_.shared_density();
  EngineTeam::Work work;
  work.pieces = (positions.size() + kPositionsAtATime - 1) / kPositionsAtATime;
  work.size = static_cast<double>(kPositionsAtATime);
  work.prepare = [&](QmEngine& helper) { helper.adopt(shared); };
  work.piece = [&](QmEngine& engine, std::size_t piece) {
    const std::size_t first = piece * kPositionsAtATime;
    const std::size_t count = std::min(kPositionsAtATime, positions.size() - first);
    const std::vector<double> values =
        engine.potentials(std::span(positions).subspan(first, count));
    for (std::size_t row = 0; row < rows; ++row) {
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>((first_row + row) * count), count,
                  all.begin() + static_cast<std::ptrdiff_t>(row * positions.size() + first));
    }
  };
  const auto start = std::chrono::steady_clock::now();
  const std::size_t engines = team_.run(engine_, work, [&](std::size_t done) {
    if (progress_)
      progress_(what, std::min(done * kPositionsAtATime, positions.size()), positions.size());
  });
  if (fineness_ == Fineness::fine) {
    spdlog::info("{}: {}: {} positions by {} QM worker{} in {:.1f} s", name_, what,
                 positions.size(), engines, engines == 1 ? "" : "s", seconds_since(start));
  }
  return all;
}

/// Makes the choice finer where that is worth it.
/// @param rms_before of the table before, kJ/mol; then of this one
bool ReferenceLattices::refine(LatticeChoice& choice, const TableOf& table,
                               double& rms_before) const {
  const double rms = table.rms_kj_per_mol;
  const double megabytes = table.megabytes / (kRefinement * kRefinement * kRefinement);
  const bool helps = rms < kWorthIt * std::exchange(rms_before, rms);
  if (rms <= kMostTableError) return false;
  if (!helps || megabytes > kMostTableMegabytes) {
    spdlog::warn(
        "{}: the interpolation of the table of the {} errs by {:.3f} kJ/mol (rms) in the energy of "
        "a step; {}. What is sampled stays exact, fewer blocks are accepted",
        name_, table.subject, rms,
        helps ? fmt::format("a finer one would take more than {:.0f} MiB", kMostTableMegabytes)
              : "a finer one does not err by less");
    return false;
  }
  for (LatticeLevelChoice& level : choice.levels) level.spacing_angstrom *= kRefinement;
  choice.last_spacing_angstrom *= kRefinement;
  return true;
}

/// @param subject that has it
void ReferenceLattices::tell(const TableError& error, const LatticeValues& table,
                             const char* subject) const {
  spdlog::info(
      "{}: the interpolation of a table of {} values, {:.2f} A near the solute, errs by "
      "{:.4f} kJ/mol in the {} of a step (rms of {} moves, at most {:.3f})",
      name_, table.values.size(), 1 / table.lattice.level[0].inverse_spacing, error.rms_kj_per_mol,
      subject, error.moves, error.largest_kj_per_mol);
}

SoluteResponse ReferenceLattices::respond(const ResponseRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  TeamProducts helpers(team_, engine_);
  SoluteResponse response = engine_.response(request, progress_, &helpers);
  if (fineness_ == Fineness::fine) {
    spdlog::info(
        "{}: response of {} components in {:.1f} s, products of its equations by {} QM worker{}",
        name_, response.components, seconds_since(start), 1 + helpers.engines(),
        helpers.engines() == 0 ? "" : "s");
  }
  if (fineness_ == Fineness::fine && response.components < asked_components_) {
    spdlog::warn(
        "{}: qm.response-components is {}, but the response has {}{}; ask for no more, write auto, "
        "or take a larger qm.basis",
        name_, asked_components_, response.components,
        response.note.empty() ? "" : fmt::format(" ({})", response.note));
  } else if (!response.note.empty()) {
    spdlog::info("{}: response: {}", name_, response.note);
  }
  return response;
}

void ReferenceLattices::make(const ResponseRequest& request, const MoveSample* moves,
                             SoluteReference& reference) {
  const std::vector<Vector3>& nuclei = system_.solute->positions;
  LatticeChoice choice = potential_choice(fineness_, topology_.interaction.coulomb_cutoff);
  std::optional<LatticePlan> plan(std::in_place, choice, nuclei, system_.box, 1,
                                  "the reference density");
  // Both at a time when the engine has to tell that of the density alone.
  std::vector<Vector3> positions = plan->near_positions();
  std::vector<std::size_t> near;
  if (moves != nullptr) {
    near = near_positions(moves->positions(), nuclei, choice.near_distance_angstrom);
    for (const std::size_t site : near) positions.push_back(moves->positions()[site]);
  }
  std::vector<double> potential = potentials(positions, 0, 1, "table of the potential");
  const SoluteResponse response = respond(request);
  reference.components = response.components;
  reference.mean_response = response.mean;
  reference.widths = response.widths;
  const std::vector<double> of_moves(potential.end() - static_cast<std::ptrdiff_t>(near.size()),
                                     potential.end());
  double rms_before = kNone;
  for (;;) {
    potential.resize(plan->near_positions().size());
    make_potential(response, potential, *plan, reference);
    if (moves == nullptr) break;
    measure(response, *moves, near, of_moves, reference);
    const double megabytes = megabytes_of(reference.potential.values.size(), sizeof(float));
    if (!refine(choice, {"potential", reference.table_error.rms_kj_per_mol, megabytes}, rms_before))
      break;
    plan.emplace(choice, nuclei, system_.box, 1, "the reference density");
    potential = potentials(plan->near_positions(), 0, 1, "finer table of the potential");
  }
  make_response(response, moves, reference);
}

LatticeSources ReferenceLattices::sources(const SoluteResponse& response,
                                          std::span<const double> near) const {
  return {topology_.interaction, topology_.functions.get(), response.points,
          std::span(response.strengths).first(response.points.size()), near};
}

void ReferenceLattices::make_potential(const SoluteResponse& response, std::span<const double> near,
                                       const LatticePlan& plan, SoluteReference& reference) const {
  const auto start = std::chrono::steady_clock::now();
  reference.potential = make_potential_lattice(plan, sources(response, near), threads());
  if (fineness_ == Fineness::fine) {
    spdlog::info("{}: table of {} values from {} points in {:.1f} s", name_,
                 reference.potential.values.size(), response.points.size(), seconds_since(start));
  }
}

void ReferenceLattices::measure(const SoluteResponse& response, const MoveSample& moves,
                                std::span<const std::size_t> near,
                                std::span<const double> near_potentials,
                                SoluteReference& reference) const {
  const std::vector<double> direct =
      direct_potentials(moves.positions(), near, 1, sources(response, near_potentials), threads());
  reference.table_error = moves.error(reference.potential, direct);
  tell(reference.table_error, reference.potential, "energy");
}

LatticeSources ReferenceLattices::sources_of_response(const SoluteResponse& response,
                                                      std::span<const double> near) const {
  LatticeSources result = sources(response, near);
  result.strengths = std::span(response.strengths).subspan(response.points.size());
  return result;
}

void ReferenceLattices::make_response(const SoluteResponse& response, const MoveSample* moves,
                                      SoluteReference& reference) {
  reference.response = {};
  if (response.components == 0) return;
  const auto components = static_cast<std::size_t>(response.components);
  const std::vector<Vector3>& nuclei = system_.solute->positions;
  LatticeChoice choice = LatticeChoice::for_response();
  std::optional<MoveSample> sample;
  std::vector<double> direct;
  double rms_before = kNone;
  for (const char* what = "table of the response";; what = "finer table of the response") {
    const LatticePlan plan(choice, nuclei, system_.box, response.components, "the response");
    const std::vector<double> near = potentials(plan.near_positions(), 1, components, what);
    reference.response =
        make_potential_lattice(plan, sources_of_response(response, near), threads());
    // As it is used.
    reference.response.values = values_of(response_coefficients(reference.response.values));
    if (moves == nullptr) return;
    if (!sample) {
      sample = moves->part(kMovesOfResponse);
      direct = response_at(sample->positions(), choice.near_distance_angstrom, response);
    }
    reference.response_error = sample->response_error(reference.response, response.mean, direct);
    tell(reference.response_error, reference.response, "polarisation");
    const double megabytes =
        megabytes_of(reference.response.values.size(), sizeof(ResponseCoefficient));
    if (!refine(choice, {"response", reference.response_error.rms_kj_per_mol, megabytes},
                rms_before))
      return;
  }
}

/// Without a table.
std::vector<double> ReferenceLattices::response_at(const std::vector<Vector3>& positions,
                                                   double near_distance,
                                                   const SoluteResponse& response) {
  const auto components = static_cast<std::size_t>(response.components);
  const std::vector<std::size_t> near =
      near_positions(positions, system_.solute->positions, near_distance);
  std::vector<Vector3> there;
  for (const std::size_t position : near) there.push_back(positions[position]);
  const std::vector<double> values = potentials(there, 1, components, "moves near the solute");
  return direct_potentials(positions, near, components, sources_of_response(response, values),
                           threads());
}

}  // namespace starpmc
