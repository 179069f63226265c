#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "app/chain_threads.hpp"
#include "app/inputs.hpp"
#include "app/run_reference.hpp"
#include "qm/cancel_signal.hpp"
#include "qm/device_server.hpp"
#include "qm/engine_pool.hpp"
#include "qm/make_engine.hpp"
#include "qm/shared_device.hpp"

namespace starpmc {

/// The QM engines of a run's chains, on the threads that will run these. They can be started before
/// there is anything else of the run, while another one samples.
class RunEngines {
 public:
  using ForecastHeard = std::function<void(const QmForecast&)>;

  /// @param chains of this process, which may have fewer engines (qm_workers()); 0: not known
  /// @param users  of a GPU: the engines of the run, also those of processes on other hosts
  /// @param idle   where their workers come from and go to; null: they are started and end
  /// @param server behind which they use a GPU; null: one of their own, where it is of use
  RunEngines(const Inputs& inputs, unsigned chains, unsigned users,
             std::shared_ptr<IdleWorkers> idle = nullptr,
             std::shared_ptr<DeviceServer> server = nullptr);
  ~RunEngines() { end(); }
  RunEngines(const RunEngines&) = delete;
  RunEngines& operator=(const RunEngines&) = delete;

  /// How many engines so many chains of a process have. @param chains 0: not known
  static unsigned engines_of(const Settings::QmSection& settings, unsigned chains);

  ChainThreads& threads() { return threads_; }
  /// Once the chains that run have ended; those that have not been told to run leave, and their
  /// engines end.
  void end();
  /// Ends every wait for one of them, from its start on.
  const std::shared_ptr<CancelSignal>& cancel_signal() const { return cancel_; }
  /// One more, which belongs to no chain.
  /// @param number of the engine: of several GPUs it takes one by that
  std::unique_ptr<QmEngine> make_helper(unsigned number) const;

  /// One for each of StarPU's CPU workers, those of the chains included, as far as there is memory.
  /// They are made as long as this object lives.
  /// @param chains of this process
  RunReference::Helpers helpers(unsigned chains);

  /// Whether they share a GPU through a server, or why not; empty: there is nothing to say.
  std::string device_server() const { return server_ ? server_->description() : std::string(); }

  /// Told the first worker's forecast, by the thread that starts it or, where that is known, at
  /// once.
  void hear_forecast(const ForecastHeard& heard);

  /// Whether they are those of this run and none has failed, for lack of memory, say, that another
  /// run had meanwhile. Waits for all that have been started.
  /// @param device where they have to be: QmEngine::device() of engines that found it empty
  bool serve(const Inputs& inputs, const std::string& device);

 private:
  void forecast(const QmForecast& told);
  std::unique_ptr<QmEngine> make(unsigned index, const std::function<void()>& spawned);
  std::unique_ptr<QmEngine> make_with_process(unsigned index, const std::function<void()>& spawned);
  EngineWatch watch(unsigned index, const std::function<void()>& spawned);

  Settings::QmSection settings_;
  std::optional<Solute> solute_;
  bool grid_needed_;
  std::shared_ptr<CancelSignal> cancel_ = std::make_shared<CancelSignal>();
  std::shared_ptr<SharedDevice> device_;
  unsigned workers_;
  std::shared_ptr<DeviceServer> server_;  ///< before what it has to outlive; may be null
  std::shared_ptr<IdleWorkers> idle_;
  std::shared_ptr<EnginePool> pool_;    ///< of more chains than engines; null: each has its own
  std::atomic<unsigned> starting_ = 0;  ///< processes of the chains' engines
  std::mutex mutex_;                    ///< of what follows
  std::optional<QmForecast> forecast_;
  ForecastHeard heard_;
  ChainThreads threads_;  ///< last: they end before what they use does
};

}  // namespace starpmc
