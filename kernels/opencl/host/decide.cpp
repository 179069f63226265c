#include <algorithm>

#include "kernels/base/error.hpp"
#include "kernels/opencl/host/window_work.hpp"

namespace starpmc::opencl {
namespace {

int groups_of_mm_sums(const WindowExtent& extent) {
  return MM_TERMS * whole_groups(extent.candidates + extent.starts, SUM_ENTRIES);
}

void decide_pass(DeviceProgram& program, cl_command_queue queue, const Window& window,
                 const StepTuning& tuning, const Certification& certification,
                 const DecideBuffers& buffers, const DecideWork& work, Buffer scratch,
                 bool second) {
  Launch launch(program, queue, second ? "metropolis_settle" : "metropolis_decide");
  const int parts = second ? 1 : exact_parts(program, window, certification);
  set_decide_arguments(launch, window, tuning, certification, buffers, work, scratch,
                       Handed::as_buffers);
  launch.with_local(occupation_bytes(program, window.extent.steps, buffers.response.components));
  if (second) set_points_arguments(launch, certification, scratch);
  launch.with_local(size_of(program.shape().decide_group) * sizeof(cl_ulong))
      .with(cl_int{parts})
      .run({size_of(parts), 1}, {size_of(program.shape().decide_group), 1});
}

void decide_at_first(DeviceProgram& program, cl_command_queue queue, const Window& window,
                     const StepTuning& tuning, const Certification& certification,
                     const DecideBuffers& buffers, const DecideWork& work, Buffer scratch) {
  check_extent(program, window.extent, buffers.response.components);
  const int group = program.shape().difference_group;
  Launch(program, queue, "candidate_differences")
      .with(window_shape(window), window.plan, buffers.table, cl_int{buffers.response.components},
            some(buffers.response.candidates, scratch), some(buffers.response.molecules, scratch),
            some(buffers.response.total, scratch), behind(scratch, work.differences_bytes), scratch)
      .run({groups_for(window.extent.candidates, group), size_of(window.extent.candidates)},
           {size_of(group), 1});
  decide_pass(program, queue, window, tuning, certification, buffers, work, scratch, false);
}

void exact_changes(DeviceProgram& program, cl_command_queue queue, const Window& window,
                   const Certification& certification, const DecideBuffers& buffers,
                   const DecideWork& work, Buffer scratch) {
  const Buffer& unused = buffers.mm_energies;
  Launch(program, queue, "exact_changes")
      .with(window_shape(window), window.interaction, cl_int{certification.nuclei},
            cl_int{certification.blocks})
      .with_buffers_of(window)
      .with(buffers.lattice, some(certification.solute, unused),
            some(certification.exact_blocks, unused), some(certification.exact_points, unused),
            scratch, behind(scratch, work.answers_bytes))
      .with_local(size_of(program.shape().exact_group) * sizeof(cl_ulong))
      .run({size_of(work.groups), 1}, {size_of(program.shape().exact_group), 1});
}

}  // namespace

/// As occupation_in of occupation.h and rounds_in of decide_teams.h lay it out.
std::size_t occupation_bytes(const DeviceProgram& program, int steps, int components) {
  const bool rounds = program.shape().decide_group > 1;
  const std::size_t step_integers = rounds ? 8 : 5;
  const std::size_t integers =
      size_of(steps) * step_integers + 1 + (rounds ? 2 + groups_for(steps, 32) : 0);
  const std::size_t responses = rounds ? 0 : size_of(components) * sizeof(cl_long);
  return size_of(steps) * (2 + STEP_ENERGIES) * sizeof(cl_double) + responses +
         integers * sizeof(cl_int);
}

void check_extent(const DeviceProgram& program, const WindowExtent& extent, int components) {
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

AddUpGroups small_groups_that_add_up(const WindowExtent& extent, int components) {
  static_assert(DIFFERENCE_COLUMNS == 2 * DIFFERENCE_ROWS);  // as differences_of_tile counts them
  const int columns = whole_groups(extent.candidates, DIFFERENCE_COLUMNS);
  const int own = components > 0 ? whole_groups(extent.candidates, OWN_PER_GROUP) : 0;
  return {groups_of_mm_sums(extent), columns * (columns + 1), own};
}

AddUpGroups deciding_groups_that_add_up(const WindowExtent& extent, int items) {
  const int pairs = extent.candidates * extent.candidates;
  return {groups_of_mm_sums(extent), whole_groups(pairs, PAIRS_PER_ITEM * items), 0};
}

int most_exact_parts(const DeviceProgram& program) { return program.compute_units() / 2 + 1; }

int exact_parts(const DeviceProgram& program, const Window& window,
                const Certification& certification) {
  constexpr int kMoleculesPerPart = 64;
  const bool helps = *program.shape().last_group_goes_on && certification.active;
  if (!helps || !certification.alone) return 1;
  const int others = 2 * window.topology.molecules + 4 * window.extent.steps;  // other_energies()
  return std::clamp(whole_groups(others, kMoleculesPerPart), 1, most_exact_parts(program));
}

DecideWork decide_work(const DeviceProgram& program, const Window& window, int groups,
                       int components) {
  const int doubts = program.shape().most_doubts;
  const std::size_t candidates = size_of(window.extent.candidates);
  DecideWork work;
  work.groups = groups;
  // doubts.h: their list, what the steps did, and the board of questions.
  work.differences_bytes =
      aligned(size_of(4 + 3 * doubts + window.layout.steps + 4 + 2 * doubts) * sizeof(cl_int));
  const std::size_t own_and_differences =
      (DIFFERENCE_FIELDS * candidates + OWN_FIELDS) * candidates * sizeof(cl_double);
  work.answers_bytes = aligned(work.differences_bytes + own_and_differences +
                               candidates * candidates * sizeof(cl_float));
  const std::size_t answers =
      size_of(std::max({doubts * groups, RESPONSE_PARTS * components, most_exact_parts(program)}));
  work.total_bytes = aligned(work.answers_bytes + answers * sizeof(cl_ulong));
  return work;
}

namespace {

/// @param part of a buffer: itself, or its place
template <class Part>
void set_arguments(Launch& launch, const Window& window, const StepTuning& tuning,
                   const Certification& certification, const DecideBuffers& buffers,
                   const DecideWork& work, Buffer scratch, Part part) {
  const Buffer& unused = scratch;
  launch.with(window_shape(window), tuning, window.interaction, cl_int{certification.active},
              certification.bound, cl_int{buffers.grid_energies.memory != nullptr},
              cl_int{buffers.nuclei_energies.memory != nullptr}, cl_int{certification.nuclei},
              cl_int{certification.blocks}, cl_int{buffers.response.components},
              cl_int{work.groups}, part(window.plan), part(window.entries),
              part(some(buffers.grid_energies, unused)),
              part(some(buffers.nuclei_energies, unused)), part(buffers.mm_energies),
              part(behind(scratch, work.differences_bytes)),
              part(some(buffers.response.candidates, unused)), part(scratch),
              part(behind(scratch, work.answers_bytes)), part(buffers.chain_state),
              part(buffers.lattice), part(buffers.lattice_sites), part(buffers.field_cache),
              part(buffers.record), part(some(buffers.response.molecules, unused)),
              part(some(buffers.response.total, unused)), part(window.topology_reals),
              part(window.topology_integers), part(some(certification.solute, unused)));
}

}  // namespace

void set_decide_arguments(Launch& launch, const Window& window, const StepTuning& tuning,
                          const Certification& certification, const DecideBuffers& buffers,
                          const DecideWork& work, Buffer scratch, Handed handed) {
  if (handed == Handed::as_places) {
    set_arguments(launch.with_memory_of(scratch), window, tuning, certification, buffers, work,
                  scratch, [](const Buffer& buffer) { return Place(buffer); });
  } else {
    set_arguments(launch, window, tuning, certification, buffers, work, scratch,
                  [](const Buffer& buffer) { return buffer; });
  }
}

void set_points_arguments(Launch& launch, const Certification& certification,
                          const Buffer& unused) {
  launch.with(some(certification.exact_blocks, unused), some(certification.exact_points, unused));
}

void metropolis_decide(DeviceProgram& program, cl_command_queue queue, const Window& window,
                       const StepTuning& tuning, const Certification& certification,
                       const DecideBuffers& buffers) {
  const LaunchShape& shape = program.shape();
  const int groups = program.compute_units() * shape.exact_groups_per_unit;
  const DecideWork work = decide_work(program, window, groups, buffers.response.components);
  const Buffer scratch{program.scratch(queue, work.total_bytes), 0};
  decide_at_first(program, queue, window, tuning, certification, buffers, work, scratch);
  if (!certification.active || certification.blocks == 0) return;
  exact_changes(program, queue, window, certification, buffers, work, scratch);
  decide_pass(program, queue, window, tuning, certification, buffers, work, scratch, true);
}

}  // namespace starpmc::opencl
