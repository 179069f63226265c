#include "error.hpp"
#include "kernels/opencl/window_work.hpp"

namespace starpmc::opencl {
namespace {

constexpr std::size_t kDifferenceMatrices = 3;  ///< DIFFERENCE_... of window.h

/// Local memory of a pass, as occupation_in of occupation.h lays it out.
std::size_t occupation_bytes(const LaunchShape& shape, int steps) {
  constexpr std::size_t kStepBytes = (3 + TERMS) * sizeof(cl_double) + 5 * sizeof(cl_int);
  return size_of(steps) * kStepBytes + size_of(1 + shape.decide_batch) * sizeof(cl_int);
}

void check_extent(const Program& program, const WindowExtent& extent) {
  const LaunchShape& shape = program.shape();
  check_local_memory(
      program,
      occupation_bytes(shape, extent.steps) + size_of(shape.decide_group) * sizeof(cl_ulong),
      "metropolis_decide");
  const int most = shape.decide_group * shape.candidates_per_item;
  if (extent.candidates <= most) return;
  throw RunError("OpenCL: a window has " + std::to_string(extent.candidates) +
                 " candidates, the device's kernel holds " + std::to_string(most) +
                 ": use smaller windows");
}

/// One pass over a window's steps.
void decide_pass(Program& program, cl_command_queue queue, const Window& window,
                 const StepTuning& tuning, const Certification& certification,
                 const DecideBuffers& buffers, const DecideWork& work, Buffer scratch,
                 const char* kernel) {
  const LaunchShape& shape = program.shape();
  const Buffer& unused = buffers.mm_energies;
  Launch(program, queue, kernel)
      .with(window_shape(window))
      .with(window.interaction)
      .with(tuning)
      .with(cl_int{certification.active})
      .with(certification.bound)
      .with(cl_int{buffers.grid_energies.memory != nullptr})
      .with(cl_int{buffers.nuclei_energies.memory != nullptr})
      .with(cl_int{certification.nuclei})
      .with(cl_int{certification.blocks})
      .with(cl_int{work.groups})
      .with(window.topology_reals)
      .with(window.topology_integers)
      .with(window.plan)
      .with(window.entries)
      .with(some(buffers.grid_energies, unused))
      .with(some(buffers.nuclei_energies, unused))
      .with(buffers.mm_energies)
      .with(scratch)
      .with(buffers.chain_state)
      .with(buffers.lattice)
      .with(buffers.lattice_sites)
      .with(buffers.field_cache)
      .with(buffers.record)
      .with(some(certification.solute, unused))
      .with(some(certification.exact_blocks, unused))
      .with(some(certification.exact_points, unused))
      .with(behind(scratch, work.list_bytes))
      .with(behind(scratch, work.answers_bytes))
      .with_local(occupation_bytes(shape, window.extent.steps))
      .run({1, 1}, {size_of(shape.decide_group), 1});
}

void exact_changes(Program& program, cl_command_queue queue, const Window& window,
                   const Certification& certification, const DecideBuffers& buffers,
                   const DecideWork& work, Buffer scratch) {
  const Buffer& unused = buffers.mm_energies;
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
      .with(some(certification.solute, unused))
      .with(some(certification.exact_blocks, unused))
      .with(some(certification.exact_points, unused))
      .with(behind(scratch, work.list_bytes))
      .with(behind(scratch, work.answers_bytes))
      .run({size_of(work.groups), 1}, {size_of(program.shape().exact_group), 1});
}

}  // namespace

DecideWork decide_work(const Program& program, const WindowExtent& extent) {
  const LaunchShape& shape = program.shape();
  DecideWork work;
  work.groups = program.compute_units() * shape.exact_groups_per_unit;
  work.answers_bytes = kDifferenceMatrices * size_of(extent.candidates) *
                       size_of(extent.candidates) * sizeof(cl_double);
  work.list_bytes =
      work.answers_bytes + size_of(shape.most_doubts * work.groups) * sizeof(cl_ulong);
  work.total_bytes =
      work.list_bytes + size_of(4 + 3 * shape.most_doubts + extent.steps) * sizeof(cl_int);
  return work;
}

void decide_passes(Program& program, cl_command_queue queue, const Window& window,
                   const StepTuning& tuning, const Certification& certification,
                   const DecideBuffers& buffers, const DecideWork& work, Buffer scratch) {
  check_extent(program, window.extent);
  decide_pass(program, queue, window, tuning, certification, buffers, work, scratch,
              "metropolis_decide");
  if (!certification.active) return;
  exact_changes(program, queue, window, certification, buffers, work, scratch);
  decide_pass(program, queue, window, tuning, certification, buffers, work, scratch,
              "metropolis_settle");
}

void metropolis_decide(Program& program, cl_command_queue queue, const Window& window,
                       const StepTuning& tuning, const Certification& certification,
                       const DecideBuffers& buffers) {
  const DecideWork work = decide_work(program, window.extent);
  const Buffer scratch{program.scratch(queue, work.total_bytes), 0};
  const int group = program.shape().difference_group;
  Launch(program, queue, "candidate_differences")
      .with(window_shape(window))
      .with(window.plan)
      .with(buffers.table)
      .with(scratch)
      .run({groups_for(window.extent.candidates, group), size_of(window.extent.candidates)},
           {size_of(group), 1});
  decide_passes(program, queue, window, tuning, certification, buffers, work, scratch);
}

}  // namespace starpmc::opencl
