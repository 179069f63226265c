#include "kernels/opencl/host/window_work.hpp"

namespace starpmc::opencl {
namespace {

constexpr int kSumItems = 64;
constexpr int kTableTile = 16;
constexpr std::size_t kTargetSiteBytes = 96;  ///< at most

void add_partial(DeviceProgram& program, cl_command_queue queue, int count, bool first,
                 Buffer partial, Buffer energies) {
  Launch(program, queue, "add_partial_energies")
      .with(cl_int{count}, cl_int{first}, partial, energies)
      .run({groups_for(count, kSumItems), 1}, {kSumItems, 1});
}

/// Groups of mm_pair: one per entry, on a CPU one per molecule of the window.
std::size_t pair_groups(const DeviceProgram& program, const Window& window) {
  const WindowExtent& extent = window.extent;
  if (!program.is_cpu()) return size_of(extent.candidates + extent.starts);
  return size_of(extent.starts > 0 ? extent.starts : extent.candidates);
}

}  // namespace

std::size_t target_bytes(const DeviceProgram& program, const Window& window) {
  const std::size_t entries = program.is_cpu() ? 1 << STARPMC_MAXIMUM_VISITS : 1;
  return entries * size_of(window.layout.sites) * kTargetSiteBytes;
}

void qmmm_coulomb_grid_reduce(DeviceProgram& program, cl_command_queue queue, int candidates,
                              std::span<const Buffer> partials, Buffer energies) {
  if (partials.empty()) fill_with_zeros(queue, candidates, energies);
  for (std::size_t i = 0; i < partials.size(); ++i) {
    add_partial(program, queue, candidates, i == 0, partials[i], energies);
  }
}

void qmmm_nuclei_vdw(DeviceProgram& program, cl_command_queue queue, const Window& window,
                     int nuclei, Buffer solute, Buffer energies) {
  Launch(program, queue, "qmmm_nuclei_vdw")
      .with(window_shape(window), window.interaction, pair_constants(window.interaction),
            cl_int{nuclei})
      .with_buffers_of(window)
      .with(some(solute, energies), energies)
      .with_local(size_of(program.shape().sum_group) * sizeof(cl_double))
      .run({size_of(window.extent.candidates), 1}, {size_of(program.shape().sum_group), 1});
}

void mm_pair(DeviceProgram& program, cl_command_queue queue, const Window& window,
             int first_molecule, int last_molecule, Buffer lattice, Buffer lattice_sites,
             Buffer outside, Buffer energies) {
  Launch(program, queue, "mm_pair")
      .with(window_shape(window), pair_constants(window.interaction), cl_int{first_molecule},
            cl_int{last_molecule})
      .with_buffers_of(window)
      .with(lattice, lattice_sites, outside, energies)
      .with_local(target_bytes(program, window))
      .run({pair_groups(program, window), 1},
           {program.is_cpu() ? 1 : size_of(program.shape().pair_group), 1});
}

void mm_pair_table(DeviceProgram& program, cl_command_queue queue, const Window& window,
                   Buffer table) {
  Launch launch(program, queue, "mm_pair_table");
  launch.with(window_shape(window), pair_constants(window.interaction))
      .with_buffers_of(window)
      .with(table);
  if (program.is_cpu()) {
    const int rows = entry_capacity(window.layout);
    fill_with_zeros(
        queue, program.single() ? (MM_TERMS * rows * rows + 1) / 2 : MM_TERMS * rows * rows, table);
    launch.with_local(target_bytes(program, window)).run({pair_groups(program, window), 1}, {1, 1});
    return;
  }
  const std::size_t tiles = groups_for(window.extent.candidates + window.extent.starts, kTableTile);
  launch.run({tiles, tiles}, {kTableTile, kTableTile});
}

void mm_pair_reduce(DeviceProgram& program, cl_command_queue queue, const Window& window,
                    std::span<const Buffer> partials, Buffer table, Buffer energies) {
  const int capacity = entry_capacity(window.layout);
  if (partials.empty()) fill_with_zeros(queue, MM_TERMS * capacity, energies);
  Launch(program, queue, "mm_pair_reduce")
      .with(window_shape(window), partials.empty() ? energies : partials[0], table, energies)
      .with_local(size_of(program.shape().sum_group) * sizeof(cl_double))
      .run({groups_for(window.extent.candidates + window.extent.starts, SUM_ENTRIES), MM_TERMS},
           {size_of(program.shape().sum_group), 1});
  for (std::size_t i = 1; i < partials.size(); ++i) {
    add_partial(program, queue, MM_TERMS * capacity, false, partials[i], energies);
  }
}

}  // namespace starpmc::opencl
