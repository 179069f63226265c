#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "qm/cancel_signal.hpp"
#include "qm/engine.hpp"
#include "qm/idle_workers.hpp"

namespace starpmc {

/// Engines of the same settings that more chains than there are engines use in turn. From all
/// threads.
class EnginePool {
 public:
  /// What the result of an engine's next update depends on.
  struct Density {
    std::vector<double> state;  ///< QmEngine::state()
    bool held = false;          ///< QmEngine::hold_density()

    bool operator==(const Density&) const = default;
  };
  class Lease;

  /// @param cancel    ends every wait for an engine
  /// @param processes where those of the engines are started: they outlive the threads that make
  ///                  the engines
  EnginePool(std::shared_ptr<CancelSignal> cancel, std::shared_ptr<IdleWorkers> processes);
  EnginePool(const EnginePool&) = delete;
  EnginePool& operator=(const EnginePool&) = delete;

  void cancel() noexcept { cancel_->raise(); }

  /// An engine that has made no update yet, or the reason why there is none. @return its number
  std::size_t add(std::unique_ptr<QmEngine> engine);
  void add(std::exception_ptr failure);

  /// An engine until the lease ends, if possible one that has the density. Waits for it.
  /// @param number of the engine; none: any
  /// @throws Cancelled; without an engine why the first was not made
  Lease take(const Density& density, std::optional<std::size_t> number);

 private:
  struct Member {
    std::unique_ptr<QmEngine> engine;
    std::optional<Density> density = Density();  ///< that it has; none: unknown
    bool taken = false;
  };
  Member* find(const Density& density, std::optional<std::size_t> number);

  std::shared_ptr<CancelSignal> cancel_;
  std::shared_ptr<IdleWorkers> processes_;
  std::mutex mutex_;  ///< of what follows; a member that is taken is its taker's
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Member>> members_;
  std::exception_ptr failure_;
};

class EnginePool::Lease {
 public:
  Lease(EnginePool& pool, Member& member) : pool_(pool), member_(member) {}
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  QmEngine& engine() { return *member_.engine; }
  /// Gives the engine this density.
  void restore(const Density& density);
  /// From here on it is not known what density it has.
  void forget() { member_.density.reset(); }
  void set(const Density& density) { member_.density = density; }

 private:
  EnginePool& pool_;
  Member& member_;
};

/// The engine of one chain, made of those of a pool: an update is by any of these that nobody uses,
/// from the density of the chain's last one. Its results are those of an engine of its own.
class PooledEngine : public QmEngine {
 public:
  /// @param own number of the engine that it alone uses for what takes more than one call:
  /// reference
  ///            and response; none: that cannot be asked of it
  PooledEngine(std::shared_ptr<EnginePool> pool, std::optional<std::size_t> own);

  const DensityGrid& quadrature_points() const override { return *points_; }
  const DensityGrid& coarse_points() const override { return *coarse_points_; }
  QmResult update(std::span<const double> potential, std::span<const double> nuclear_potential,
                  const PointCharges& charges) override;
  bool serves_exact_ensemble() const override { return exact_; }
  bool helps_with_reference() const override { return own_.has_value(); }
  Embedding embedding(std::span<const double> potential, std::span<const double> nuclear_potential,
                      const PointCharges& charges, Quadrature quadrature) override;
  std::uint64_t add_configuration(const Embedding& embedding) override;
  void forget_configurations() override;
  ReferenceDensity reference(int threads) override;
  SoluteResponse response(const ResponseRequest& request, const WorkProgress& progress,
                          ProductHelpers* helpers) override;
  void take_equations(std::span<const double> equations) override;
  std::vector<double> multiply(std::span<const double> vector) override;
  std::vector<double> potentials(std::span<const Vector3> positions) override;
  double energy(std::uint64_t configuration) override;
  SharedDensity shared_density() override;
  void adopt(const SharedDensity& density) override;
  void hold_density() override;
  std::vector<double> state() const override { return density_.state; }
  void restore(std::span<const double> state) override;
  void cancel() noexcept override { pool_->cancel(); }
  int basis_functions() const override { return basis_functions_; }
  std::string name() const override { return name_; }
  std::string version() const override { return version_; }
  std::string device() const override { return device_; }
  /// Of its own engine.
  std::string log() const override;
  unsigned restarts() const override { return restarts_; }

 private:
  /// work(engine), the engine having the chain's density, which may be another one afterwards.
  template <typename Work>
  auto with(std::optional<std::size_t> number, const Work& work);
  template <typename Work>
  auto with_own(const char* what, const Work& work);

  std::shared_ptr<EnginePool> pool_;
  std::optional<std::size_t> own_;
  EnginePool::Density density_;
  std::atomic<unsigned> restarts_ = 0;
  // Of all engines of the pool.
  const DensityGrid* points_ = nullptr;
  const DensityGrid* coarse_points_ = nullptr;
  bool exact_ = false;
  int basis_functions_ = 0;
  std::string name_;
  std::string version_;
  std::string device_;  ///< of the last one
};

}  // namespace starpmc
