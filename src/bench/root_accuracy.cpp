#include "bench/root_accuracy.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

#include "base/seconds_since.hpp"
#include "bench/pose_workload.hpp"
#include "config/value_names.hpp"
#include "kernels/operations.hpp"
#include "runtime/resting_workers.hpp"

namespace starpmc {
namespace {

constexpr std::size_t kParticles = 1000;
constexpr std::size_t kEnergies = 400;

struct Reference {
  std::vector<double> energies;
  std::vector<double> magnitudes;
};

std::vector<double> plain_energies(const PoseWorkload& workload) {
  std::vector<double> energies(POSE_TERMS * kEnergies);
  scalar::pose_energies(workload.arguments<double>(kEnergies, 1, energies));
  return energies;
}

template <class Kernel>
std::vector<Figure> measure(const PoseWorkload& workload, const Reference& reference, int steps,
                            Kernel&& kernel) {
  constexpr int repetitions = 3;  // the least disturbed counts
  std::vector<double> energies(POSE_TERMS * kEnergies);
  double best = HUGE_VAL;
  for (int i = 0; i < repetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    kernel(workload.arguments<float>(kEnergies, steps, energies));
    best = std::min(best, seconds_since(start));
  }
  double errors = 0;
  double squares = 0;
  double largest = 0;
  for (std::size_t i = 0; i < kEnergies; ++i) {
    const double error = energies[i] - reference.energies[i];
    errors += error * error;
    squares += reference.energies[i] * reference.energies[i];
    largest = std::max(largest, std::abs(error) / reference.magnitudes[i]);
  }
  return {
      {"rms_relative_error", std::sqrt(errors / squares)},
      {"largest_error_of_pairs", largest},
      {"nanoseconds_per_pair", 1e9 * best / (workload.pairs() * static_cast<double>(kEnergies))}};
}

BenchCase make_case(Implementation implementation, const std::string& device,
                    std::vector<Figure> figures) {
  return {"roots",           "", value_name(implementation), value_name(Precision::mixed), device,
          std::move(figures)};
}

}  // namespace

std::vector<BenchCase> measure_root_accuracy(std::uint64_t seed) {
  const PausedWorkers paused;
  const PoseWorkload workload(kParticles, kEnergies, seed);
  PoseWorkload magnitudes = workload;
  magnitudes.take_magnitudes();
  const Reference reference{plain_energies(workload), plain_energies(magnitudes)};
  std::vector<BenchCase> cases;
  for (const simd::InstructionSet& set : simd::instruction_sets()) {
    const simd::InstructionSetForced forced(set);
    for (const int steps : {0, 1, 2}) {
      cases.push_back(make_case(
          Implementation::simd, set.name,
          measure(workload, reference, steps, [](const auto& a) { simd::pose_energies(a); })));
      cases.back().figures.push_back({"newton_steps", static_cast<double>(steps)});
    }
  }
  cases.push_back(
      make_case(Implementation::scalar, "plain",
                measure(workload, reference, 0, [](const auto& a) { scalar::pose_energies(a); })));
  return cases;
}

}  // namespace starpmc
