#include "kernels/opencl/launch.hpp"

namespace starpmc::opencl {

void propose_moves(Program& program, cl_command_queue queue, const Window& window,
                   const StepRange& range, Buffer chain_state, Buffer lattice, Buffer outside) {
  const std::size_t picks_bytes = 5 * size_of(window.extent.steps) * sizeof(cl_int);
  check_local_memory(program, picks_bytes, "propose_moves");
  Launch(program, "propose_moves")
      .with(window_shape(window))
      .with(window.interaction)
      .with(range)
      .with(window.topology_reals)
      .with(window.topology_integers)
      .with(chain_state)
      .with(lattice)
      .with(window.plan)
      .with(window.entries)
      .with(outside)
      .with_local(picks_bytes)
      .run(queue, {1, 1}, {size_of(program.shape().propose_group), 1});
}

void metropolis_decide(Program& program, cl_command_queue queue, const Window& window,
                       const StepTuning& tuning, const DecideBuffers& buffers) {
  const std::size_t steps = size_of(window.extent.steps);
  const std::size_t candidates = size_of(window.extent.candidates);
  const std::size_t starts = size_of(window.extent.starts);
  // As laid out by occupation_in of metropolis_decide.cl.
  const std::size_t doubles = (2 + FIELDS) * (candidates + starts) + steps;
  const std::size_t integers = starts + 2 * steps + candidates + 1;
  const std::size_t bytes = doubles * sizeof(double) + integers * sizeof(cl_int);
  check_local_memory(program, bytes, "metropolis_decide");
  const bool has_grid = buffers.grid_energies.memory != nullptr;
  const bool has_nuclei = buffers.nuclei_energies.memory != nullptr;
  Launch(program, "metropolis_decide")
      .with(window_shape(window))
      .with(window.interaction)
      .with(tuning)
      .with(cl_int{has_grid})
      .with(cl_int{has_nuclei})
      .with(window.plan)
      .with(window.entries)
      // A kernel argument must be some buffer, even one that is not read.
      .with(has_grid ? buffers.grid_energies : buffers.mm_energies)
      .with(has_nuclei ? buffers.nuclei_energies : buffers.mm_energies)
      .with(buffers.mm_energies)
      .with(buffers.table)
      .with(buffers.chain_state)
      .with(buffers.lattice)
      .with(buffers.lattice_sites)
      .with(buffers.field_cache)
      .with(buffers.record)
      .with_local(bytes)
      .run(queue, {1, 1}, {size_of(program.shape().decide_group), 1});
}

}  // namespace starpmc::opencl
