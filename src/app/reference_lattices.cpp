#include "app/reference_lattices.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/seconds_since.hpp"
#include "kernels/base/logging.hpp"
#include "potential/potential_lattice.hpp"
#include "sampling/topology_buffers.hpp"

namespace starpmc {
namespace {

// Of a slice: a multiple of what the PySCF worker takes at a time.
constexpr std::size_t kPositionsAtATime = 1040;
// Of a rough table: what it has wrong of the last angstroms does not move the mean potential.
constexpr double kRoughSpacing = 0.5;
constexpr double kRoughLastSpacing = 1.2;

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
                                     WorkProgress progress)
    : system_(system),
      settings_(settings),
      fineness_(fineness),
      engine_(engine),
      team_(team),
      progress_(std::move(progress)) {}

/// [row][position], of the rows from first_row on.
std::vector<double> ReferenceLattices::potentials(const std::vector<Vector3>& positions,
                                                  std::size_t first_row, std::size_t rows,
                                                  const char* what) {
  std::vector<double> all(rows * positions.size());
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
    spdlog::info("reference: {}: {} positions by {} QM worker{} in {:.1f} s", what,
                 positions.size(), engines, engines == 1 ? "" : "s", seconds_since(start));
  }
  return all;
}

void ReferenceLattices::make(const ResponseRequest& request, SoluteReference& reference) {
  const std::vector<Vector3>& nuclei = system_.solute->positions;
  const TopologyBuffers topology = make_topology_buffers(system_, settings_);
  const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  const LatticePlan of_potential(
      potential_choice(fineness_, settings_.interaction.coulomb_cutoff_angstrom), nuclei,
      system_.box, 1, "the reference density");
  const std::vector<double> near =
      potentials(of_potential.near_positions(), 0, 1, "table of the potential");
  const SoluteResponse response = engine_.response(request, progress_);
  if (!response.note.empty()) spdlog::info("reference: response: {}", response.note);
  reference.components = response.components;
  reference.mean_response = response.mean;
  reference.widths = response.widths;
  const std::span<const double> strengths(response.strengths);
  const std::size_t points = response.points.size();
  reference.potential = make_potential_lattice(of_potential,
                                               {topology.interaction, topology.functions.get(),
                                                response.points, strengths.first(points), near},
                                               threads);
  reference.response = {};
  if (response.components == 0) return;
  const auto components = static_cast<std::size_t>(response.components);
  const LatticePlan of_response(LatticeChoice::for_response(), nuclei, system_.box,
                                response.components, "the response");
  const std::vector<double> near_response =
      potentials(of_response.near_positions(), 1, components, "table of the response");
  reference.response =
      make_potential_lattice(of_response,
                             {topology.interaction, topology.functions.get(), response.points,
                              strengths.subspan(points), near_response},
                             threads);
}

}  // namespace starpmc
