#include "app/run_engines.hpp"

#include <starpu.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "app/chain_count.hpp"

namespace starpmc {

unsigned RunEngines::engines_of(const Settings::QmSection& settings, unsigned chains) {
  return qm_workers(settings, chains == 0 ? std::numeric_limits<unsigned>::max() : chains);
}

RunEngines::RunEngines(const Inputs& inputs, unsigned chains, unsigned users,
                       std::shared_ptr<IdleWorkers> idle, std::shared_ptr<DeviceServer> server)
    : settings_(inputs.settings.qm),
      solute_(inputs.system.solute),
      grid_needed_(!exact_if_served(inputs)),
      device_(std::make_shared<SharedDevice>(users)),
      workers_(engines_of(settings_, chains)),
      server_(server || !solute_ ? std::move(server) : start_device_server(settings_, workers_)),
      idle_(std::move(idle)),
      threads_([this](unsigned index, const std::function<void()>& spawned) {
        return make(index, spawned);
      }) {
  if (!solute_ || (chains == 0 ? !settings_.workers : workers_ == chains)) return;
  // Processes end with the thread that has started them, and a chain's thread before other chains.
  if (!idle_) idle_ = std::make_shared<IdleWorkers>();
  pool_ = std::make_shared<EnginePool>(cancel_, idle_);
}

EngineWatch RunEngines::watch(unsigned index, const std::function<void()>& spawned) {
  return {
      cancel_, [this](const QmForecast& told) { forecast(told); }, spawned, device_, index, idle_,
      server_};
}

std::unique_ptr<QmEngine> RunEngines::make_with_process(unsigned index,
                                                        const std::function<void()>& spawned) {
  ++starting_;
  struct Started {
    std::atomic<unsigned>& starting;
    ~Started() { --starting; }
  } const when_it_is_there{starting_};
  return make_engine(settings_, *solute_, watch(index, spawned), grid_needed_);
}

std::unique_ptr<QmEngine> RunEngines::make(unsigned index, const std::function<void()>& spawned) {
  if (!solute_) return nullptr;
  if (!pool_) return make_with_process(index, spawned);
  if (index >= workers_) {
    spawned();  // it has no process, and waits for the others' to be ready
    return std::make_unique<PooledEngine>(pool_, std::nullopt);
  }
  try {
    const std::size_t own = pool_->add(make_with_process(index, spawned));
    return std::make_unique<PooledEngine>(pool_, own);
  } catch (...) {
    pool_->add(std::current_exception());
    throw;
  }
}

void RunEngines::end() {
  if (!threads_.ordered()) cancel_->raise();
  threads_.end();
}

std::unique_ptr<QmEngine> RunEngines::make_helper(unsigned number) const {
  return make_engine(settings_, *solute_, {cancel_, {}, {}, device_, number, idle_, server_},
                     false);
}

RunReference::Helpers RunEngines::helpers(unsigned chains) {
  const auto start = [this, number = std::make_shared<std::atomic<unsigned>>(chains)] {
    return make_helper((*number)++);
  };
  const auto count = [this, chains]() -> unsigned {
    const auto threads = static_cast<unsigned>(std::max(1, settings_.threads));
    const unsigned busy = std::max(1U, qm_workers(settings_, chains));
    const unsigned workers = starpu_cpu_worker_get_count() / threads;
    if (workers <= busy) return 0;
    const std::lock_guard lock(mutex_);
    const double each_mb = forecast_ ? forecast_->memory_mb : 0;
    const double idle = idle_ ? static_cast<double>(idle_->count(chains)) : 0;  // these have theirs
    // Those of chains that are still starting have yet to take theirs.
    const double spare_mb = std::max(0.0, spare_memory_mb() - starting_ * each_mb);
    const double room = each_mb > 0 ? idle + spare_mb / each_mb : workers;
    return std::min(workers - busy, static_cast<unsigned>(room));
  };
  return {start, count};
}

void RunEngines::forecast(const QmForecast& told) {
  ForecastHeard heard;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(forecast_, told)) return;
    heard = heard_;
  }
  if (heard) heard(told);
}

void RunEngines::hear_forecast(const ForecastHeard& heard) {
  std::optional<QmForecast> known;
  {
    const std::lock_guard lock(mutex_);
    known = forecast_;
    heard_ = heard;
  }
  if (known) heard(*known);
}

bool RunEngines::serve(const Inputs& inputs, const std::string& device) {
  Settings::QmSection wanted = inputs.settings.qm;
  wanted.reference = settings_.reference;  // they know nothing of it
  const bool same_molecule = solute_ && inputs.system.solute &&
                             solute_->elements == inputs.system.solute->elements &&
                             solute_->positions == inputs.system.solute->positions;
  return same_molecule && settings_ == wanted && grid_needed_ == !exact_if_served(inputs) &&
         threads_.wait_for_engines() && !cancel_->raised() &&
         threads_.first_engine().device == device;
}

}  // namespace starpmc
