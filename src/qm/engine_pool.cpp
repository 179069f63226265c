#include "qm/engine_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "kernels/base/error.hpp"
#include "qm/errors.hpp"

namespace starpmc {
namespace {

/// How long a cancellation may go unnoticed.
constexpr std::chrono::milliseconds kPatience{100};

}  // namespace

EnginePool::EnginePool(std::shared_ptr<CancelSignal> cancel, std::shared_ptr<IdleWorkers> processes)
    : cancel_(std::move(cancel)), processes_(std::move(processes)) {}

std::size_t EnginePool::add(std::unique_ptr<QmEngine> engine) {
  auto member = std::make_unique<Member>();
  member->engine = std::move(engine);
  const std::lock_guard lock(mutex_);
  members_.push_back(std::move(member));
  changed_.notify_all();
  return members_.size() - 1;
}

void EnginePool::add(std::exception_ptr failure) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::move(failure);
  changed_.notify_all();
}

EnginePool::Member* EnginePool::find(const Density& density, std::optional<std::size_t> number) {
  if (number) {
    Member& member = *members_.at(*number);
    return member.taken ? nullptr : &member;
  }
  Member* found = nullptr;
  for (const auto& member : members_) {
    if (member->taken) continue;
    if (member->density == density) return member.get();
    if (found == nullptr) found = member.get();
  }
  return found;
}

EnginePool::Lease EnginePool::take(const Density& density, std::optional<std::size_t> number) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (Member* const member = find(density, number)) {
      member->taken = true;
      return {*this, *member};
    }
    if (cancel_->raised()) throw Cancelled();
    if (members_.empty() && failure_) std::rethrow_exception(failure_);
    changed_.wait_for(lock, kPatience);
  }
}

EnginePool::Lease::~Lease() {
  const std::lock_guard lock(pool_.mutex_);
  member_.taken = false;
  pool_.changed_.notify_all();
}

void EnginePool::Lease::restore(const Density& density) {
  if (member_.density == density) return;
  forget();
  engine().restore(density.state);
  if (density.held) engine().hold_density();
  set(density);
}

PooledEngine::PooledEngine(std::shared_ptr<EnginePool> pool, std::optional<std::size_t> own)
    : pool_(std::move(pool)), own_(own) {
  EnginePool::Lease lease = pool_->take(density_, own_);
  const QmEngine& engine = lease.engine();
  points_ = &engine.quadrature_points();
  coarse_points_ = &engine.coarse_points();
  exact_ = engine.serves_exact_ensemble();
  basis_functions_ = engine.basis_functions();
  name_ = engine.name();
  version_ = engine.version();
  device_ = engine.device();
}

template <typename Work>
auto PooledEngine::with(std::optional<std::size_t> number, const Work& work) {
  EnginePool::Lease lease = pool_->take(density_, number);
  QmEngine& engine = lease.engine();
  const unsigned before = engine.restarts();
  // Whatever happens: an SCF that did not converge leaves a density, too.
  struct Account {
    PooledEngine& pooled;
    const QmEngine& engine;
    unsigned before;
    ~Account() { pooled.restarts_ += engine.restarts() - before; }
  } const account{*this, engine, before};
  lease.restore(density_);
  lease.forget();
  try {
    auto result = work(engine);
    density_.state = engine.state();
    device_ = engine.device();
    lease.set(density_);
    return result;
  } catch (const Cancelled&) {
    throw;
  } catch (...) {
    density_.state = engine.state();
    throw;
  }
}

template <typename Work>
auto PooledEngine::with_own(const char* what, const Work& work) {
  if (!own_)
    throw RunError(fmt::format("{}: asked of an engine without a worker of its own", what));
  return with(own_, work);
}

QmResult PooledEngine::update(std::span<const double> potential,
                              std::span<const double> nuclear_potential,
                              const PointCharges& charges) {
  return with(
      {}, [&](QmEngine& engine) { return engine.update(potential, nuclear_potential, charges); });
}

Embedding PooledEngine::embedding(std::span<const double> potential,
                                  std::span<const double> nuclear_potential,
                                  const PointCharges& charges, Quadrature quadrature) {
  return with(own_, [&](QmEngine& engine) {
    return engine.embedding(potential, nuclear_potential, charges, quadrature);
  });
}

std::uint64_t PooledEngine::add_configuration(const Embedding& embedding) {
  return with_own("configuration",
                  [&](QmEngine& engine) { return engine.add_configuration(embedding); });
}

void PooledEngine::forget_configurations() {
  if (!own_) return;  // it keeps none
  with_own("configurations", [](QmEngine& engine) {
    engine.forget_configurations();
    return true;
  });
}

ReferenceDensity PooledEngine::reference(int threads) {
  return with_own("reference", [&](QmEngine& engine) { return engine.reference(threads); });
}

SoluteResponse PooledEngine::response(const ResponseRequest& request, const WorkProgress& progress,
                                      ProductHelpers* helpers) {
  return with_own("response",
                  [&](QmEngine& engine) { return engine.response(request, progress, helpers); });
}

void PooledEngine::take_equations(std::span<const double> equations) {
  with_own("equations", [&](QmEngine& engine) {
    engine.take_equations(equations);
    return true;
  });
}

std::vector<double> PooledEngine::multiply(std::span<const double> vector) {
  return with_own("product", [&](QmEngine& engine) { return engine.multiply(vector); });
}

std::vector<double> PooledEngine::potentials(std::span<const Vector3> positions) {
  return with_own("potentials", [&](QmEngine& engine) { return engine.potentials(positions); });
}

double PooledEngine::energy(std::uint64_t configuration) {
  return with_own("energy", [&](QmEngine& engine) { return engine.energy(configuration); });
}

SharedDensity PooledEngine::shared_density() {
  return with_own("shared density", [](QmEngine& engine) { return engine.shared_density(); });
}

void PooledEngine::adopt(const SharedDensity& density) {
  with_own("shared density", [&](QmEngine& engine) {
    engine.adopt(density);
    return true;
  });
}

/// At once, so that a state that does not fit is refused here.
void PooledEngine::restore(std::span<const double> state) {
  EnginePool::Density density{{state.begin(), state.end()}, false};
  EnginePool::Lease lease = pool_->take(density, own_);
  lease.restore(density);
  density_ = std::move(density);
}

void PooledEngine::hold_density() {
  with(own_, [this](QmEngine& engine) {
    engine.hold_density();
    density_.held = true;
    return true;
  });
}

std::string PooledEngine::log() const {
  if (!own_) return {};
  return pool_->take(density_, own_).engine().log();
}

}  // namespace starpmc
