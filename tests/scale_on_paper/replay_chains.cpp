// Chains of a benchmark system on a machine that SimGrid simulates: the program's own graph of
// tasks (src/sampling, codelets), scheduled by StarPU, in simulated time. The result goes to
// standard output as JSON.
//
// Nothing computes: a task takes as long as the performance models say, a transfer as long as the
// platform's links need, a QM update as long as the command line says. The work that a chain's own
// thread does is charged to the host MAIN, the core that the program leaves to these threads.
#include <simgrid/actor.h>
#include <starpu.h>

#include <boost/program_options.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "bench/bench_system.hpp"
#include "codelets/operations.hpp"
#include "kernels/base/error.hpp"
#include "sampling/chain.hpp"

namespace starpmc {
namespace {

/// What is replayed, and what no model tells.
struct Replay {
  std::string system;
  unsigned chains;
  unsigned updates;                ///< of each chain; 0: steps with the density it begins with
  std::uint64_t interval;          ///< steps between updates
  double update_seconds;           ///< of the QM program
  double first_update_seconds;     ///< its first
  std::size_t quadrature;          ///< points the QM program asks the potential for
  double host_seconds_per_step;    ///< windows planned, records read, averages
  double host_seconds_per_update;  ///< blocks of the new grid made, checkpoints written
};

double simulated_seconds() { return starpu_timing_now() * 1e-6; }

/// Work of the calling thread on the host it runs on, which it shares with the other chains'.
void work_on_host(double seconds) {
  if (seconds > 0) sg_actor_execute(seconds * sg_host_get_speed(sg_host_self()));
}

/// A QM program that takes its time, and nothing else.
class SleepingEngine final : public QmEngine {
 public:
  SleepingEngine(const Replay& replay, const DensityGrid& density) : replay_(replay) {
    result_.grid = density;
    for (auto axis : {&DensityGrid::x, &DensityGrid::y, &DensityGrid::z}) {
      quadrature_.*axis = density.*axis;
      (quadrature_.*axis).resize(std::min(replay.quadrature, density.size()));
    }
  }
  const DensityGrid& quadrature_points() const override { return quadrature_; }
  QmResult update(std::span<const double>, std::span<const double>, const PointCharges&) override {
    const double seconds = started_ ? replay_.update_seconds : replay_.first_update_seconds;
    started_ = true;
    starpu_sleep(static_cast<float>(seconds));
    spent_seconds_ += seconds;
    return result_;
  }
  std::string name() const override { return "sleeping"; }
  std::string version() const override { return "1"; }
  double spent_seconds() const { return spent_seconds_; }

 private:
  const Replay& replay_;
  DensityGrid quadrature_;
  QmResult result_;
  bool started_ = false;
  double spent_seconds_ = 0;
};

/// Charges the chain's thread for the steps it is told of.
class ChargingObserver final : public ChainObserver {
 public:
  explicit ChargingObserver(double seconds_per_step) : seconds_per_step_(seconds_per_step) {}
  void on_step(std::uint64_t, bool, const EnergyTerms&) override {
    if (++steps_ % kStepsAtOnce == 0) work_on_host(kStepsAtOnce * seconds_per_step_);
  }
  void on_frame(std::uint64_t, std::span<const Molecule>) override {}

 private:
  static constexpr unsigned kStepsAtOnce = 500;
  double seconds_per_step_;
  std::uint64_t steps_ = 0;
};

/// A chain as ChainRun drives it, without files.
class ReplayedChain {
 public:
  ReplayedChain(const BenchSystem& bench, const Settings& settings, const Replay& replay,
                unsigned number)
      : replay_(replay),
        density_(bench.grid),
        chain_(make_chain(bench.system, settings, number, settings.sampling.chains)),
        engine_(replay, bench.grid),
        observer_(replay.host_seconds_per_step) {}

  /// For steps without updates.
  void set_density() { chain_->set_density(density_); }
  void evaluate() { chain_->evaluate(); }

  void run() {
    begin_ = simulated_seconds();
    if (replay_.updates == 0) sample();
    for (unsigned update = 0; update < replay_.updates; ++update) {
      if (update > 0) chain_->evaluate();  // what has drifted
      // The first cycle, which all chains begin at once, is no measure of the later ones.
      if (update == 1) begin_ = simulated_seconds();
      const QmResult result = chain_->update_density(engine_);
      work_on_host(replay_.host_seconds_per_update);
      chain_->set_density(result.grid);
      chain_->evaluate();
      sample();
    }
    end_ = simulated_seconds();
  }

  double begin() const { return begin_; }
  double end() const { return end_; }
  double sampling_seconds() const { return sampling_seconds_; }
  double engine_seconds() const { return engine_.spent_seconds(); }

 private:
  void sample() {
    const double start = simulated_seconds();
    chain_->run({step_, replay_.interval, 0, 0}, observer_);
    step_ += replay_.interval;
    sampling_seconds_ += simulated_seconds() - start;
  }

