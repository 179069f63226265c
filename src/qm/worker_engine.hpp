#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "qm/device_server.hpp"
#include "qm/engine.hpp"
#include "qm/idle_workers.hpp"
#include "qm/result_check.hpp"
#include "qm/worker_process.hpp"

namespace starpmc {

struct Message;
struct MessageArray;

/// How to start a worker.
struct WorkerCommand {
  std::vector<std::string> command;                  ///< python and script, absolute paths
  double time_limit_seconds = 3600;                  ///< of each answer
  std::shared_ptr<CancelSignal> cancel_signal = {};  ///< none: the engine makes its own
  /// Told before the worker starts on what may take long; empty: nobody listens.
  std::function<void(const QmForecast&)> on_forecast = {};
  /// Told when the process has been started, of which nothing has been heard yet.
  std::function<void()> on_spawn = {};
  /// Where a worker comes from, if there is one, and goes to; none: it is started, and ends.
  std::shared_ptr<IdleWorkers> idle = {};
  /// Behind which it uses a GPU; none: it has the GPU's driver to itself.
  std::shared_ptr<DeviceServer> server = {};
  /// What to do where the worker lacks its QM program.
  std::string remedy_if_missing = "./quickstart setup, or point qm.python to a Python that has it";
};

/// A QM program in a process of its own, spoken to by the protocol of protocol.md.
class WorkerEngine : public QmEngine {
 public:
  /// Starts the worker and waits until it is ready.
  /// @throws InputError where the worker says that the request cannot be fulfilled
  /// @throws WorkerLost when it dies, hangs, or answers what the protocol does not allow, or what
  ///         cannot be (ResultCheck)
  /// @throws Cancelled when the command's signal is raised
  WorkerEngine(const WorkerCommand& command, const QmRequest& request);
  ~WorkerEngine() override;

  /// Starts the worker for nothing but this. Throws as the constructor does.
  static WorkerVersion version_of(const WorkerCommand& command);

  const DensityGrid& quadrature_points() const override { return points_; }
  const DensityGrid& coarse_points() const override {
    return coarse_points_.size() == 0 ? points_ : coarse_points_;
  }
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
  void cancel() noexcept override { cancel_->raise(); }
  int basis_functions() const override { return basis_functions_; }
  std::string name() const override { return worker_.version.name; }
  std::string version() const override { return worker_.version.version; }
  std::string device() const override { return device_; }
  std::string log() const override { return process().log(); }

  pid_t process_id() const { return process().process_id(); }

 private:
  struct HelloOnly {};
  WorkerEngine(const WorkerCommand& command, const QmRequest& request, HelloOnly);
  WorkerProcess& process() const { return *worker_.process; }
  WorkerProcess::Deadline deadline() const;
  void send(const Message& message);
  Message receive(const std::string& expected_type,
                  std::initializer_list<std::string_view> or_types = {});
  /// One that is idle, or a new one.
  void find_worker(const WorkerCommand& command);
  Message receive_hello();
  void hear_hello();
  void initialise(const QmRequest& request,
                  const std::function<void(const QmForecast&)>& on_forecast);
  template <typename Number>
  Number field(const Message& message, const std::string& name);
  template <typename Number>
  std::optional<Number> optional_field(const Message& message, const std::string& name);
  void read_interactions(const Message& message, QmResult& result);
  static bool has_array(const Message& message, const std::string& name);
  std::vector<double> row(const Message& message, const std::string& name, std::size_t length);
  const MessageArray& array(const Message& message, const std::string& name, std::size_t rows);
  DensityGrid read_points(const MessageArray& array);
  /// @param points where the potential is given
  void send_potential(nlohmann::json header, const DensityGrid& points,
                      std::span<const double> potential, std::span<const double> nuclear_potential,
                      const PointCharges& charges);
  /// Without its grid.
  QmResult read_scf(const Message& message);
  void read_grid(const Message& message, QmResult& result);
  std::vector<double> take_numbers(Message& message, const std::string& name);
  /// Until the response itself comes.
  Message help_with_response(const WorkProgress& progress, ProductHelpers* helpers);
  void tell_progress(const Message& message, const WorkProgress& progress);
  void share_products(const Message& message, ProductHelpers& helpers);
  SoluteResponse read_response(const Message& message, int most_components);
  std::string text(const Message& message, const std::string& name);
  void keep_state(Message& message);
  void tell_of_device(const Message& message);

  double time_limit_seconds_;
  std::shared_ptr<CancelSignal> cancel_;
  std::shared_ptr<IdleWorkers> idle_;
  std::shared_ptr<DeviceServer> server_;
  WorkerKind kind_;
  StartedWorker worker_;
  bool answered_ = true;  ///< all that it was asked
  ResultCheck check_;
  std::size_t atom_count_;
  int max_iterations_;
  double energy_convergence_hartree_;
  DensityGrid points_;
  DensityGrid coarse_points_;  ///< none: it has told of none
  int expected_electrons_ = 0;
  int basis_functions_ = 0;
  std::string device_;
  std::string remedy_if_missing_;
  bool has_state_ = false;
  bool exact_ = false;
  bool held_ = false;
  double largest_potential_ = 0;  ///< of the configurations kept, kJ/mol per e
  std::size_t components_ = 0;    ///< of the last response
  std::vector<double> state_;
};

/// @throws RunError naming qm.electron-tolerance when the electrons on the grid differ from the
/// expected number by more than `tolerance` (electrons) or are not a number
void check_electrons(const QmResult& result, double tolerance);

}  // namespace starpmc
