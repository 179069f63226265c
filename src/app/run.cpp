#include "app/run.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/chain_count.hpp"
#include "app/chain_run.hpp"
#include "codelets/codelet.hpp"
#include "config/options.hpp"
#include "config/value_names.hpp"
#include "error.hpp"
#include "io/checked_file.hpp"
#include "io/log.hpp"
#include "qm/make_engine.hpp"
#include "runtime/starpu_runtime.hpp"

namespace starpmc {
namespace {

using Clock = std::chrono::steady_clock;

enum class Begin { anew, at_checkpoints };

/// A run: its chains, each on a thread of its own, and what is said of all of them.
class Simulation {
 public:
  /// Whatever can be wrong with the input or the machine is found before the output folder is
  /// touched.
  Simulation(Inputs inputs, Begin begin)
      : inputs_(std::move(inputs)),
        begin_(begin),
        first_engine_(start_first_engine()),
        runtime_(inputs_.settings.run.precision, inputs_.settings.run.implementation),
        folder_(begin == Begin::anew
                    ? OutputFolder(settings().output.folder, settings().output.overwrite)
                    : OutputFolder::resume(settings().output.folder)),
        progress_(Progress::to_standard_error()),
        gate_(settings().sampling.until_error_kj_per_mol,
              [this] { return interruption_.requested(); }),
        context_{inputs_, interruption_, progress_, gate_, input_fingerprint(inputs_)} {
    if (begin == Begin::anew) save_settings();
    const auto start_logging = begin == Begin::anew ? start_file_logging : resume_file_logging;
    start_logging(folder_.file("run.log"), settings().output.log_level);
    log_inputs();
  }
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// @return whether all steps were made
  bool run();
  const RunSummary& summary() const { return summary_; }
  int interrupting_signal() const { return interruption_.signal(); }
  std::uint64_t steps_done() const;

 private:
  const Settings& settings() const { return inputs_.settings; }
  std::unique_ptr<QmEngine> start_first_engine() const;
  std::unique_ptr<QmEngine> take_engine(unsigned chain);
  void save_settings() const;
  void log_inputs() const;
  void log_runtime() const;
  void start_chain(unsigned number);
  void run_chain(ChainRun& chain);
  void run_on_thread(unsigned number);
  void run_chains();
  void decide_chains();
  void fill_statistics();
  void fill_ensemble();
  void write_summary();

  Interruption interruption_;  ///< first: threads inherit its blocked signals
  Inputs inputs_;
  Begin begin_;
  std::unique_ptr<QmEngine> first_engine_;
  StarpuRuntime runtime_;
  OutputFolder folder_;
  ProgressBoard progress_;
  StoppingGate gate_;
  RunContext context_;
  RunSummary summary_;
  std::string engine_name_;
  std::string engine_version_;

