#include "kernels/opencl/host/launch.hpp"

#include <algorithm>

#include "kernels/base/error.hpp"

namespace starpmc::opencl {

cl_int PreparedKernel::set(cl_uint index, std::size_t size, const void* value) {
  if (index >= arguments_.size()) arguments_.resize(index + 1);
  Argument& last = arguments_[index];
  const auto* const bytes = static_cast<const std::byte*>(value);
  const bool same = value == nullptr ? last.local_bytes == size
                                     : last.value.size() == size &&
                                           std::equal(bytes, bytes + size, last.value.begin());
  if (last.set && same) return CL_SUCCESS;
  const cl_int error = clSetKernelArg(get(), index, size, value);
  last.set = error == CL_SUCCESS;
  last.local_bytes = value == nullptr ? size : 0;
  last.value.assign(bytes, value == nullptr ? bytes : bytes + size);
  return error;
}

cl_int PreparedKernel::set(cl_uint index, cl_mem memory) {
  if (index < arguments_.size() && arguments_[index].set &&
      arguments_[index].memory.get() == memory) {
    return CL_SUCCESS;
  }
  const cl_int error = set(index, sizeof memory, &memory);
  if (error != CL_SUCCESS) return error;
  arguments_[index].memory.reset();
  if (memory == nullptr || clRetainMemObject(memory) != CL_SUCCESS) {
    arguments_[index].set = false;  // to be set again next time
    return CL_SUCCESS;
  }
  arguments_[index].memory.reset(memory);
  return CL_SUCCESS;
}

WindowShape window_shape(const Window& window) {
  return {window.layout, window.topology, window.extent.steps, window.extent.candidates,
          window.extent.starts};
}

PairConstants pair_constants(const Interaction& interaction) {
  PairConstants constants{};
  for (int k = 0; k < 3; ++k) {
    constants.box[k] = interaction.box[k];
    constants.inverse_box[k] = 1 / interaction.box[k];
  }
  constants.half_shortest_edge =
      std::min({interaction.box[0], interaction.box[1], interaction.box[2]}) / 2;
  const double cutoff = interaction.coulomb_cutoff;
  constants.coulomb_cutoff = cutoff;
  constants.coulomb_cutoff_squared = cutoff * cutoff;
  constants.inverse_square = 1 / (cutoff * cutoff);
  constants.twice_inverse = 2 / cutoff;
  constants.vdw_cutoff = interaction.vdw_cutoff;
  constants.vdw_cutoff_squared = interaction.vdw_cutoff * interaction.vdw_cutoff;
  return constants;
}

void check_local_memory(const DeviceProgram& program, std::size_t bytes, const char* kernel) {
  if (bytes <= program.local_memory_bytes()) return;
  throw RunError("OpenCL: " + std::string(kernel) + " needs " + std::to_string(bytes) +
                 " bytes of local memory, the device has " +
                 std::to_string(program.local_memory_bytes()) + ": use smaller windows");
}

void fill_with_zeros(cl_command_queue queue, int count, Buffer energies) {
  const double zero = 0;
  check(clEnqueueFillBuffer(queue, energies.memory, &zero, sizeof(zero), energies.offset_bytes,
                            size_of(count) * sizeof(double), 0, nullptr, nullptr),
        "clEnqueueFillBuffer");
}

}  // namespace starpmc::opencl
