#include <algorithm>

#include "kernels/base/error.hpp"
#include "kernels/opencl/host/window_work.hpp"

namespace starpmc::opencl {
namespace {

void decide_pass(Program& program, cl_command_queue queue, const Window& window,
                 const StepTuning& tuning, const Certification& certification,
                 const DecideBuffers& buffers, const DecideWork& work, Buffer scratch,
                 bool second) {
  Launch launch(program, queue, second ? "metropolis_settle" : "metropolis_decide");
  set_decide_arguments(launch, window, tuning, certification, buffers, work, scratch, second);
  launch.with_local(occupation_bytes(program, window.extent.steps, buffers.response.components))
      .with_local(size_of(program.shape().decide_group) * sizeof(cl_ulong))
      .run({1, 1}, {size_of(program.shape().decide_group), 1});
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
      .with(scratch)
      .with(behind(scratch, work.answers_bytes))
      .with_local(size_of(program.shape().exact_group) * sizeof(cl_ulong))
      .run({size_of(work.groups), 1}, {size_of(program.shape().exact_group), 1});
}

}  // namespace

/// As occupation_in of occupation.h and rounds_in of decide_teams.h lay it out.
std::size_t occupation_bytes(const Program& program, int steps, int components) {
  const bool rounds = program.shape().decide_group > 1;
  const std::size_t step_integers = rounds ? 8 : 5;
  const std::size_t integers =
      size_of(steps) * step_integers + 1 + (rounds ? 2 + groups_for(steps, 32) : 0);
  const std::size_t responses = rounds ? 0 : size_of(components) * sizeof(cl_long);
  return size_of(steps) * (2 + STEP_ENERGIES) * sizeof(cl_double) + responses +
         integers * sizeof(cl_int);
}

void check_extent(const Program& program, const WindowExtent& extent, int components) {
  const LaunchShape& shape = program.shape();
  const std::size_t item_bytes = 2 * sizeof(cl_ulong);
  check_local_memory(program,
                     occupation_bytes(program, extent.steps, components) +
                         size_of(shape.decide_group) * item_bytes,
                     "metropolis_decide");
  if (extent.candidates <= shape.most_candidates) return;
  throw RunError("OpenCL: a window has " + std::to_string(extent.candidates) +
                 " candidates, the device's kernel holds " + std::to_string(shape.most_candidates) +
                 ": use smaller windows");
}

int groups_of_exact_changes(const Program& program) {
  return program.compute_units() * program.shape().exact_groups_per_unit;
}

DecideWork decide_work(const Program& program, const Window& window, int groups, int components) {
  const int doubts = program.shape().most_doubts;
  const std::size_t candidates = size_of(window.extent.candidates);
  DecideWork work;
  work.groups = groups;
  work.differences_bytes = aligned(size_of(4 + 3 * doubts + window.layout.steps) * sizeof(cl_int));
  const std::size_t own_and_differences =
      (DIFFERENCE_FIELDS * candidates + OWN_FIELDS) * candidates * sizeof(cl_double);
  work.answers_bytes = aligned(work.differences_bytes + own_and_differences +
                               candidates * candidates * sizeof(cl_float));
  const std::size_t answers = size_of(std::max(doubts * groups, RESPONSE_PARTS * components));
  work.total_bytes = aligned(work.answers_bytes + answers * sizeof(cl_ulong));
  return work;
}

void set_decide_arguments(Launch& launch, const Window& window, const StepTuning& tuning,
                          const Certification& certification, const DecideBuffers& buffers,
                          const DecideWork& work, Buffer scratch, bool exact) {
  const Buffer& unused = scratch;
  const auto if_exact = [&](const Buffer& buffer) { return exact ? some(buffer, unused) : unused; };
  launch.with(window_shape(window))
      .with(window.interaction)
      .with(tuning)
      .with(cl_int{certification.active})
      .with(certification.bound)
      .with(cl_int{buffers.grid_energies.memory != nullptr})
      .with(cl_int{buffers.nuclei_energies.memory != nullptr})
      .with(cl_int{certification.nuclei})
      .with(cl_int{certification.blocks})
      .with(cl_int{buffers.response.components})
      .with(cl_int{work.groups})
      .with(if_exact(window.topology_reals))
      .with(if_exact(window.topology_integers))
      .with(window.plan)
      .with(window.entries)
      .with(some(buffers.grid_energies, unused))
      .with(some(buffers.nuclei_energies, unused))
      .with(buffers.mm_energies)
      .with(behind(scratch, work.differences_bytes))
      .with(buffers.chain_state)
      .with(buffers.lattice)
      .with(buffers.lattice_sites)
      .with(buffers.field_cache)
      .with(buffers.record)
      .with(some(buffers.response.candidates, unused))
      .with(some(buffers.response.molecules, unused))
      .with(some(buffers.response.total, unused))
      .with(if_exact(certification.solute))
      .with(if_exact(certification.exact_blocks))
      .with(if_exact(certification.exact_points))
      .with(scratch)
      .with(behind(scratch, work.answers_bytes));
}

void decide_at_first(Program& program, cl_command_queue queue, const Window& window,
                     const StepTuning& tuning, const Certification& certification,
                     const DecideBuffers& buffers, const DecideWork& work, Buffer scratch) {
  check_extent(program, window.extent, buffers.response.components);
  const int group = program.shape().difference_group;
  Launch(program, queue, "candidate_differences")
      .with(window_shape(window))
      .with(window.plan)
      .with(buffers.table)
      .with(cl_int{buffers.response.components})
      .with(some(buffers.response.candidates, scratch))
      .with(some(buffers.response.molecules, scratch))
      .with(behind(scratch, work.differences_bytes))
      .run({groups_for(window.extent.candidates, group), size_of(window.extent.candidates)},
           {size_of(group), 1});
  decide_pass(program, queue, window, tuning, certification, buffers, work, scratch, false);
}

void settle_doubts(Program& program, cl_command_queue queue, const Window& window,
                   const StepTuning& tuning, const Certification& certification,
                   const DecideBuffers& buffers, const DecideWork& work, Buffer scratch) {
  decide_pass(program, queue, window, tuning, certification, buffers, work, scratch, true);
}

void metropolis_decide(Program& program, cl_command_queue queue, const Window& window,
                       const StepTuning& tuning, const Certification& certification,
                       const DecideBuffers& buffers) {
  const DecideWork work =
      decide_work(program, window, groups_of_exact_changes(program), buffers.response.components);
  const Buffer scratch{program.scratch(queue, work.total_bytes), 0};
  decide_at_first(program, queue, window, tuning, certification, buffers, work, scratch);
  if (!certification.active) return;
  exact_changes(program, queue, window, certification, buffers, work, scratch);
  settle_doubts(program, queue, window, tuning, certification, buffers, work, scratch);
}

}  // namespace starpmc::opencl
