// How fast mm_pair is with the user's functions beside the hand-tuned built-in ones: the same
// energies of the same window, one core, microseconds of CPU time a call. Each figure is the least
// of many rounds, the contestants taking turns.
#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <functional>

#include "two_systems.hpp"
#include "window_pipeline.hpp"

namespace starpmc::test {
namespace {

constexpr int kSteps = 64;

double cpu_microseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

/// Without Lennard-Jones terms.
TestSystem coulomb_alone(TestSystem system) {
  const auto first = static_cast<std::size_t>(topology_pair(system.shape, 0, 0));
  std::fill(system.reals.begin() + static_cast<std::ptrdiff_t>(first), system.reals.end(), 0.0);
  return system;
}

template <class Real>
class Contestant {
 public:
  Contestant(const char* name, const TestSystem& system)
      : name_(name), buffers_(system, kSteps, 2 * kSteps) {
    HostPipeline<SimdLevel>().propose(buffers_, step_range(17, kSteps));
  }
  void run() {
    constexpr int kRepeats = 5;
    const double start = cpu_microseconds();
    for (int i = 0; i < kRepeats; ++i) {
      simd::mm_pair(MmPairArguments<Real>{buffers_.window(), buffers_.lattice,
                                          buffers_.lattice_sites, buffers_.outside, 0,
                                          buffers_.system->shape.molecules, buffers_.mm_energies});
    }
    best_ = std::min(best_, (cpu_microseconds() - start) / kRepeats);
  }
  double best() const { return best_; }
  const char* name() const { return name_; }
  double energy() const { return buffers_.mm_energies.front(); }

 private:
  const char* name_;
  Buffers<Real> buffers_;
  double best_ = HUGE_VAL;
};

template <class Real>
void compare(const char* precision, const char* what, const TestSystem& system) {
  TwoSystems blocks(system);
  TwoSystems compiled_systems(system);
  prepare(compiled_systems.potential);
  Contestant<Real> contestants[] = {{"by hand", blocks.built_in},
                                    {"compiled", compiled_systems.user},
                                    {"block evaluator", blocks.user}};
  constexpr int kRounds = 100;
  for (int round = 0; round < kRounds; ++round) {
    for (auto& contestant : contestants) contestant.run();
  }
  for (const auto& contestant : contestants) {
    fmt::print("{:<6} {:<13} {:<16} {:9.1f} us, {:.3f} of hand-tuned, first energy {:.10g}\n",
               precision, what, contestant.name(), contestant.best(),
               contestant.best() / contestants[0].best(), contestant.energy());
  }
}

void compare_all() {
  SystemOptions options;
  options.edge = 25;
  options.coulomb_cutoff = 10;
  options.vdw_cutoff = 10;
  options.waters = 500;
  options.particles = 0;
  options.grid_points = 10;
  const TestSystem system = make_system(options);
  for (const bool both : {false, true}) {
    const TestSystem tested = both ? system : coulomb_alone(system);
    const char* const what = both ? "LJ + Coulomb" : "Coulomb";
    compare<double>("fp64", what, tested);
    compare<float>("mixed", what, tested);
    compare<FixedCoordinate>("fixed", what, tested);
  }
}

}  // namespace
}  // namespace starpmc::test

int main() { starpmc::test::compare_all(); }
