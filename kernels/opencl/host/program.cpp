#include <algorithm>
#include <array>
#include <future>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/opencl/host/build.hpp"
#include "kernels/opencl/host/launch.hpp"
#include "kernels/opencl/host/operations.hpp"
#include "kernels/opencl/host/source_text.hpp"
#include "kernels/opencl/host/user_functions.hpp"

namespace starpmc::opencl {
namespace {

/// Positions, thresholds and decisions: the same bits on every device, so no freedom for the
/// compiler.
constexpr std::array<std::string_view, 6> kExactFiles{
    "opencl/propose_moves.cl",  "opencl/metropolis_decide.cl", "opencl/window_decisions.cl",
    "opencl/grid_potential.cl", "opencl/reference_field.cl",   "opencl/window_arrays.cl"};
/// Energies.
constexpr std::array<std::string_view, 9> kPairFiles{
    "opencl/charged_sites.cl",    "opencl/qmmm_coulomb_grid.cl", "opencl/qmmm_nuclei_vdw.cl",
    "opencl/mm_pair.cl",          "opencl/mm_pair_reduce.cl",    "opencl/window_energies.cl",
    "opencl/arithmetic_probe.cl", "opencl/arithmetic_check.cl",  "opencl/pose_energies.cl"};
/// Both in one kernel, where the device can (LaunchShape::last_group_goes_on); before the functions
/// of pairs, what positions are made of.
constexpr std::array<std::string_view, 2> kPositionFiles{"opencl/moves.h", "opencl/window.h"};
constexpr std::array<std::string_view, 1> kReferenceFiles{"opencl/window_reference_energies.cl"};

template <class Value>
Value device_value(cl_device_id device, cl_device_info what, std::string_view name) {
  Value value{};
  check(clGetDeviceInfo(device, what, sizeof(value), &value, nullptr),
        "clGetDeviceInfo(" + std::string(name) + ")");
  return value;
}

/// Items that a group of any of the program's kernels may have; the largest number where all have
/// those they are compiled for.
std::size_t largest_group_of(cl_program program, cl_device_id device) {
  cl_uint count = 0;
  check(clCreateKernelsInProgram(program, 0, nullptr, &count), "clCreateKernelsInProgram");
  std::vector<cl_kernel> made(count);
  check(clCreateKernelsInProgram(program, count, made.data(), nullptr), "clCreateKernelsInProgram");
  const std::vector<Owned<cl_kernel>> kernels(made.begin(), made.end());
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const auto& kernel : kernels) {
    std::size_t most = 0;
    std::size_t compiled[3] = {};
    check(clGetKernelWorkGroupInfo(kernel.get(), device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most,
                                   &most, nullptr),
          "clGetKernelWorkGroupInfo");
    check(clGetKernelWorkGroupInfo(kernel.get(), device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                                   sizeof compiled, compiled, nullptr),
          "clGetKernelWorkGroupInfo");
    if (most < compiled[0]) least = std::min(least, most);
  }
  return least;
}

}  // namespace

struct DeviceProgram::State {
  cl_context context = nullptr;  ///< kept alive by the programs
  cl_device_id device = nullptr;
  Precision precision = Precision::fp64;
  int compute_units = 1;
  std::size_t local_memory_bytes = 0;
  LaunchShape shape = LaunchShape::for_gpu();
  Owned<cl_program> exact;
  Owned<cl_program> pairs;
  Owned<cl_program> with_reference;  ///< null: none
  std::vector<cl_program> programs() const {
    std::vector<cl_program> all{exact.get(), pairs.get()};
    if (with_reference) all.push_back(with_reference.get());
    return all;
  }
  std::map<std::pair<cl_command_queue, std::string_view>, PreparedKernel> kernels;
  struct Scratch {
    Owned<cl_mem> memory;
    std::size_t bytes = 0;
  };
  std::map<cl_command_queue, Scratch> scratch;
  struct Pinned {
    Owned<cl_mem> memory;
    std::span<std::byte> bytes;
  };
  std::map<cl_command_queue, Pinned> pinned;
};

