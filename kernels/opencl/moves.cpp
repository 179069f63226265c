#include "error.hpp"
#include "kernels/opencl/launch.hpp"

namespace starpmc::opencl {

void propose_moves(Program& program, cl_command_queue queue, const Window& window,
                   const StepRange& range, Buffer chain_state, Buffer lattice, Buffer outside) {
  const std::size_t picks_bytes = 5 * size_of(window.extent.steps) * sizeof(cl_int);
  check_local_memory(program, picks_bytes, "propose_moves");
  Launch(program, queue, "propose_moves")
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
      .run({1, 1}, {size_of(program.shape().propose_group), 1});
}

namespace {

/// Scratch memory of metropolis_decide: the answers, then the list of doubts.
struct DoubtBuffers {
  Buffer answers;
  Buffer list;
};

DoubtBuffers doubt_buffers(Program& program, cl_command_queue queue, int groups, int steps) {
  const std::size_t answers = size_of(program.shape().most_doubts * groups) * sizeof(cl_ulong);
  const std::size_t list = size_of(4 + 3 * program.shape().most_doubts + steps) * sizeof(cl_int);
  const cl_mem memory = program.scratch(queue, answers + list);
  return {{memory, 0}, {memory, answers}};
}

/// One pass over a window's steps.
void decide_pass(Program& program, cl_command_queue queue, const Window& window,
                 const StepTuning& tuning, const Certification& certification,
                 const DecideBuffers& buffers, const DoubtBuffers& doubts, int groups,
                 bool second_pass) {
  const LaunchShape& shape = program.shape();
  const std::size_t steps = size_of(window.extent.steps);
  const int entries = window.extent.candidates + window.extent.starts;
  // As laid out by occupation_in of metropolis_decide.cl.
  const std::size_t bytes = (16 + (1 + TERMS) * steps) * sizeof(double) +
                            (4 * steps + size_of(window.extent.candidates)) * sizeof(cl_int);
  check_local_memory(program, bytes + 8 * size_of(shape.decide_group), "metropolis_decide");
  if (entries > shape.decide_group * shape.entries_per_item) {
    throw RunError("OpenCL: a window has " + std::to_string(entries) +
                   " positions, the device's kernel holds " +
                   std::to_string(shape.decide_group * shape.entries_per_item) +
                   ": use smaller windows");
  }
  const bool has_grid = buffers.grid_energies.memory != nullptr;
  const bool has_nuclei = buffers.nuclei_energies.memory != nullptr;
  // A kernel argument must be some buffer, even one that is not read.
  const auto some = [&](const Buffer& buffer) {
    return buffer.memory != nullptr ? buffer : buffers.mm_energies;
  };
  Launch(program, queue, second_pass ? "metropolis_settle" : "metropolis_decide")
      .with(window_shape(window))
      .with(window.interaction)
      .with(tuning)
      .with(cl_int{certification.active})
      .with(certification.bound)
      .with(cl_int{has_grid})
      .with(cl_int{has_nuclei})
      .with(cl_int{certification.nuclei})
      .with(cl_int{certification.blocks})
      .with(cl_int{groups})
      .with(window.topology_reals)
      .with(window.topology_integers)
      .with(window.plan)
      .with(window.entries)
      .with(some(buffers.grid_energies))
      .with(some(buffers.nuclei_energies))
      .with(buffers.mm_energies)
      .with(buffers.table)
      .with(buffers.chain_state)
      .with(buffers.lattice)
      .with(buffers.lattice_sites)
      .with(buffers.field_cache)
      .with(buffers.record)
      .with(some(certification.solute))
      .with(some(certification.exact_blocks))
      .with(some(certification.exact_points))
      .with(doubts.list)
      .with(doubts.answers)
      .with_local(bytes)
      .run({1, 1}, {size_of(shape.decide_group), 1});
}

void exact_changes(Program& program, cl_command_queue queue, const Window& window,
                   const Certification& certification, const DecideBuffers& buffers,
                   const DoubtBuffers& doubts, int groups) {
  const auto some = [&](const Buffer& buffer) {
    return buffer.memory != nullptr ? buffer : buffers.mm_energies;
  };
  Launch(program, queue, "exact_changes")
      .with(window_shape(window))
      .with(window.interaction)
      .with(cl_int{certification.nuclei})
      .with(cl_int{certification.blocks})
      .with(window.topology_reals)
      .with(window.topology_integers)
      .with(window.plan)
      .with(window.entries)
      .with(buffers.lattice)
      .with(some(certification.solute))
      .with(some(certification.exact_blocks))
      .with(some(certification.exact_points))
      .with(doubts.list)
      .with(doubts.answers)
      .run({size_of(groups), 1}, {size_of(program.shape().exact_group), 1});
}

}  // namespace

void metropolis_decide(Program& program, cl_command_queue queue, const Window& window,
                       const StepTuning& tuning, const Certification& certification,
                       const DecideBuffers& buffers) {
  const int groups = program.compute_units() * program.shape().exact_groups_per_unit;
  const DoubtBuffers doubts = doubt_buffers(program, queue, groups, window.extent.steps);
  decide_pass(program, queue, window, tuning, certification, buffers, doubts, groups, false);
  if (!certification.active) return;
  exact_changes(program, queue, window, certification, buffers, doubts, groups);
  decide_pass(program, queue, window, tuning, certification, buffers, doubts, groups, true);
}

}  // namespace starpmc::opencl
