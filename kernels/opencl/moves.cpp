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

/// Scratch memory of metropolis_decide: differences, answers, list of doubts.
struct DecideWork {
  Buffer differences;
  Buffer answers;
  Buffer list;
};

DecideWork decide_work(Program& program, cl_command_queue queue, int groups,
                       const WindowExtent& extent) {
  const std::size_t differences =
      3 * size_of(extent.candidates) * size_of(extent.candidates) * sizeof(double);
  const std::size_t answers = size_of(program.shape().most_doubts * groups) * sizeof(cl_ulong);
  const std::size_t list =
      size_of(4 + 3 * program.shape().most_doubts + extent.steps) * sizeof(cl_int);
  const cl_mem memory = program.scratch(queue, differences + answers + list);
  return {{memory, 0}, {memory, differences}, {memory, differences + answers}};
}

void candidate_differences(Program& program, cl_command_queue queue, const Window& window,
                           Buffer table, Buffer differences) {
  const int group = program.shape().difference_group;
  Launch(program, queue, "candidate_differences")
      .with(window_shape(window))
      .with(window.plan)
      .with(table)
      .with(differences)
      .run({groups_for(window.extent.candidates, group), size_of(window.extent.candidates)},
           {size_of(group), 1});
}

/// One pass over a window's steps.
void decide_pass(Program& program, cl_command_queue queue, const Window& window,
                 const StepTuning& tuning, const Certification& certification,
                 const DecideBuffers& buffers, const DecideWork& work, int groups,
                 bool second_pass) {
  const LaunchShape& shape = program.shape();
  const std::size_t steps = size_of(window.extent.steps);
  // As laid out by occupation_in of metropolis_decide.cl.
  const std::size_t bytes = steps * ((3 + TERMS) * sizeof(double) + 6 * sizeof(cl_int)) + 8;
  check_local_memory(program, bytes + 8 * size_of(shape.decide_group), "metropolis_decide");
  if (window.extent.candidates > shape.decide_group * shape.candidates_per_item) {
    throw RunError("OpenCL: a window has " + std::to_string(window.extent.candidates) +
                   " candidates, the device's kernel holds " +
                   std::to_string(shape.decide_group * shape.candidates_per_item) +
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
      .with(work.differences)
      .with(buffers.chain_state)
      .with(buffers.lattice)
      .with(buffers.lattice_sites)
      .with(buffers.field_cache)
      .with(buffers.record)
      .with(some(certification.solute))
      .with(some(certification.exact_blocks))
      .with(some(certification.exact_points))
      .with(work.list)
      .with(work.answers)
      .with_local(bytes)
      .run({1, 1}, {size_of(shape.decide_group), 1});
}

void exact_changes(Program& program, cl_command_queue queue, const Window& window,
                   const Certification& certification, const DecideBuffers& buffers,
                   const DecideWork& work, int groups) {
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
      .with(work.list)
      .with(work.answers)
      .run({size_of(groups), 1}, {size_of(program.shape().exact_group), 1});
}

}  // namespace

void metropolis_decide(Program& program, cl_command_queue queue, const Window& window,
                       const StepTuning& tuning, const Certification& certification,
                       const DecideBuffers& buffers) {
  const int groups = program.compute_units() * program.shape().exact_groups_per_unit;
  const DecideWork work = decide_work(program, queue, groups, window.extent);
  candidate_differences(program, queue, window, buffers.table, work.differences);
  decide_pass(program, queue, window, tuning, certification, buffers, work, groups, false);
  if (!certification.active) return;
  exact_changes(program, queue, window, certification, buffers, work, groups);
  decide_pass(program, queue, window, tuning, certification, buffers, work, groups, true);
}

}  // namespace starpmc::opencl