DeviceProgram::DeviceProgram(cl_context context, cl_device_id device, Precision precision,
                             const std::filesystem::path& sources, std::optional<LaunchShape> shape,
                             const Potential& potential)
    : state_(std::make_unique<State>()) {
  if (device_value<cl_device_fp_config>(device, CL_DEVICE_DOUBLE_FP_CONFIG,
                                        "CL_DEVICE_DOUBLE_FP_CONFIG") == 0) {
    throw RunError("OpenCL: the device '" + device_text(device, CL_DEVICE_NAME) +
                   "' has no double precision (cl_khr_fp64), which sums and positions need");
  }
  State& state = *state_;
  state.context = context;
  state.device = device;
  state.precision = precision;
  const bool cpu = (device_value<cl_device_type>(device, CL_DEVICE_TYPE, "CL_DEVICE_TYPE") &
                    CL_DEVICE_TYPE_CPU) != 0;
  state.compute_units = static_cast<int>(
      device_value<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS, "CL_DEVICE_MAX_COMPUTE_UNITS"));
  state.local_memory_bytes = static_cast<std::size_t>(
      device_value<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE, "CL_DEVICE_LOCAL_MEM_SIZE"));
  state.shape = shape.value_or(cpu ? LaunchShape::for_cpu() : LaunchShape::for_gpu());
  // OpenCL 1.2 does not say so, NVIDIA's memory model does (membar.gl).
  constexpr cl_uint kNvidia = 0x10DE;
  const auto vendor = device_value<cl_uint>(device, CL_DEVICE_VENDOR_ID, "CL_DEVICE_VENDOR_ID");
  if (!state.shape.last_group_goes_on) {
    state.shape.last_group_goes_on = !cpu && vendor == kNvidia;
  }
  // Without it, fma() in fp32 is a function of many instructions.
  const auto single_arithmetic = device_value<cl_device_fp_config>(
      device, CL_DEVICE_SINGLE_FP_CONFIG, "CL_DEVICE_SINGLE_FP_CONFIG");
  if (single() && (single_arithmetic & CL_FP_FMA) == 0) state.shape.fused = false;
  state.shape = state.shape.limited_to(device_value<std::size_t>(
      device, CL_DEVICE_MAX_WORK_GROUP_SIZE, "CL_DEVICE_MAX_WORK_GROUP_SIZE"));
  // A kernel's registers may allow fewer items than the device.
  for (;;) {
    build(sources, potential);
    std::size_t most = std::numeric_limits<std::size_t>::max();
    for (const cl_program program : state.programs()) {
      most = std::min(most, largest_group_of(program, device));
    }
    const LaunchShape smaller = state.shape.limited_to(most);
    if (smaller.largest_group() == state.shape.largest_group()) break;
    state.shape = smaller;
  }
}

