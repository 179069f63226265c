#include "kernels/interaction.hpp"
#include "kernels/opencl/host/launch.hpp"

namespace starpmc::opencl {

void arithmetic_probe(DeviceProgram& program, cl_command_queue queue, ArithmeticLoop loop,
                      int rounds, Buffer result) {
  const LaunchShape& shape = program.shape();
  const std::size_t groups = size_of(program.compute_units() * shape.groups_per_unit);
  const auto launch = [&](Launch& kernel) {
    kernel.with(cl_int{rounds}, result).run({groups, 1}, {size_of(shape.sum_group), 1});
  };
  if (loop == ArithmeticLoop::pair) {
    Launch kernel(program, queue, "arithmetic_probe_pair");
    kernel.with(pair_constants(interaction_within({1, 1, 1}, kProbeCutoff, kProbeCutoff)));
    if (program.single()) {
      kernel.with(static_cast<cl_float>(kProbeStep));
    } else {
      kernel.with(cl_double{kProbeStep});
    }
    launch(kernel);
    return;
  }
  Launch kernel(program, queue,
                loop == ArithmeticLoop::multiply_add ? "arithmetic_probe_multiply_add"
                                                     : "arithmetic_probe_reciprocal_root");
  launch(kernel);
}

}  // namespace starpmc::opencl
