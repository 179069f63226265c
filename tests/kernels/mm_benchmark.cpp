// How fast mm_pair, mm_pair_table and the grid term are with the user's functions beside the
// hand-tuned built-in ones: the same energies of the same window, one core, microseconds of CPU
// time a call. Each figure is the least of many rounds, the contestants taking turns.
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

/// Operations of a window.
enum class What { mm_pair, mm_pair_table, grid };
constexpr const char* kNames[] = {"mm_pair", "mm_pair_table", "grid"};

template <class Real>
class Contestant {
 public:
  Contestant(const char* name, const TestSystem& system)
      : name_(name), buffers_(system, kSteps, 2 * kSteps) {
    HostPipeline<SimdLevel>().propose(buffers_, step_range(17, kSteps));
  }
  void run(What what) {
    constexpr int kRepeats = 3;
    const double start = cpu_microseconds();
    for (int i = 0; i < kRepeats; ++i) call(what);
    double& best = best_[static_cast<std::size_t>(what)];
    best = std::min(best, (cpu_microseconds() - start) / kRepeats);
  }
  double best(What what) const { return best_[static_cast<std::size_t>(what)]; }
  const char* name() const { return name_; }

 private:
  void call(What what) {
    Buffers<Real>& b = buffers_;
    switch (what) {
      case What::mm_pair:
        return simd::mm_pair(MmPairArguments<Real>{b.window(), b.lattice, b.lattice_sites,
                                                   b.outside, 0, b.system->shape.molecules,
                                                   b.mm_energies});
      case What::mm_pair_table:
        return simd::mm_pair_table(MmPairTableArguments<Real>{b.window(), b.table});
      case What::grid:
        return simd::qmmm_coulomb_grid(
            CoulombGridArguments<Real>{b.window(), b.system->blocks, b.points, b.grid_energies});
    }
  }

  const char* name_;
  Buffers<Real> buffers_;
  double best_[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL};
};

template <class Real>
void compare(const char* precision, const char* terms, const TestSystem& system) {
  TwoSystems blocks(system);
  TwoSystems compiled_systems(system);
  prepare(compiled_systems.potential);
  Contestant<Real> contestants[] = {{"by hand", blocks.built_in},
                                    {"compiled", compiled_systems.user},
                                    {"block evaluator", blocks.user}};
  constexpr int kRounds = 100;
  for (const What what : {What::mm_pair, What::mm_pair_table, What::grid}) {
    for (int round = 0; round < kRounds; ++round) {
      for (auto& contestant : contestants) contestant.run(what);
    }
    for (const auto& contestant : contestants) {
      fmt::print("{:<6} {:<13} {:<14} {:<16} {:9.1f} us, {:.3f} of hand-tuned\n", precision, terms,
                 kNames[static_cast<std::size_t>(what)], contestant.name(), contestant.best(what),
                 contestant.best(what) / contestants[0].best(what));
    }
  }
}

void compare_all() {
  SystemOptions options;
  options.edge = 25;
  options.coulomb_cutoff = 10;
  options.vdw_cutoff = 10;
  options.waters = 500;
  options.particles = 0;
  options.grid_points = 20000;
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
