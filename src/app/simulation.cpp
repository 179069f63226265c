#include "app/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>
#include <vector>

#include "app/chain_count.hpp"
#include "app/run_warnings.hpp"
#include "base/checked_file.hpp"
#include "base/process_age.hpp"
#include "base/seconds_since.hpp"
#include "config/value_names.hpp"
#include "io/json_text.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/logging.hpp"
#include "qm/errors.hpp"
#include "qm/make_engine.hpp"
#include "runtime/schedule_bound.hpp"
#include "runtime/task_label.hpp"

namespace starpmc {

namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

std::string Simulation::how_to_go_on(const Ranks& ranks, const std::filesystem::path& folder) {
  return ranks.launched("starpmc resume " + folder.string());
}

Simulation::Simulation(Ranks& ranks, Inputs inputs, Begin begin, const std::string& how_to_go_on,
                       std::unique_ptr<RunEngines> engines)
    : ranks_(ranks),
      interruption_(ranks.first(), ranks.size() == 1 ? std::string() : how_to_go_on),
      inputs_(std::move(inputs)),
      begin_(begin),
      progress_(progress_of_ranks(ranks)),
      gate_(settings().sampling.until_error_kj_per_mol,
            [this] { return interruption_.requested(); }),
      exchange_(ranks, interruption_, progress_, gate_, how_to_go_on),
      context_{inputs_, interruption_, progress_, gate_, nullptr, input_fingerprint(inputs_)},
      engines_begun_earlier_(engines != nullptr && engines->threads().started() > 0),
      engines_(std::move(engines)) {
  try {
    check_inputs();
    start_starpu();  // while the engines start
    await_engines();
    open_folder();
    require_common_folder();
    start_logging();
  } catch (...) {
    engines_.reset();  // the threads end when their engines have started
    throw;
  }
}

/// QM programs may take half a second to end: all of them beside each other.
Simulation::~Simulation() {
  if (engines_) engines_->end();
  reference_.reset();  // waits for engines that are about to start
  std::vector<std::jthread> ending;
  for (const auto& chain : chains_) {
    if (chain != nullptr) ending.emplace_back([&chain] { chain->end_engine(); });
  }
}

std::filesystem::path Simulation::chain_path(unsigned number) const {
  const std::filesystem::path& folder = settings().output.folder;
  if (settings().sampling.chains == 1) return folder;
  return folder / OutputFolder::chain_name(number);
}

void Simulation::run_chain(ChainRun& chain) {
  if (begin_ != Begin::anew) chain.resume();
  const bool complete = chain.run();
  const std::lock_guard lock(mutex_);
  complete_ += complete ? 1 : 0;
}

/// The body of a chain's thread. One chain's failure stops the others at their checkpoints.
void Simulation::run_on_thread(unsigned index, std::future<std::unique_ptr<QmEngine>> engine) {
  try {
    const unsigned number = share_.first + index;
    const codelets::LabelledTasks label({static_cast<std::int32_t>(number)});
    auto chain =
        std::make_unique<ChainRun>(context_, number, ChainFolder(chain_path(number)), engine.get());
    ChainRun& running = *chain;
    {
      const std::lock_guard lock(mutex_);
      chains_[index] = std::move(chain);
    }
    run_chain(running);
  } catch (const Cancelled&) {
    // Interrupted while its engine started or took its state back: nothing has happened since.
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

void Simulation::add_chain() {
  {
    const std::lock_guard lock(mutex_);
    chains_.emplace_back();
  }
  engines_->threads().start();
}

/// Resident memory of a QM worker, once the first chain has made its first update; 0: none.
double Simulation::first_update_memory_mb() {
  std::optional<double> memory_mb;
  if (!engine_.exists || !ranks_.first()) return 0;
  folder_->chain_folder(0);
  run_threads();
  std::unique_lock lock(mutex_);
  const auto memory_is_known = [&] {
    if (chains_[0] != nullptr) memory_mb = chains_[0]->worker_memory_mb();
    return memory_mb || ended_ > 0;
  };
  while (!memory_is_known()) changed_.wait_for(lock, std::chrono::milliseconds(100));
  return memory_mb.value_or(0);
}

/// `--sampling.chains auto`: as many as all ranks together have cores or devices, and memory, for.
void Simulation::decide_chains() {
  const double memory_mb = ranks_.all(first_update_memory_mb()).front();
  const unsigned here = ranks_.on_this_host();
  // Ranks that are not bound to cores of their own each count all of them.
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency() / here);
  const unsigned own = automatic_chains(std::min(runtime_->cpu_workers(), cores),
                                        runtime_->working_devices(), memory_mb * here);
  std::vector<unsigned> counts;
  for (const nlohmann::json& count : ranks_.all(own)) counts.push_back(count);
  share_ = stated_share(counts, ranks_.rank());
  inputs_.settings.sampling.chains = std::accumulate(counts.begin(), counts.end(), 0U);
  // A resumed run takes the number from there; a single chain stays where auto has put it.
  if (settings().sampling.chains > 1 && ranks_.first()) save_settings();
  spdlog::info("{} chains", settings().sampling.chains);
}

void Simulation::make_chain_folders() {
  agree(ranks_, [this] {
    if (!ranks_.first() || settings().sampling.chains == 1) return;
    for (unsigned number = 0; number < settings().sampling.chains; ++number) {
      folder_->chain_folder(number);
    }
  });
}

void Simulation::run_chains() {
  try {
    start_chains();
  } catch (...) {
    // The first may be running (decide_chains()), and would to its end, or wait for the others.
    interruption_.request();
    engines_->threads().end();
    throw;
  }
  engines_->threads().join();
  exchange_.wait_for_all();
  progress_.finish();
  agree(ranks_, [this] {
    if (error_ != nullptr) std::rethrow_exception(error_);
  });
}

void Simulation::start_chains() {
  if (settings().sampling.chains == 0) decide_chains();
  make_chain_folders();
  gate_.set_chains(settings().sampling.chains);
  exchange_.start();
  while (engines_->threads().started() < share_.count) add_chain();
  run_threads();
}

void Simulation::run_threads() {
  engines_->threads().run(
      [this](unsigned index, auto engine) { run_on_thread(index, std::move(engine)); });
}

std::vector<TimelineWorker> Simulation::named_workers() const {
  std::vector<TimelineWorker> workers;
  for (const WorkerDescription& worker : runtime_->workers()) {
    const std::string rank = ranks_.size() == 1 ? "" : ranks_.name(ranks_.rank()) + ": ";
    workers.push_back({worker.id, rank + worker.name});
  }
  return workers;
}

/// The timeline is that of this session: an earlier one would tell of other tasks.
void Simulation::run_chains_traced() {
  agree(ranks_, [this] {
    if (ranks_.first()) remove_timeline(settings().output.folder);
  });
  std::optional<RunTrace> trace;
  if (settings().output.trace) trace.emplace(ranks_, settings().output.folder);
  const auto start = Clock::now();
  summary_.startup_seconds = process_age_seconds() - begun_seconds_;
  const codelets::WorkerTimes times;
  run_chains();
  summary_.wall_seconds = seconds_since(start);
  // A task's data can be read before it is counted and recorded. There may be tasks of a profile's
  // next image, too, which are no part of the run's time.
  StarpuRuntime::wait_for_tasks();
  worker_times_ = times.take();
  if (trace) trace->write(named_workers());
}

RankResults Simulation::own_results() const {
  RankResults results;
  results.complete = complete_;
  results.interrupting_signal = interruption_.signal();
  for (const auto& chain : chains_) {
    if (chain == nullptr) continue;
    results.steps += chain->step();
    results.restored_steps += chain->restored_step();
  }
  if (complete_ < chains_.size()) return results;
  for (const auto& chain : chains_) {
    results.chains.push_back(chain->summary());
    results.statistics.push_back(chain->energy_statistics());
    results.pressures.push_back(chain->pressure_statistics());
  }
  std::vector<std::pair<int, std::string>> workers;
  for (const TimelineWorker& worker : named_workers()) {
    workers.emplace_back(worker.id, worker.name);
  }
  add_worker_times(results, workers, worker_times_);
  const auto bound = codelets::schedule_bound(static_cast<unsigned>(chains_.size()));
  results.schedule.area_bound_seconds = bound.area_seconds;
  results.schedule.chain_bound_seconds = bound.chain_seconds;
  return results;
}

void Simulation::fill_ensemble() {
  summary_.total_energy = ensemble_of(results_.statistics);
  summary_.pressure_bar = ensemble_of(results_.pressures);
  summary_.until_error_kj_per_mol = settings().sampling.until_error_kj_per_mol;
  summary_.energy_known =
      gate_.active() && known_to_within(results_.statistics, summary_.until_error_kj_per_mol);
  summary_.equilibrations = equilibrations_of(results_.statistics);
  const std::vector<std::string> of_results = run_warnings(summary_);
  for (const std::string& warning : of_results) spdlog::warn("{}", warning);
  summary_.warnings.insert(summary_.warnings.begin(), inputs_.warnings.begin(),
                           inputs_.warnings.end());
  summary_.warnings.insert(summary_.warnings.end(), of_results.begin(), of_results.end());
}

void Simulation::fill_summary() {
  summary_.chains = results_.chains;
  summary_.codelet_timings = results_.codelet_timings;
  summary_.worker_tasks = results_.worker_tasks;
  summary_.schedule = results_.schedule;
  summary_.total_seconds = process_age_seconds() - begun_seconds_;
  summary_.steps_per_second =
      static_cast<double>(results_.steps - results_.restored_steps) / summary_.wall_seconds;
  summary_.title = inputs_.system.title;
  summary_.output_folder = settings().output.folder;
  summary_.seed = settings().sampling.seed;
  summary_.temperature_kelvin = settings().sampling.temperature_kelvin;
  summary_.precision = value_name(settings().run.precision);
  summary_.starpmc_version = STARPMC_VERSION;
  summary_.starpu_version = starpu_version();
  summary_.hdf5_version = hdf5_library_version();
  summary_.qm_engine = engine_.name;
  summary_.qm_engine_version = engine_.version;
  summary_.qm_device = engine_.device;
}

/// The next to last checkpoints go when the summary stands.
void Simulation::write_summary() {
  agree(ranks_, [this] {
    if (!ranks_.first()) return;
    fill_summary();
    fill_ensemble();
    write_file_atomically(folder_->file("summary.json"), json_text(nlohmann::json(summary_)));
  });
  for (const auto& chain : chains_) chain->remove_previous_checkpoint();
  spdlog::info("finished: {}", (settings().output.folder / "summary.json").string());
}

bool Simulation::run() {
  log_runtime();
  warn_of_shared_processors();
  warn_of_idle_processors();
  run_chains_traced();
  std::vector<RankResults> of_ranks;
  if (ranks_.size() == 1) {
    of_ranks.push_back(own_results());
  } else {
    for (const auto& state : ranks_.all(own_results().state())) {
      of_ranks.push_back(RankResults::from(state));
    }
  }
  results_ = merged(of_ranks);
  if (results_.complete < settings().sampling.chains) return false;
  write_summary();
  return true;
}

}  // namespace starpmc
