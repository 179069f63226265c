#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "kernels/potential.hpp"
#include "runtime/codelet.hpp"
#include "runtime/device_failure.hpp"
#include "runtime/model_store.hpp"

namespace starpmc {

struct OpenclOffer;

/// A StarPU worker: a CPU core, or an OpenCL device and the core that drives it.
struct WorkerDescription {
  int id;
  std::string name;
  bool opencl;
};

/// StarPU, running for as long as the object lives.
///
/// Every STARPU_ environment variable keeps its meaning; only what is unset gets a default:
/// STARPU_SCHED=dmda, a STARPU_HOSTNAME of its own for each set of devices (so that calibrations do
/// not mix), a folder for performance models (ModelStore), and PoCL's CPU device when the OpenCL
/// implementation is asked for on a machine without a GPU.
class StarpuRuntime {
 public:
  /// @throws RunError when StarPU finds no worker it may use
  /// @param potential the user's pair functions
  StarpuRuntime(std::span<const Precision> precisions, Implementation implementation,
                const Potential& potential = {});
  StarpuRuntime(Precision precision, Implementation implementation, const Potential& potential = {})
      : StarpuRuntime(std::span(&precision, 1), implementation, potential) {}
  ~StarpuRuntime();
  StarpuRuntime(const StarpuRuntime&) = delete;
  StarpuRuntime& operator=(const StarpuRuntime&) = delete;

  /// What tasks may use from now on, for benchmarks; waits for the tasks under way.
  /// @param worker the only worker that gets tasks
  static void restrict_to(Implementation implementation, int worker = codelets::kAnyWorker);

  /// Builds the kernels of another potential beside those there are, for benchmarks. It is in use
  /// then.
  /// @return what use_potential() is told
  /// @throws RunError where a device that works for the first potential does not for this one
  std::string add_potential(const Potential& potential) const;
  /// Whose tasks are submitted from now on; waits for the tasks under way.
  /// @param hash empty: none
  static void use_potential(const std::string& hash);

  /// Until all tasks have ended and are counted.
  static void wait_for_tasks();

  std::vector<WorkerDescription> workers() const;
  unsigned cpu_workers() const;
  unsigned opencl_workers() const;
  /// Those that get work: which have kernels, where the implementation is allowed.
  unsigned working_devices() const;
  /// The system's numbers of the logical processors that the CPU workers are bound to.
  std::vector<unsigned> processors() const;
  std::string scheduler() const;
  /// Devices that get no work, and why; damaged performance models.
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// For the log: what StarPU and the OpenCL compilers said, and where models are kept.
  const std::vector<std::string>& notes() const { return notes_; }
  const ModelStore& models() const { return models_; }

 private:
  StarpuRuntime(const OpenclOffer& offer, std::span<const Precision> precisions,
                Implementation implementation, const Potential& potential);
  static ModelStore prepare(Implementation implementation, const OpenclOffer& offer);
  static void start();
  void use_devices(Implementation implementation, const Potential& potential,
                   const OpenclOffer& offer);

  ModelStore models_;
  std::optional<codelets::DeviceWatch> watch_;
  std::vector<Precision> precisions_;
  std::size_t devices_without_work_ = 0;
  std::vector<std::string> warnings_;
  std::vector<std::string> notes_;
};

/// "1.4.10"
std::string starpu_version();
/// Folder that holds opencl/ and common/: STARPMC_KERNELS, the source tree, or the installation.
/// @throws RunError when none of them exists
std::filesystem::path kernel_sources();

}  // namespace starpmc
