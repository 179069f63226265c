// What a simulation does before its chains start: stages that all ranks pass, or none.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/chain_count.hpp"
#include "app/common_files.hpp"
#include "app/idle_processors.hpp"
#include "app/qm_forecast.hpp"
#include "app/resume_point.hpp"
#include "app/simulation.hpp"
#include "base/checked_file.hpp"
#include "base/free_memory.hpp"
#include "base/processors.hpp"
#include "config/options.hpp"
#include "io/log.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/logging.hpp"
#include "mpi/launch.hpp"
#include "qm/errors.hpp"
#include "qm/make_engine.hpp"
#include "qm/shared_device.hpp"
#include "runtime/resting_workers.hpp"

namespace starpmc {
void Simulation::check_inputs() {
  agree(ranks_, [this] {
    const unsigned chains = settings().sampling.chains;
    require_chains_for_all(ranks_, chains);
    if (begin_ == Begin::anew && ranks_.first()) {
      OutputFolder::check(settings().output.folder, settings().output.overwrite,
                          input_paths(settings()));
    }
    share_ = chains == 0 ? ChainShare{0, 1} : equal_share(chains, ranks_.rank(), ranks_.size());
    if (begin_ != Begin::anew) check_checkpoints();
    start_engines();
  });
}

void Simulation::await_engines() {
  agree(ranks_, [this] {
    try {
      const PausedWorkers paused;  // they would poll on the cores on which the engines start
      engine_ = engines_->threads().first_engine();
    } catch (const Cancelled&) {
      engine_ = {};  // stop_if_interrupted() comes next
      return;
    }
    settle_ensemble();
    if (!samples_exactly(inputs_)) return;
    reference_.emplace(inputs_, interruption_, ranks_.first(),
                       engines_->helpers(context_.chains_here));
    RunReference::check(inputs_, begin_ != Begin::anew);
    context_.reference = &*reference_;
  });
  stop_if_interrupted();
  const nlohmann::json expected = ranks_.all(context_.fingerprint).front();
  agree(ranks_, [&] {
    if (context_.fingerprint == expected.get<InputFingerprint>()) return;
    throw InputError(inputs_.file, "reads otherwise here than at rank 0", "",
                     "give all processes the same input files, on a file system they share");
  });
}

/// Before anything is started or written: a run that cannot go on leaves its folder as it was.
void Simulation::check_checkpoints() const {
  for (unsigned number = share_.first; number < share_.first + share_.count; ++number) {
    check_resume_point({number, ChainFolder(chain_path(number))}, context_.fingerprint, inputs_);
  }
}

/// The engines of all chains start beside each other; what is wrong with one is wrong with the
/// first. With `--sampling.chains auto` only one chain is certain as yet.
void Simulation::start_engines() {
  const unsigned chains = settings().sampling.chains;
  context_.chains_here = chains == 0 ? 0 : share_.count;
  // All chains, also those of processes on other hosts: how a run is dealt out is no part of it.
  const unsigned users = chains == 0 ? std::max(1U, std::thread::hardware_concurrency())
                                     : qm_workers(settings().qm, share_.count) * ranks_.size();
  if (engines_ == nullptr) {
    engines_ = std::make_unique<RunEngines>(inputs_, context_.chains_here, users);
  }
  chains_.resize(engines_->threads().started());
  engines_->hear_forecast([this](const QmForecast& forecast) { announce(forecast); });
  interruption_.on_request([cancel = engines_->cancel_signal()] { cancel->raise(); });
  while (engines_->threads().started() < share_.count) add_chain();
  engines_->threads().wait_for_processes();
}

/// settings.cfg and the checkpoints have what it comes to: resumed, the run goes on as it began.
void Simulation::settle_ensemble() {
  const Ensemble asked = settings().sampling.ensemble;
  ensemble_ = starpmc::settle_ensemble(
      inputs_, engine_.exists ? engine_.name : settings().qm.engine, engine_.exact);
  if (settings().sampling.ensemble != asked) context_.fingerprint = input_fingerprint(inputs_);
}

/// Once, by a chain's thread before its SCF: there is no log file yet, so a warning goes to the
/// terminal now and into the log with the other inputs.
void Simulation::announce(const QmForecast& forecast) {
  const std::string text = describe(forecast, settings());
  {
    const std::lock_guard lock(mutex_);
    forecast_ = text;
  }
  forecast_memory_mb_ = forecast.memory_mb;
  if (ranks_.first() && is_large(forecast, settings(), free_memory_mb())) {
    spdlog::warn(
        "{}; Ctrl-C ends it at any time, a smaller basis or a larger qm.interval makes it shorter",
        text);
  }
  if (ranks_.first() && !forecast.repeatable) spdlog::warn(why_unrepeatable(settings()));
}

void Simulation::stop_if_interrupted() {
  for (const int signal : ranks_.all(interruption_.signal())) {
    if (signal != 0) throw StoppedAtStart{signal};
  }
}

/// Rank 0 first: what StarPU measures of a machine, and the performance models that it finds, may
/// lie in one folder for all.
void Simulation::start_starpu() {
  agree_first_before_others(ranks_, [this] {
    runtime_.emplace(settings().run.precision, settings().run.implementation, inputs_.functions);
  });
  starpu_membership_.emplace(ranks_);
}

void Simulation::open_folder() {
  agree(ranks_, [this] {
    if (!ranks_.first()) return;
    const std::filesystem::path& path = settings().output.folder;
    if (begin_ == Begin::anew) {
      folder_ = std::make_unique<OutputFolder>(path, settings().output.overwrite);
      save_settings();
    } else {
      const bool more_steps = begin_ == Begin::with_more_steps;
      const auto which = more_steps ? RunState::any : RunState::unfinished;
      folder_.reset(new OutputFolder(OutputFolder::resume(path, which)));  // it cannot be moved
      folder_->remove_temporary_files();
      if (more_steps) give_more_steps();
    }
  });
}

/// The summary goes first: without it the run is one to resume, with however many steps.
void Simulation::give_more_steps() {
  const std::filesystem::path aside = set_aside(folder_->file("summary.json"));
  save_settings();
  more_steps_ = fmt::format("{} steps of production from now on", settings().sampling.steps);
  if (aside.empty()) return;
  more_steps_ += fmt::format("; the summary of fewer is now {}", aside.filename().string());
}

/// The ranks see one folder, not one of the same name on each node.
void Simulation::require_common_folder() {
  await_common_files(ranks_, std::array{settings().output.folder / "settings.cfg"});
}

void Simulation::start_logging() {
  agree(ranks_, [this] {
    const std::string& level = settings().output.log_level;
    if (!ranks_.first()) {
      forwarded_log_.emplace(
          level, [this](int severity, const std::string& text) { exchange_.log(severity, text); });
      return;
    }
    const auto start = begin_ == Begin::anew ? start_file_logging : resume_file_logging;
    start(folder_->file("run.log"), level);
    log_inputs();
  });
}

void Simulation::save_settings() const {
  write_file_atomically(folder_->file("settings.cfg"), settings_as_config(settings()));
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
  if (!more_steps_.empty()) spdlog::info("{}", more_steps_);
  for (const std::string& note : system.notes) spdlog::info(note);
  for (const std::string& warning : inputs_.warnings) spdlog::warn(warning);
  if (engine_.exists) spdlog::info("QM engine: {} {}", engine_.name, engine_.version);
  if (const std::lock_guard lock(mutex_); !forecast_.empty()) spdlog::info("{}", forecast_);
  if (!ensemble_.empty()) spdlog::info("{}", ensemble_);
  for (unsigned rank = 0; ranks_.size() > 1 && rank < ranks_.size(); ++rank) {
    spdlog::info("process {} of {}: {}", rank + 1, ranks_.size(), ranks_.name(rank));
  }
}

/// Two workers on one processor slow each other; within a run of tasks even one that waits polls.
void Simulation::warn_of_shared_processors() {
  if (ranks_.size() == 1) return;
  std::map<std::pair<std::string, unsigned>, unsigned> owners;
  const auto of_ranks = ranks_.all(runtime_->processors());
  for (unsigned rank = 0; ranks_.first() && rank < ranks_.size(); ++rank) {
    for (const auto& processor : of_ranks[rank]) {
      const auto [owner, is_new] = owners.try_emplace({ranks_.hosts()[rank], processor}, rank);
      if (is_new || owner->second == rank) continue;
      spdlog::warn(
          "{} and {} share processors, which slows both; start one process per node (mpirun "
          "--map-by ppr:1:node --bind-to none), or give each its own cores (--map-by slot:PE=N)",
          ranks_.name(owner->second), ranks_.name(rank));
      return;
    }
  }
}

/// Under mpirun, which binds to one core unless told otherwise; srun's is the user's own demand.
void Simulation::warn_of_idle_processors() {
  if (ranks_.size() == 1) return;
  // StarPU has bound this thread, and the launcher is not bound as its ranks are.
  const bool by_mpirun = launch_of_this_process().launcher == "mpirun";
  const auto of_ranks = ranks_.all({
      {"own", processors_at_start().numbers()},
      {"of_launcher", by_mpirun ? Processors::of_process(getppid()).numbers().size() : 0},
  });
  if (!ranks_.first()) return;
  std::vector<RankProcessors> ranks;
  for (unsigned rank = 0; rank < ranks_.size(); ++rank) {
    const auto& found = of_ranks[rank];
    ranks.push_back({ranks_.hosts()[rank], found.at("own").get<std::vector<int>>(),
                     found.at("of_launcher").get<std::size_t>()});
  }
  if (const auto warning = idle_processors_warning(ranks)) {
    spdlog::warn("{}", *warning);
    summary_.warnings.push_back(*warning);
  }
}

void Simulation::log_runtime() const {
  spdlog::info("StarPU {}, scheduler {}", starpu_version(), runtime_->scheduler());
  if (!engine_.device.empty()) {
    spdlog::info("QM engine {} {}, its SCF on: {}", engine_.name, engine_.version, engine_.device);
  }
  if (const std::string text = engines_->device_server(); is_gpu(engine_.device) && !text.empty()) {
    spdlog::info("{}", text);
  }
  if (engines_begun_earlier_) spdlog::info("QM workers were started before this run was");
  for (const WorkerDescription& worker : runtime_->workers()) {
    spdlog::info("worker {}: {}", worker.id, worker.name);
  }
  for (const std::string& note : runtime_->notes()) spdlog::info(note);
  for (const std::string& warning : runtime_->warnings()) spdlog::warn(warning);
}

}  // namespace starpmc
