#include "bench/root_accuracy.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "bench/cell_system.hpp"
#include "kernels/operations.hpp"
#include "seconds_since.hpp"

namespace starpmc {
namespace {

constexpr std::size_t kParticles = 1000;
constexpr std::size_t kEnergies = 400;
constexpr double kGood = 1e-6;

struct Reference {
  std::vector<double> energies;
  std::vector<double> magnitudes;
};

std::vector<double> plain_energies(const CellSystem& system) {
  std::vector<double> energies(POSE_TERMS * kEnergies);
  scalar::pose_energies(system.arguments<double>(kEnergies, 1, energies));
  return energies;
}

RootAccuracy compare(const Reference& reference, const std::vector<double>& energies) {
  double errors = 0;
  double squares = 0;
  RootAccuracy row;
  for (std::size_t i = 0; i < kEnergies; ++i) {
    const double error = energies[i] - reference.energies[i];
    errors += error * error;
    squares += reference.energies[i] * reference.energies[i];
    row.largest_error = std::max(row.largest_error, std::abs(error) / reference.magnitudes[i]);
  }
  row.rms_relative_error = std::sqrt(errors / squares);
  return row;
}

template <class Kernel>
RootAccuracy measure(const CellSystem& system, const Reference& reference, int steps,
                     Kernel&& kernel) {
  using Clock = std::chrono::steady_clock;
  constexpr int kRepetitions = 3;  // the least disturbed counts
  std::vector<double> energies(POSE_TERMS * kEnergies);
  double best = HUGE_VAL;
  for (int i = 0; i < kRepetitions; ++i) {
    const auto start = Clock::now();
    kernel(system.arguments<float>(kEnergies, steps, energies));
    best = std::min(best, seconds_since(start));
  }
  RootAccuracy row = compare(reference, energies);
  row.newton_steps = steps;
  row.nanoseconds_per_pair = 1e9 * best / (system.pairs() * static_cast<double>(kEnergies));
  return row;
}

}  // namespace

std::vector<RootAccuracy> measure_root_accuracy(std::uint64_t seed) {
  const CellSystem system(kParticles, kEnergies, seed, CellSystem::Places::apart);
  CellSystem magnitudes = system;
  magnitudes.take_magnitudes();
  const Reference reference{plain_energies(system), plain_energies(magnitudes)};
  std::vector<RootAccuracy> rows;
  for (const simd::InstructionSet& set : simd::instruction_sets()) {
    const simd::InstructionSetForced forced(set);
    for (const int steps : {0, 1, 2}) {
      rows.push_back(
          measure(system, reference, steps, [](const auto& a) { simd::pose_energies(a); }));
      rows.back().instruction_set = set.name;
    }
  }
  rows.push_back(measure(system, reference, 0, [](const auto& a) { scalar::pose_energies(a); }));
  rows.back().instruction_set = "plain";
  return rows;
}

int fewest_good_steps(const std::vector<RootAccuracy>& rows) {
  for (const int steps : {0, 1}) {
    const bool good = std::ranges::all_of(rows, [&](const RootAccuracy& row) {
      return row.instruction_set == "plain" || row.newton_steps != steps ||
             row.rms_relative_error <= kGood;
    });
    if (good) return steps;
  }
  return 2;
}

}  // namespace starpmc
