#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "qm/cancel_signal.hpp"
#include "qm/engine.hpp"
#include "qm/errors.hpp"

namespace starpmc {

/// An engine whose worker is started again when it is lost (killed, hung, speaking garbage): the
/// fresh one gets the state after the last update, and the update is repeated. Its result is the
/// one of an undisturbed worker where the worker has a state; one without starts from its usual
/// guess. What the worker reports itself is not repeated. For the exact ensemble it also gets the
/// configurations that the one before it kept, and makes its response again.
///
/// A fresh worker is started by the thread that calls update(); see WorkerProcess about its life.
class RestartingEngine : public QmEngine {
 public:
  /// The engine it makes must heed the signal, while it is made, too.
  using Factory =
      std::function<std::unique_ptr<QmEngine>(const std::shared_ptr<CancelSignal>& signal)>;

  static constexpr unsigned most_restarts_per_update = 3;

  /// Starts the first worker: again where it is killed by a signal, as often as later; any other
  /// failure at the start is one of the installation or the request, and would come again.
  /// @param signal what cancel() raises; none: the engine makes its own
  /// @throws what `factory` throws
  explicit RestartingEngine(Factory factory, std::shared_ptr<CancelSignal> signal = nullptr);

  const DensityGrid& quadrature_points() const override { return points_; }
  const DensityGrid& coarse_points() const override { return coarse_points_; }
  /// @throws WorkersLost after most_restarts_per_update, saying how often it was tried
  /// @throws RunError when a fresh worker's quadrature points differ; otherwise as the engine's own
  QmResult update(std::span<const double> potential, std::span<const double> nuclear_potential,
                  const PointCharges& charges) override;
  bool serves_exact_ensemble() const override { return exact_; }
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
  std::vector<double> state() const override { return state_; }
  void restore(std::span<const double> state) override;
  void cancel() noexcept override { signal_->raise(); }
  int basis_functions() const override { return basis_functions_; }
  std::string name() const override { return name_; }
  std::string version() const override { return version_; }
  std::string device() const override { return device_; }
  /// Of the last worker lost and of the one at work.
  std::string log() const override;
  unsigned restarts() const override { return restarts_; }

 private:
  std::unique_ptr<QmEngine> start();
  void start_again();
  void take_device(const std::string& device);
  void retire();
  void keep_state();
  template <typename Work>
  auto repeat(const char* what, const Work& work);

  Factory factory_;
  std::shared_ptr<CancelSignal> signal_;
  std::atomic<unsigned> restarts_ = 0;
  std::unique_ptr<QmEngine> engine_;  ///< none: lost
  DensityGrid points_;
  DensityGrid coarse_points_;
  int basis_functions_;
  std::string name_;
  std::string version_;
  std::string device_;  ///< of the last worker
  std::vector<double> state_;
  // What a fresh worker has to be told again.
  std::vector<Embedding> configurations_;
  /// The state that the last reference density was made from; none: no such density is in use.
  std::optional<std::vector<double>> before_reference_;
  int reference_threads_ = 1;
  std::optional<ResponseRequest> response_;  ///< of the reference density
  std::optional<SharedDensity> adopted_;
  std::vector<double> equations_;  ///< of another engine's response; empty: none
  bool held_ = false;
  bool exact_ = false;
  std::string log_of_lost_;
};

}  // namespace starpmc