  std::mutex mutex_;  ///< of what follows
  std::condition_variable changed_;
  std::vector<std::unique_ptr<ChainRun>> chains_;
  std::vector<std::thread> threads_;
  std::exception_ptr error_;
  unsigned ended_ = 0;
  unsigned complete_ = 0;
};

std::unique_ptr<QmEngine> Simulation::start_first_engine() const {
  if (begin_ == Begin::anew) {
    OutputFolder::check(settings().output.folder, settings().output.overwrite);
  }
  if (!inputs_.system.solute) return nullptr;
  return make_engine(settings().qm, *inputs_.system.solute, {});
}

/// Engines start on the threads of their chains, beside each other; the first one earlier.
std::unique_ptr<QmEngine> Simulation::take_engine(unsigned chain) {
  if (chain == 0) return std::move(first_engine_);
  if (!inputs_.system.solute) return nullptr;
  return make_engine(settings().qm, *inputs_.system.solute, {});
}

void Simulation::save_settings() const {
  write_file_atomically(folder_.file("settings.cfg"), settings_as_config(settings()));
}

void Simulation::log_inputs() const {
  const System& system = inputs_.system;
  spdlog::info("starpmc {}: {}", STARPMC_VERSION, inputs_.file);
  spdlog::info("{}: {} MM molecules{}, box {:.4f} x {:.4f} x {:.4f} A", system.title,
               system.molecules.size(),
               system.solute ? fmt::format(" around {} ({} atoms)", system.solute->name,
                                           system.solute->atom_count())
                             : "",
               system.box.lengths.x, system.box.lengths.y, system.box.lengths.z);
  if (first_engine_ != nullptr) {
    spdlog::info("QM engine: {} {}", first_engine_->name(), first_engine_->version());
  }
}

void Simulation::log_runtime() const {
  spdlog::info("StarPU {}, scheduler {}", starpu_version(), runtime_.scheduler());
  for (const WorkerDescription& worker : runtime_.workers()) {
    spdlog::info("worker {}: {}", worker.id, worker.name);
  }
  for (const std::string& warning : runtime_.warnings()) spdlog::warn(warning);
}

void Simulation::run_chain(ChainRun& chain) {
  if (begin_ == Begin::at_checkpoints) chain.resume();
  const bool complete = chain.run();
  const std::lock_guard lock(mutex_);
  complete_ += complete ? 1 : 0;
}

/// The body of a chain's thread. One chain's failure stops the others at their checkpoints.
void Simulation::run_on_thread(unsigned number) {
  try {
    const bool alone = settings().sampling.chains == 1;
    auto chain = std::make_unique<ChainRun>(
        context_, number, ChainFolder(alone ? folder_.path() : folder_.chain_folder(number)),
        take_engine(number));
    ChainRun& running = *chain;
    {
      const std::lock_guard lock(mutex_);
      chains_[number] = std::move(chain);
    }
    run_chain(running);
  } catch (...) {
    {
      const std::lock_guard lock(mutex_);
      if (error_ == nullptr) error_ = std::current_exception();
    }
    interruption_.request();
  }
  const std::lock_guard lock(mutex_);
  ++ended_;
  changed_.notify_all();
}

void Simulation::start_chain(unsigned number) {
  const std::lock_guard lock(mutex_);
  chains_.emplace_back();
  threads_.emplace_back([this, number] { run_on_thread(number); });
}

/// `--sampling.chains auto`: the first chain's first update tells how much memory each takes.
void Simulation::decide_chains() {
  double worker_memory_mb = 0;
  if (first_engine_ != nullptr) {
    start_chain(0);
    std::unique_lock lock(mutex_);
    const auto memory_is_known = [&] {
      if (chains_[0] != nullptr) worker_memory_mb = chains_[0]->worker_memory_mb();
      return worker_memory_mb > 0 || ended_ > 0;
    };
    while (!memory_is_known()) changed_.wait_for(lock, std::chrono::milliseconds(100));
  }
  inputs_.settings.sampling.chains =
      automatic_chains(runtime_.cpu_workers(), runtime_.opencl_workers(), worker_memory_mb);
  // A resumed run takes the number from there; a single chain stays where auto has put it.
  if (settings().sampling.chains > 1) save_settings();
  spdlog::info("{} chains", settings().sampling.chains);
}

void Simulation::run_chains() {
  engine_name_ = first_engine_ == nullptr ? "" : first_engine_->name();
  engine_version_ = first_engine_ == nullptr ? "" : first_engine_->version();
  if (settings().sampling.chains == 0) decide_chains();
  gate_.set_chains(settings().sampling.chains);
  for (auto number = static_cast<unsigned>(threads_.size()); number < settings().sampling.chains;
       ++number) {
    start_chain(number);
  }
  for (std::thread& thread : threads_) thread.join();
  progress_.finish();
  if (error_ != nullptr) std::rethrow_exception(error_);
}

void Simulation::fill_statistics() {
  const auto workers = runtime_.workers();
  summary_.worker_tasks.resize(workers.size());
  for (std::size_t w = 0; w < workers.size(); ++w)
    summary_.worker_tasks[w].worker = workers[w].name;
  for (const codelets::Codelet* codelet : codelets::Codelet::all()) {
    for (unsigned slot = 0; slot < codelets::kSlots; ++slot) {
      CodeletTiming timing{codelet->name(), codelets::implementation_name(slot), 0, 0};
      for (std::size_t w = 0; w < workers.size(); ++w) {
        const auto& counter =
            codelet->statistics().counters[slot][static_cast<std::size_t>(workers[w].id)];
        timing.count += counter.tasks;
        timing.total_seconds += 1e-9 * static_cast<double>(counter.nanoseconds.load());
        WorkerTasks& worker = summary_.worker_tasks[w];
        worker.tasks += counter.tasks;
        const double seconds = 1e-9 * static_cast<double>(counter.nanoseconds.load());
        (timing.codelet == "starpmc_qm_update" ? worker.qm_seconds : worker.sampling_seconds) +=
            seconds;
      }
      if (timing.count > 0) summary_.codelet_timings.push_back(timing);
    }
  }
}

void Simulation::fill_ensemble() {
  std::vector<ChainStatistics> statistics;
  for (const auto& chain : chains_) {
    statistics.push_back(chain->energy_statistics());
    summary_.chains.push_back(chain->summary());
  }
  summary_.total_energy = ensemble_of(statistics);
  summary_.until_error_kj_per_mol = settings().sampling.until_error_kj_per_mol;
  summary_.energy_known =
      gate_.active() && converged(summary_.total_energy, summary_.until_error_kj_per_mol);
  if (summary_.total_energy.r_hat > kPoorGelmanRubin) {
    spdlog::warn(
        "the chains have not mixed: R-hat of the total energy is {:.2f}, above {}; its error is "
        "not "
        "to be trusted, make more steps (sampling.steps, sampling.equilibration-steps)",
        summary_.total_energy.r_hat, kPoorGelmanRubin);
  }
}

void Simulation::write_summary() {
  double steps = 0;
  for (const ChainSummary& chain : summary_.chains) {
    steps += static_cast<double>(chain.steps + settings().sampling.equilibration_steps);
  }
  summary_.equilibration_steps = settings().sampling.equilibration_steps;
  summary_.steps_per_second = steps / summary_.wall_seconds;
  summary_.title = inputs_.system.title;
  summary_.output_folder = folder_.path();
  summary_.seed = settings().sampling.seed;
  summary_.precision = value_name(settings().run.precision);
  summary_.starpmc_version = STARPMC_VERSION;
  summary_.starpu_version = starpu_version();
  summary_.hdf5_version = hdf5_library_version();
  summary_.qm_engine = engine_name_;
  summary_.qm_engine_version = engine_version_;
  write_file_atomically(folder_.file("summary.json"), nlohmann::json(summary_).dump(2) + "\n");
  for (const auto& chain : chains_) chain->remove_checkpoints();
  spdlog::info("finished: {}", folder_.file("summary.json").string());
}

std::uint64_t Simulation::steps_done() const {
  std::uint64_t steps = 0;
  for (const auto& chain : chains_) steps += chain == nullptr ? 0 : chain->step();
  return steps;
}

bool Simulation::run() {
  const auto start = Clock::now();
  log_runtime();
  run_chains();
  if (complete_ < chains_.size()) return false;
  summary_.wall_seconds = std::chrono::duration<double>(Clock::now() - start).count();
  fill_statistics();
  fill_ensemble();
  write_summary();
  return true;
}

int simulate(Inputs inputs, Begin begin) {
  const std::filesystem::path folder = inputs.settings.output.folder;
  try {
    Simulation simulation(std::move(inputs), begin);
    if (simulation.run()) {
      stop_file_logging();
      std::cout << result_table(simulation.summary());
      return 0;
    }
    spdlog::info("stopped by a signal after {} steps", simulation.steps_done());
    stop_file_logging();
    std::cerr << fmt::format("starpmc: stopped after {} steps; go on with: starpmc resume {}\n",
                             simulation.steps_done(), folder.string());
    return 128 + simulation.interrupting_signal();
  } catch (const std::exception& error) {
    spdlog::info("stopped: {}", error.what());  // the log keeps the reason; main prints it
    stop_file_logging();
    throw;
  }
}

/// A resumed run is the same run: only where and how it runs may change.
void check_override(const std::string& word) {
  if (!word.starts_with("--")) return;
  for (const char* allowed :
       {"--run.", "--qm.python", "--qm.time-limit", "--qm.threads", "--qm.memory",
        "--qm.max-iterations", "--output.checkpoint-interval", "--output.log-level"}) {
    if (word.starts_with(allowed)) return;
  }
  throw InputError("command line", "this option may not change when a run is resumed", word,
                   "leave it out; options of [run], qm.python, qm.time-limit, qm.threads, qm.memory, "
                   "qm.max-iterations, output.checkpoint-interval and output.log-level may");
}

}  // namespace

int run_simulation(std::span<const std::string> arguments) {
  return simulate(read_inputs(arguments, "run"), Begin::anew);
}

int resume_simulation(std::span<const std::string> arguments) {
  if (arguments.empty() || arguments[0].starts_with("--")) {
    throw InputError("command line", "no output folder", arguments.empty() ? "" : arguments[0],
                     "write: starpmc resume FOLDER, the output folder of the run");
  }
  const std::filesystem::path folder = arguments[0];
  for (const std::string& word : arguments.subspan(1)) check_override(word);
  OutputFolder::resume(folder);  // finds out whether it can be, and closes it
  std::vector<std::string> words{(folder / "settings.cfg").string()};
  words.insert(words.end(), arguments.begin() + 1, arguments.end());
  words.insert(words.end(), {"--output.folder", std::filesystem::absolute(folder).string()});
  return simulate(read_inputs(words, "resume"), Begin::at_checkpoints);
}

}  // namespace starpmc