  const Replay& replay_;
  const DensityGrid& density_;
  std::unique_ptr<Chain> chain_;
  SleepingEngine engine_;
  ChargingObserver observer_;
  std::uint64_t step_ = 0;
  double begin_ = 0;
  double end_ = 0;
  double sampling_seconds_ = 0;
};

using ReplayedChains = std::vector<std::unique_ptr<ReplayedChain>>;

/// As `starpmc bench --implementation opencl` does it: what it measured is what this is held
/// against.
void begin_without_updates(ReplayedChains& chains) {
  codelets::allow(codelets::Allowed::opencl);
  for (const auto& chain : chains) chain->set_density();
  codelets::allow(codelets::Allowed::simd);
  for (const auto& chain : chains) chain->evaluate();
  codelets::allow(codelets::Allowed::opencl);
}

/// Chains on simulated threads, all on MAIN.
void run_at_once(ReplayedChains& chains) {
  std::vector<starpu_pthread_t> threads(chains.size());
  const auto body = [](void* chain) -> void* {
    static_cast<ReplayedChain*>(chain)->run();
    return nullptr;
  };
  for (std::size_t i = 0; i < chains.size(); ++i) {
    starpu_pthread_create_on("chain", &threads[i], nullptr, body, chains[i].get(), nullptr);
  }
  for (const starpu_pthread_t thread : threads) starpu_pthread_join(thread, nullptr);
}

/// SimGrid's threads take turns on one: who waits for StarPU while it holds a std::mutex blocks
/// all. So the models are read before there are threads.
void read_models() {
  for (const char* operation :
       {"sample_windows", "propose_moves", "qmmm_coulomb_grid", "qmmm_coulomb_grid_reduce",
        "qmmm_nuclei_vdw", "mm_pair", "mm_pair_table", "mm_pair_reduce", "metropolis_decide",
        "grid_potential"}) {
    codelets::expected_milliseconds(codelets::codelet_name<float>(operation), 1);
  }
  codelets::expected_milliseconds("starpmc_qm_update", 1);
}

/// Seconds in tasks of each worker.
std::vector<double> seconds_of_workers() {
  std::vector<double> seconds(starpu_worker_get_count());
  for (const codelets::Codelet* codelet : codelets::Codelet::all()) {
    for (const auto& slot : codelet->statistics().counters) {
      for (std::size_t worker = 0; worker < seconds.size(); ++worker) {
        seconds[worker] += 1e-9 * static_cast<double>(slot[worker].nanoseconds.load());
      }
    }
  }
  return seconds;
}

/// Seconds in tasks of each kind of worker, by codelet.
nlohmann::json busy_seconds() {
  nlohmann::json busy = {{"cpu", nlohmann::json::object()}, {"opencl", nlohmann::json::object()}};
  for (const codelets::Codelet* codelet : codelets::Codelet::all()) {
    for (unsigned slot = 0; slot < codelets::kSlots; ++slot) {
      double seconds = 0;
      for (const auto& counter : codelet->statistics().counters[slot]) {
        seconds += 1e-9 * static_cast<double>(counter.nanoseconds.load());
      }
      if (seconds == 0) continue;
      const char* const kind = slot == codelets::kOpenclSlot ? "opencl" : "cpu";
      busy[kind][codelet->name()] = busy[kind].value(codelet->name(), 0.0) + seconds;
    }
  }
  return busy;
}

nlohmann::json simulate(const BenchSystem& bench, const Replay& replay) {
  starpu_conf conf;
  starpu_conf_init(&conf);
  if (starpu_init(&conf) != 0) throw RunError("StarPU does not start");
  starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
  read_models();
  Settings settings = bench.settings;
  settings.sampling.chains = replay.chains;
  nlohmann::json result;
  {
    ReplayedChains chains;
    for (unsigned i = 0; i < replay.chains; ++i) {
      chains.push_back(std::make_unique<ReplayedChain>(bench, settings, replay, i));
    }
    if (replay.updates == 0) begin_without_updates(chains);
    run_at_once(chains);
    starpu_task_wait_for_all();
    result = {{"simulated_seconds", simulated_seconds()},
              {"cpu_workers", starpu_cpu_worker_get_count()},
              {"opencl_workers", starpu_opencl_worker_get_count()},
              {"busy_seconds", busy_seconds()},
              {"worker_seconds", seconds_of_workers()},
              {"chains", nlohmann::json::array()}};
    for (const auto& chain : chains) {
      result["chains"].push_back({{"begin", chain->begin()},
                                  {"end", chain->end()},
                                  {"sampling", chain->sampling_seconds()},
                                  {"engine", chain->engine_seconds()}});
    }
  }
  starpu_shutdown();
  return result;
}

const BenchPreset& preset_of(const std::string& key) {
  for (const BenchPreset& preset : bench_presets()) {
    if (preset.key == key) return preset;
  }
  throw InputError("--system", "there is no such benchmark system", key,
                   "see starpmc bench --help");
}

Replay read_command_line(int argc, char** argv) {
  namespace options = boost::program_options;
  Replay replay;
  options::options_description known("replay_chains: see tests/scale_on_paper/README.md");
  const auto add = [&known](const char* name, auto* value, const char* meaning) {
    known.add_options()(name, options::value(value)->required(), meaning);
  };
  add("system", &replay.system, "of starpmc bench");
  add("chains", &replay.chains, "chains");
  add("updates", &replay.updates, "QM updates of each chain; 0: none, one interval of steps");
  add("interval", &replay.interval, "steps between updates");
  add("update-seconds", &replay.update_seconds, "duration of an update by the QM program");
  add("first-update-seconds", &replay.first_update_seconds, "duration of a chain's first");
  add("quadrature", &replay.quadrature, "points it asks the potential for");
  add("host-seconds-per-step", &replay.host_seconds_per_step, "work of a chain's own thread");
  add("host-seconds-per-update", &replay.host_seconds_per_update, "the same at an update");
  options::variables_map values;
  options::store(options::parse_command_line(argc, argv, known), values);
  options::notify(values);
  return replay;
}

}  // namespace
}  // namespace starpmc

int main(int argc, char** argv) {
  try {
    const starpmc::Replay replay = starpmc::read_command_line(argc, argv);
    const starpmc::BenchSystem bench =
        starpmc::make_bench_system(starpmc::preset_of(replay.system), {});
    std::cout << starpmc::simulate(bench, replay).dump() << '\n';
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "replay_chains: " << error.what() << '\n';
    return 1;
  }
}
