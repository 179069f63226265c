#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "kernels/opencl/host/operations.hpp"

namespace starpmc::codelets {

/// Builds the kernels of each precision for every OpenCL device StarPU drives, those of the
/// potential whose hash is set (codelets::set_potential_hash). A device whose compiler fails, which
/// has no double precision, or which computes otherwise than certified decisions assume
/// (check_device), is left without work.
/// @return a warning for each such device
std::vector<std::string> build_opencl_programs(std::span<const Precision> precisions,
                                               const std::filesystem::path& kernel_sources,
                                               const Potential& potential = {});
/// Those of all potentials.
void release_opencl_programs();

bool has_opencl_program(int device);
/// Whether it has kernels, and is a CPU.
bool is_opencl_cpu(int device);
/// Whether a device with kernels is not a CPU.
bool has_opencl_gpu();

/// Of the device that a worker drives; null: it drives none, or one without kernels.
opencl::DeviceProgram* opencl_program(int worker, Precision precision);

/// Program and queue of the device whose worker runs the current task.
struct OpenclPlace {
  opencl::DeviceProgram& program;
  cl_command_queue queue;
};
OpenclPlace opencl_place(Precision precision);

/// A queue of the device beside StarPU's own, so that tasks of different chains run side by side
/// on it. At the end of its life, StarPU's queue waits for what was enqueued.
class OpenclLane {
 public:
  /// @param chain tasks of one chain share a queue
  OpenclLane(Precision precision, std::uint32_t chain);
  ~OpenclLane();
  OpenclLane(const OpenclLane&) = delete;
  OpenclLane& operator=(const OpenclLane&) = delete;

  OpenclPlace place() const { return {main_.program, queue_}; }

 private:
  OpenclPlace main_;
  cl_command_queue queue_;
};

/// A vector buffer in the device's memory.
opencl::Buffer opencl_buffer(void* buffer);

}  // namespace starpmc::codelets
