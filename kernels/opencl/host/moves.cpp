#include "kernels/opencl/host/window_work.hpp"

namespace starpmc::opencl {

std::size_t picks_bytes(int steps) { return 5 * size_of(steps) * sizeof(cl_int); }

void propose_moves_and_sites(DeviceProgram& program, cl_command_queue queue, const Window& window,
                             const StepRange& range, Buffer chain_state, Buffer lattice,
                             Buffer outside, int site_capacity, Buffer sites) {
  const std::size_t picks = picks_bytes(window.extent.steps);
  check_local_memory(program, picks, "propose_moves");
  Launch(program, queue, "propose_moves")
      .with(window_shape(window), window.interaction, range, window.topology_reals,
            window.topology_integers, chain_state, lattice, window.plan, window.entries, outside,
            cl_int{site_capacity}, some(sites, chain_state))
      .with_local(picks)
      .run({1, 1}, {size_of(program.shape().propose_group), 1});
}

void propose_moves(DeviceProgram& program, cl_command_queue queue, const Window& window,
                   const StepRange& range, Buffer chain_state, Buffer lattice, Buffer outside) {
  propose_moves_and_sites(program, queue, window, range, chain_state, lattice, outside, 0, {});
}

}  // namespace starpmc::opencl
