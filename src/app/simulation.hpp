#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/chain_run.hpp"
#include "app/chain_share.hpp"
#include "app/chain_threads.hpp"
#include "app/rank_exchange.hpp"
#include "app/rank_results.hpp"
#include "app/rank_terminal.hpp"
#include "app/run_engines.hpp"
#include "app/run_trace.hpp"
#include "mpi/ranks.hpp"
#include "qm/engine.hpp"
#include "runtime/starpu_runtime.hpp"

namespace starpmc {

enum class Begin {
  anew,
  at_checkpoints,
  with_more_steps  ///< at the checkpoints of a run, finished or not, that was begun with fewer
                   ///< steps
};

/// A signal came before there was anything to stop: the output folder is as it was.
struct StoppedAtStart {
  int signal;
};

/// A run: its chains, each on a thread of its own and dealt to the ranks, and what is said of all
/// of them. Every rank has one; rank 0 owns the output folder and speaks. All ranks call the
/// constructor and run().
class Simulation {
 public:
  /// Whatever can be wrong with the input or the machine is found before the output folder is
  /// touched.
  /// @param how_to_go_on the command, for messages
  /// @param engines      of its chains, begun earlier; null: it starts them
  /// @throws InputError, RunError; AgreedFailure where there are several ranks
  /// @throws StoppedAtStart at all ranks
  Simulation(Ranks& ranks, Inputs inputs, Begin begin, const std::string& how_to_go_on,
             std::unique_ptr<RunEngines> engines = nullptr);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Of a process that has done other things before: start-up and all seconds of the summary count
  /// from when it was so old.
  void count_seconds_from(double process_age_seconds) { begun_seconds_ = process_age_seconds; }
  /// @return whether all steps of all chains were made
  bool run();
  /// Called by a chain's thread as soon as the exact ensemble's reference is there, or else not; to
  /// be said before run().
  void when_reference_is_there(std::function<void()> call) {
    if (reference_) reference_->when_there(std::move(call));
  }
  /// QmEngine::device() of its engines, and what one of them needs; 0: it tells nothing.
  const std::string& qm_device() const { return engine_.device; }
  double qm_memory_mb() const { return forecast_memory_mb_; }
  /// Whether a device that is not a core takes part.
  bool has_device() const { return runtime_->opencl_workers() > 0; }
  Interruption& interruption() { return interruption_; }
  const RunSummary& summary() const { return summary_; }
  int interrupting_signal() const { return results_.interrupting_signal; }
  std::uint64_t steps_done() const { return results_.steps; }
  /// The command that does, of a run by itself.
  static std::string how_to_go_on(const Ranks& ranks, const std::filesystem::path& folder);

 private:
  /// StarPU-MPI, for as long as it lives.
  struct StarpuMembership {
    explicit StarpuMembership(Ranks& all) : ranks(all) {
      agree(ranks, [this] { ranks.join_starpu(); });
    }
    ~StarpuMembership() { ranks.leave_starpu(); }
    StarpuMembership(const StarpuMembership&) = delete;
    StarpuMembership& operator=(const StarpuMembership&) = delete;
    Ranks& ranks;
  };

  const Settings& settings() const { return inputs_.settings; }
  void check_inputs();
  void check_checkpoints() const;
  void start_starpu();
  void await_engines();
  void open_folder();
  void give_more_steps();
  void require_common_folder();
  void start_logging();
  void save_settings() const;
  void log_inputs() const;
  void log_runtime() const;
  void warn_of_shared_processors();
  void warn_of_idle_processors();
  void start_engines();
  void settle_ensemble();
  void stop_if_interrupted();
  void announce(const QmForecast& forecast);
  void run_threads();
  std::filesystem::path chain_path(unsigned number) const;
  void add_chain();
  void run_chain(ChainRun& chain);
  void run_on_thread(unsigned index, std::future<std::unique_ptr<QmEngine>> engine);
  void run_chains();
  void start_chains();
  void decide_chains();
  double first_update_memory_mb();
  void make_chain_folders();
  std::vector<TimelineWorker> named_workers() const;
  RankResults own_results() const;
  void run_chains_traced();
  void fill_summary();
  void fill_ensemble();
  void write_summary();

  Ranks& ranks_;
  Interruption interruption_;  ///< before all threads: they inherit its blocked signals
  Inputs inputs_;
  Begin begin_;
  std::optional<StarpuRuntime> runtime_;
  std::optional<StarpuMembership> starpu_membership_;
  std::unique_ptr<OutputFolder> folder_;  ///< null but at rank 0
  ProgressBoard progress_;
  StoppingGate gate_;
  RankExchange exchange_;
  std::optional<ForwardedLog> forwarded_log_;  ///< of the other ranks
  std::optional<RunReference> reference_;      ///< of the exact ensemble
  RunContext context_;
  RunSummary summary_;
  codelets::WorkerTimes::Counts worker_times_;
  RankResults results_;  ///< of all ranks
  std::atomic<double> forecast_memory_mb_ = 0;
  ChainThreads::Engine engine_;
  std::string ensemble_;    ///< which one is sampled and why, for the log
  std::string more_steps_;  ///< what has become of a run's number of steps, for the log
  ChainShare share_;        ///< of this rank

  mutable std::mutex mutex_;  ///< of what follows
  std::condition_variable changed_;
  std::string forecast_;  ///< of the engine, for the log; empty: it has told none yet
  std::vector<std::unique_ptr<ChainRun>> chains_;  ///< from share_.first on
  std::exception_ptr error_;
  unsigned ended_ = 0;
  unsigned complete_ = 0;

  double begun_seconds_ = 0;  ///< of the process' age
  bool engines_begun_earlier_;
  std::unique_ptr<RunEngines> engines_;  ///< last: their threads end before what they use does
};

}  // namespace starpmc
