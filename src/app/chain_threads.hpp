#pragma once

#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "qm/engine.hpp"

namespace starpmc {

/// A thread for each chain. It starts its chain's QM engine at once, all beside each other and
/// beside what else a run prepares, and runs the chain when told to. An engine's process lives as
/// long as the thread that started it.
class ChainThreads {
 public:
  /// Makes an engine; null: the chains need none. Called on all threads at the same time.
  /// @param index   of the chain, in the order of starting
  /// @param spawned to be called when its process has been started
  using MakeEngine = std::function<std::unique_ptr<QmEngine>(unsigned index,
                                                             const std::function<void()>& spawned)>;
  /// A chain's run, with the engine or the reason why there is none; must not throw.
  using Run = std::function<void(unsigned index, std::future<std::unique_ptr<QmEngine>> engine)>;
  /// What an engine does before its chain runs.
  using Work = std::function<void(QmEngine& engine)>;

  explicit ChainThreads(MakeEngine make_engine);
  /// Chains that were not told to run end without it.
  ~ChainThreads();
  ChainThreads(const ChainThreads&) = delete;
  ChainThreads& operator=(const ChainThreads&) = delete;

  void start();
  unsigned started() const { return static_cast<unsigned>(threads_.size()); }

  /// Until the processes of all engines have been started, or could not be: they take a copy of the
  /// environment, which must not change meanwhile.
  void wait_for_processes();

  struct Engine {
    bool exists = false;
    std::string name;
    std::string version;
    std::string device;
    bool exact = false;  ///< QmEngine::serves_exact_ensemble()
  };
  /// Waits for the engine of the chain started first.
  /// @throws what making it threw
  Engine first_engine() const;
  /// Waits for all that have been started, and for the work they were lent to.
  /// @return whether none has failed
  bool wait_for_engines();

  /// Work for all engines there are, and those that are still starting, each on its thread; once,
  /// before the chains run. What it throws counts as a failure of the engine.
  void lend(Work work);
  /// Waits for all that have been lent, before the chains run: those that start later are not.
  void take_back();
  /// Whether the chains have been told to run or to leave.
  bool ordered();
  /// From here on all chains run, those started later too.
  void run(Run run);
  void join();
  /// The same, but chains that have not been told to run by now leave without it.
  void end();

 private:
  enum class Order { wait, run, leave };
  void body(unsigned index);
  void give(Order order, Run run = {});
  void work(QmEngine& engine) noexcept;
  void count(unsigned& of, bool failed);
  Order wait_for_order(bool lendable);

  MakeEngine make_engine_;
  std::mutex mutex_;  ///< of what follows but the threads
  std::condition_variable ordered_;
  Order order_ = Order::wait;
  Run run_;
  Work work_;              ///< that engines are lent to; empty: none
  unsigned returned_ = 0;  ///< from there
  unsigned spawned_ = 0;   ///< engines whose processes need not be waited for
  unsigned made_ = 0;      ///< or failed
  bool failed_ = false;
  std::promise<Engine> first_made_;
  std::shared_future<Engine> first_engine_{first_made_.get_future()};
  std::vector<std::thread> threads_;
};

}  // namespace starpmc