void DeviceProgram::build(const std::filesystem::path& sources, const Potential& potential) {
  State& state = *state_;
  const cl_device_id device = state.device;
  const cl_context context = state.context;
  const UserFunctions user = user_functions(potential);
  const std::string options =
      std::string("-cl-std=CL1.2 -DSTARPMC_SINGLE=") + (single() ? "1" : "0") +
      " -DSTARPMC_FIXED=" + (state.precision == Precision::fixed ? "1" : "0") +
      state.shape.definitions() + user.definitions;
  const auto behind = [&](std::string_view file, const std::string& functions) {
    return functions.empty() ? functions : source_text(sources, {&file, 1}) + functions;
  };
  std::optional<BinaryCache> cache;
  if (binaries_are_worth_keeping(device)) cache = BinaryCache::of_user();
  const BinaryCache* const used = cache ? &*cache : nullptr;
  const std::string pair_functions =
      behind("opencl/pair_functions.h", user.quick) + behind("opencl/lanes.h", user.lanes);
  const std::string liberties = " -cl-no-signed-zeros -cl-denorms-are-zero";
  // A GPU's driver takes some twenty seconds for each, the first time. PoCL builds one after the
  // other.
  const auto when = state.shape.cpu ? std::launch::deferred : std::launch::async;
  const auto built = [&](std::string text, const std::string& freedom) {
    return std::async(when, [=, text = std::move(text)] {
      return build_program(context, device, text, options + freedom, used);
    });
  };
  auto exact =
      built(behind("opencl/functions.h", user.exact) + source_text(sources, kExactFiles), "");
  auto pairs =
      built(pair_functions + source_text(sources, kPairFiles), liberties + " -cl-mad-enable");
  std::future<Owned<cl_program>> with_reference;
  if (*state.shape.last_group_goes_on) {
    with_reference = built(source_text(sources, kPositionFiles) + pair_functions +
                               source_text(sources, kReferenceFiles),
                           liberties);
  }
  state.exact = exact.get();
  state.pairs = pairs.get();
  if (with_reference.valid()) state.with_reference = with_reference.get();
}

DeviceProgram::~DeviceProgram() = default;

PreparedKernel& DeviceProgram::kernel(cl_command_queue queue, const char* name) {
  const auto found = state_->kernels.find({queue, name});
  if (found != state_->kernels.end()) return found->second;
  cl_int error = CL_SUCCESS;
  Owned<cl_kernel> kernel;
  for (const cl_program program : state_->programs()) {
    kernel.reset(clCreateKernel(program, name, &error));
    if (error != CL_INVALID_KERNEL_NAME) break;
  }
  check(error, "clCreateKernel", name);
  // Names are literals: they outlive the map.
  return state_->kernels.emplace(std::pair(queue, name), PreparedKernel(std::move(kernel)))
      .first->second;
}

cl_mem DeviceProgram::scratch(cl_command_queue queue, std::size_t bytes) {
  State::Scratch& scratch = state_->scratch[queue];
  if (bytes > scratch.bytes) {
    // The old memory goes when the commands that use it have finished (clReleaseMemObject).
    cl_int error = CL_SUCCESS;
    scratch.memory.reset(
        clCreateBuffer(state_->context, CL_MEM_READ_WRITE, bytes, nullptr, &error));
    scratch.bytes = error == CL_SUCCESS ? bytes : 0;
    check(error, "clCreateBuffer(" + std::to_string(bytes) + " bytes of scratch memory)");
  }
  return scratch.memory.get();
}

std::span<std::byte> DeviceProgram::pinned(cl_command_queue queue, std::size_t bytes) {
  State::Pinned& pinned = state_->pinned[queue];
  // Mapping waits for the queue, and so for what may still be written from the old one.
  if (bytes > pinned.bytes.size()) {
    cl_int error = CL_SUCCESS;
    Owned<cl_mem> memory(clCreateBuffer(state_->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                                        bytes, nullptr, &error));
    check(error, "clCreateBuffer(" + std::to_string(bytes) + " bytes of pinned memory)");
    void* const mapped =
        clEnqueueMapBuffer(queue, memory.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0,
                           nullptr, nullptr, &error);
    check(error, "clEnqueueMapBuffer");
    pinned = {std::move(memory), {static_cast<std::byte*>(mapped), bytes}};
  }
  return pinned.bytes;
}

cl_device_id DeviceProgram::device() const { return state_->device; }
Precision DeviceProgram::precision() const { return state_->precision; }
bool DeviceProgram::is_cpu() const { return state_->shape.cpu; }
int DeviceProgram::compute_units() const { return state_->compute_units; }
std::size_t DeviceProgram::local_memory_bytes() const { return state_->local_memory_bytes; }
const LaunchShape& DeviceProgram::shape() const { return state_->shape; }

}  // namespace starpmc::opencl
