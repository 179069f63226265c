#include "runtime/starpu_runtime.hpp"

#include <fmt/format.h>
#include <hwloc.h>
#include <starpu.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <thread>

#include "base/environment.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/installation.hpp"
#include "kernels/opencl/host/operations.hpp"
#include "kernels/opencl/host/user_functions.hpp"
#include "kernels/operations.hpp"
#include "runtime/codelet.hpp"
#include "runtime/device_failure.hpp"
#include "runtime/library_messages.hpp"
#include "runtime/opencl_offer.hpp"
#include "runtime/opencl_programs.hpp"
#include "runtime/pair_speed.hpp"
#include "runtime/resting_workers.hpp"

namespace starpmc {
namespace {

namespace fs = std::filesystem;

void set_if_unset(const char* name, const std::string& value) {
  if (setenv(name, value.c_str(), 0) != 0) {
    throw RunError(fmt::format("cannot set {}: {}", name, std::strerror(errno)));
  }
}

/// What is fit for a file's name.
std::string plain(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!result.empty() && result.back() != '_') {
      result += '_';
    }
  }
  return result;
}

/// StarPU keeps calibrations per host name. Machines of one kind may share them, and one machine
/// with other devices may not: the name tells cores, instruction set, accelerators, and what of
/// them is asked for.
std::string machine_name(const std::vector<std::string>& accelerators) {
  std::string name =
      fmt::format("{}cpu-{}", std::thread::hardware_concurrency(), plain(simd::instruction_set()));
  for (const std::string& accelerator : accelerators) name += '-' + plain(accelerator);
  for (const char* variable : {"STARPU_NCPU", "STARPU_NCPUS", "STARPU_NOPENCL",
                               "STARPU_OPENCL_ON_CPUS", "STARPU_OPENCL_ONLY_ON_CPUS"}) {
    const std::string value = environment(variable);
    if (!value.empty()) name += fmt::format("-{}_{}", plain(variable + 7), plain(value));
  }
  return name;
}

/// Models made elsewhere, of the file format of this StarPU; empty: none.
fs::path bundled_models() {
  int major = 0;
  int minor = 0;
  int release = 0;
  starpu_get_version(&major, &minor, &release);
  const std::string version = fmt::format("starpu-{}.{}", major, minor);
  const fs::path from =
      find_installed({"STARPMC_PERFMODELS", "perfmodels", "perfmodels", version.c_str()});
  return from.empty() ? from : from / version;
}

/// From StarPU, which would try them even if none were asked for.
void hide_accelerators() {
  const bool wanted = is_on("STARPU_OPENCL_ON_CPUS");
  setenv("STARPU_OPENCL_ONLY_ON_CPUS", "1", 1);
  if (!wanted) setenv("STARPU_NOPENCL", "0", 1);
}

void set_environment(Implementation implementation, const OpenclOffer& offer) {
  const std::vector<std::string>& accelerators = offer.accelerators;
  set_if_unset("STARPU_SCHED", "dmda");
  // Its remarks on calibration would drown a run's own lines; STARPU_SILENT=0 brings them back.
  set_if_unset("STARPU_SILENT", "1");
  // A 1.3 library with FxT writes a trace into /tmp unless told otherwise.
  set_if_unset("STARPU_FXT_TRACE", "0");
  if (implementation == Implementation::opencl && accelerators.empty()) {
    set_if_unset("STARPU_OPENCL_ON_CPUS", "1");
  }
  if (offer.hides_accelerators) hide_accelerators();
  if (!accelerators.empty()) {
    // Tasks of several chains side by side on a GPU.
    set_if_unset("STARPU_OPENCL_PIPELINE", "16");
    // Idle CPU workers poll: they would slow the thread that feeds the GPU, and the one that
    // collects the results. Where nothing but QM updates is for the CPU, one worker is enough.
    if (implementation == Implementation::opencl) set_if_unset("STARPU_NCPU", "1");
    if (environment("STARPU_NCPU").empty() && std::thread::hardware_concurrency() >= 4) {
      set_if_unset("STARPU_RESERVE_NCPU", "1");
    }
  }
  // What one device has shown is known of its like. Cores share their models anyway.
  if (equal_devices(offer)) set_if_unset("STARPU_PERF_MODEL_HOMOGENEOUS_OPENCL", "1");
  set_if_unset("STARPU_HOSTNAME", machine_name(accelerators));
}

codelets::Allowed allowed_of(Implementation implementation) {
  switch (implementation) {
    case Implementation::scalar:
      return codelets::Allowed::scalar;
    case Implementation::simd:
      return codelets::Allowed::simd;
    case Implementation::opencl:
      return codelets::Allowed::opencl;
    case Implementation::any:
      break;
  }
  return codelets::Allowed::any;
}

}  // namespace

std::string starpu_version() {
  int major = 0;
  int minor = 0;
  int release = 0;
  starpu_get_version(&major, &minor, &release);
  return fmt::format("{}.{}.{}", major, minor, release);
}

fs::path kernel_sources() {
  constexpr InstalledFiles kFiles{"STARPMC_KERNELS", "kernels", "kernels", "opencl"};
  fs::path folder = find_installed(kFiles);
  if (!folder.empty()) return folder;
  throw RunError("the OpenCL kernels are not found in " + searched_places(kFiles) +
                 "; set STARPMC_KERNELS to the folder that holds opencl/ and common/");
}

StarpuRuntime::StarpuRuntime(std::span<const Precision> precisions, Implementation implementation,
                             const Potential& potential)
    : StarpuRuntime(opencl_offer(), precisions, implementation, potential) {}

