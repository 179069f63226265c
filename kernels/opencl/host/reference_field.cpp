#include "kernels/opencl/host/window_work.hpp"
#include "kernels/opencl/reference_memory.h"

namespace starpmc::opencl {

void reference_field(DeviceProgram& program, cl_command_queue queue, const Window& window,
                     const ReferenceField& field) {
  check_local_memory(program, sizeof(ReferenceMemory), "reference_field");
  Launch(program, queue, "reference_field")
      .with(window_shape(window), field.potential, field.response)
      .with_buffers_of(window)
      .with(field.potential_values, some(field.response_values, field.potential_values),
            field.energies, some(field.responses, field.energies))
      .with_local(sizeof(ReferenceMemory))
      .run({size_of(window.extent.candidates), 1}, {size_of(program.shape().reference_group), 1});
}

}  // namespace starpmc::opencl
