/// Run by hand: a step with a fixed reference against one in the pure solvent, on one core.
///     reference_benchmark [preset of starpmc bench]
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "artificial_reference.hpp"
#include "bench/bench_system.hpp"
#include "runtime/starpu_runtime.hpp"
#include "sampling/chain.hpp"
#include "sampling/reference_tables.hpp"

namespace starpmc {
namespace {

class Nothing final : public ChainObserver {
 public:
  void on_step(std::uint64_t, bool, const EnergyTerms&) override {}
  void on_frame(std::uint64_t, std::span<const Molecule>) override {}
};

/// Of several chains in turn, microseconds a step: each the best of its rounds.
class Race {
 public:
  void add(const char* name, std::unique_ptr<Chain> chain) {
    chain->evaluate();
    runners_.push_back({name, std::move(chain)});
  }
  void run() {
    constexpr int kRounds = 7;
    constexpr std::uint64_t kSteps = 40000;
    for (int round = 0; round < kRounds; ++round) {
      for (Runner& runner : runners_) {
        Nothing nothing;
        const auto start = std::chrono::steady_clock::now();
        runner.chain->run({runner.step, kSteps}, nothing);
        runner.step += kSteps;
        const std::chrono::duration<double, std::micro> time =
            std::chrono::steady_clock::now() - start;
        runner.best = std::min(runner.best, time.count() / static_cast<double>(kSteps));
      }
    }
    for (const Runner& runner : runners_) {
      std::printf("%-24s %7.2f us/step  %5.2f\n", runner.name, runner.best,
                  runner.best / runners_.front().best);
    }
  }

 private:
  struct Runner {
    const char* name;
    std::unique_ptr<Chain> chain;
    std::uint64_t step = 0;
    double best = 1e9;
  };
  std::vector<Runner> runners_;
};

void race(const BenchPreset& preset) {
  BenchSystem bench = make_bench_system(preset, {});
  bench.settings.run.tasks = TaskSize::windows;
  System solvent = bench.system;
  solvent.solute.reset();
  Vector3 centre;
  for (const Vector3& r : bench.system.solute->positions) {
    centre = centre + (1.0 / static_cast<double>(bench.system.solute->atom_count())) * r;
  }
  const StarpuRuntime runtime(bench.settings.run.precision, Implementation::simd);
  Race all;
  all.add("pure solvent", make_chain(solvent, bench.settings, 0));
  for (const auto& [name, components] :
       {std::pair{"reference", 0}, std::pair{"with 32 components", 32},
        std::pair{"with 96 components", 96}}) {
    auto chain = make_chain(bench.system, bench.settings, 0);
    chain->set_reference(std::make_shared<const ReferenceTables>(
        test::artificial_solute_reference(components, centre, bench.system.box, 6.5)));
    all.add(name, std::move(chain));
  }
  all.run();
}

}  // namespace
}  // namespace starpmc

int main(int count, char** words) {
  setenv("STARPU_NCPU", "1", 1);
  setenv("STARPU_NOPENCL", "0", 1);
  const std::string_view wanted = count > 1 ? words[1] : "R";
  for (const starpmc::BenchPreset& preset : starpmc::bench_presets()) {
    if (preset.key != wanted) continue;
    starpmc::race(preset);
    return 0;
  }
  return 2;
}