StarpuRuntime::StarpuRuntime(const OpenclOffer& offer, std::span<const Precision> precisions,
                             Implementation implementation, const Potential& potential)
    : models_(prepare(implementation, offer)),
      precisions_(precisions.begin(), precisions.end()),
      warnings_(models_.warnings()),
      notes_(models_.notes()) {
  codelets::set_potential_hash(opencl::potential_hash(potential));
  LibraryMessages messages;
  start();
  models_.save();
  try {
    use_devices(implementation, potential, offer);
    watch_.emplace();
  } catch (...) {
    codelets::release_opencl_programs();
    starpu_shutdown();
    throw;
  }
  std::ranges::move(messages.end(), std::back_inserter(notes_));
}

ModelStore StarpuRuntime::prepare(Implementation implementation, const OpenclOffer& offer) {
  set_environment(implementation, offer);
  return {environment("STARPU_HOSTNAME"), bundled_models()};
}

void StarpuRuntime::start() {
  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.ncuda = 0;
  const int status = [&] {
    const codelets::DeviceStart devices;
    return start_starpu(conf);
  }();
  if (status != 0) {
    throw RunError(fmt::format(
        "StarPU does not start: {}; check STARPU_NCPU and STARPU_NOPENCL (they are counts)",
        status == -ENODEV ? "no CPU core or OpenCL device may be used" : std::strerror(-status)));
  }
  starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
  codelets::clear_failure();
  codelets::Codelet::forget_statistics();
}

void StarpuRuntime::use_devices(Implementation implementation, const Potential& potential,
                                const OpenclOffer& offer) {
  codelets::allow(allowed_of(implementation));
  const bool wanted =
      implementation == Implementation::any || implementation == Implementation::opencl;
  std::vector<std::string> failures;
  if (wanted && opencl_workers() > 0) {
    failures = codelets::build_opencl_programs(precisions_, kernel_sources(), potential);
    devices_without_work_ = failures.size();
  }
  codelets::measure_pair_speeds(precisions_, implementation == Implementation::scalar);
  if (implementation == Implementation::opencl && failures.size() >= opencl_workers()) {
    std::string why = "there is none";
    if (!offer.trouble.empty()) why += " (" + offer.trouble + ")";
    if (!offer.refused.empty()) why = offer.refused.front();
    if (!failures.empty()) why = failures.front();
    throw RunError("run.implementation is opencl, but no OpenCL device can be used: " + why);
  }
  if (implementation != Implementation::opencl && implementation != Implementation::any &&
      cpu_workers() == 0) {
    throw RunError(
        "run.implementation asks for a CPU, but StarPU has no CPU worker; "
        "raise STARPU_NCPU");
  }
  std::ranges::move(failures, std::back_inserter(warnings_));
  if (!wanted) return;
  std::ranges::copy(offer.refused, std::back_inserter(warnings_));
  if (const auto missing = missing_devices(offer, opencl_workers())) {
    warnings_.push_back(*missing);
  }
}

StarpuRuntime::~StarpuRuntime() {
  starpu_task_wait_for_all();
  watch_.reset();
  codelets::release_opencl_programs();
  codelets::TaskHistory::forget_all();
  starpu_shutdown();
  models_.save();
}

void StarpuRuntime::restrict_to(Implementation implementation, int worker) {
  starpu_task_wait_for_all();
  codelets::allow(allowed_of(implementation), worker);
}

std::string StarpuRuntime::add_potential(const Potential& potential) const {
  std::string hash = opencl::potential_hash(potential);
  use_potential(hash);
  if (opencl_workers() == 0) return hash;
  const std::vector<std::string> warnings =
      codelets::build_opencl_programs(precisions_, kernel_sources(), potential);
  if (warnings.size() > devices_without_work_) throw RunError(warnings.back());
  return hash;
}

void StarpuRuntime::use_potential(const std::string& hash) {
  starpu_task_wait_for_all();
  codelets::set_potential_hash(hash);
}

void StarpuRuntime::wait_for_tasks() { starpu_task_wait_for_all(); }

std::vector<WorkerDescription> StarpuRuntime::workers() const {
  std::vector<WorkerDescription> result;
  for (unsigned id = 0; id < starpu_worker_get_count(); ++id) {
    result.push_back({static_cast<int>(id), codelets::worker_name(static_cast<int>(id)),
                      starpu_worker_get_type(static_cast<int>(id)) == STARPU_OPENCL_WORKER});
  }
  return result;
}

unsigned StarpuRuntime::cpu_workers() const { return starpu_cpu_worker_get_count(); }
std::vector<unsigned> StarpuRuntime::processors() const {
  std::vector<unsigned> numbers;
  for (unsigned id = 0; id < starpu_worker_get_count(); ++id) {
    if (starpu_worker_get_type(static_cast<int>(id)) != STARPU_CPU_WORKER) continue;
    hwloc_bitmap_t bound = starpu_worker_get_hwloc_cpuset(static_cast<int>(id));
    for (int number = hwloc_bitmap_first(bound); number >= 0;
         number = hwloc_bitmap_next(bound, number)) {
      numbers.push_back(static_cast<unsigned>(number));
    }
    hwloc_bitmap_free(bound);
  }
  return numbers;
}

unsigned StarpuRuntime::opencl_workers() const { return starpu_opencl_worker_get_count(); }

unsigned StarpuRuntime::working_devices() const {
  const std::vector<WorkerDescription> all = workers();
  return static_cast<unsigned>(std::ranges::count_if(all, [](const WorkerDescription& worker) {
    return worker.opencl && codelets::implementation_on(worker.id).has_value();
  }));
}

std::string StarpuRuntime::scheduler() const {
  // What StarPU runs, which is not what was asked for where the name is unknown to it.
  const starpu_sched_policy* const policy = starpu_sched_ctx_get_sched_policy(0);
  return policy == nullptr || policy->policy_name == nullptr ? "?" : policy->policy_name;
}

}  // namespace starpmc
