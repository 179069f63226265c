#include <algorithm>

#include "kernels/opencl/host/window_work.hpp"

namespace starpmc::opencl {
namespace {

int divided_up(int value, int divisor) { return (value + divisor - 1) / divisor; }

}  // namespace

GridWork grid_work(const DeviceProgram& program, const Window& window, int blocks) {
  constexpr int kLongestVector = 16;
  const LaunchShape& shape = program.shape();
  const int units = program.compute_units();
  GridWork work;
  work.capacity =
      divided_up(window.extent.candidates * window.layout.sites, kLongestVector) * kLongestVector;
  const int wanted_chunks = std::clamp(units * shape.groups_per_unit, 1, blocks);
  work.blocks_per_chunk = std::min(divided_up(blocks, wanted_chunks), shape.most_chunk_blocks);
  work.chunks = divided_up(blocks, work.blocks_per_chunk);
  work.slices = std::clamp(divided_up(units * shape.least_groups_per_unit, work.chunks), 1,
                           shape.most_slices);
  const std::size_t place = 4 * sizeof(double) + 3 * sizeof(double);  // charged_sites.cl
  work.partials_bytes = size_of(work.capacity) * place;
  work.total_bytes =
      work.partials_bytes + size_of(work.parts()) * size_of(work.capacity) * sizeof(double);
  return work;
}

void qmmm_coulomb_grid_pairs(DeviceProgram& program, cl_command_queue queue, const Window& window,
                             const GridWork& work, int blocks, Buffer sites, Buffer block_headers,
                             Buffer points, Buffer partials) {
  Launch(program, queue, "qmmm_coulomb_grid_pairs")
      .with(pair_constants(window.interaction), cl_int{work.capacity}, sites, cl_int{blocks},
            cl_int{work.blocks_per_chunk}, block_headers, points, partials)
      .run({size_of(work.chunks), size_of(work.slices)}, {size_of(program.shape().grid_group), 1});
}

void qmmm_coulomb_grid_sum(DeviceProgram& program, cl_command_queue queue, const Window& window,
                           const GridWork& work, Buffer sites, Buffer partials, Buffer energies) {
  const int group = program.shape().grid_sum_group;
  Launch(program, queue, "qmmm_coulomb_grid_sum")
      .with(pair_constants(window.interaction), cl_int{window.layout.sites}, cl_int{work.capacity},
            cl_int{work.parts()}, cl_int{window.extent.candidates}, sites, partials, energies)
      .with_local(size_of(group) * sizeof(cl_double))
      .run({size_of(window.extent.candidates), 1}, {size_of(group), 1});
}

void qmmm_coulomb_grid(DeviceProgram& program, cl_command_queue queue, const Window& window,
                       int blocks, Buffer block_headers, Buffer points, Buffer energies) {
  if (blocks == 0) {
    fill_with_zeros(queue, window.extent.candidates, energies);
    return;
  }
  const LaunchShape& shape = program.shape();
  const GridWork work = grid_work(program, window, blocks);
  const Buffer sites{program.scratch(queue, work.total_bytes), 0};
  const Buffer partials{sites.memory, work.partials_bytes};
  Launch(program, queue, "place_charged_sites")
      .with(window_shape(window))
      .with_buffers_of(window)
      .with(cl_int{work.capacity}, sites)
      .run({groups_for(work.capacity, shape.site_group), 1}, {size_of(shape.site_group), 1});
  qmmm_coulomb_grid_pairs(program, queue, window, work, blocks, sites, block_headers, points,
                          partials);
  qmmm_coulomb_grid_sum(program, queue, window, work, sites, partials, energies);
}

void grid_potential(DeviceProgram& program, cl_command_queue queue, const WindowLayout& layout,
                    const Interaction& interaction, const TopologyShape& topology,
                    Buffer topology_reals, Buffer topology_integers, Buffer lattice, int blocks,
                    Buffer block_headers, Buffer points, Buffer potential) {
  if (blocks == 0) return;
  Launch(program, queue, "grid_potential")
      .with(layout, topology, interaction, topology_reals, topology_integers, lattice,
            block_headers, points, potential)
      .with_local(size_of(LaunchShape::kPotentialTile) * sizeof(cl_double4))
      .run({size_of(blocks), 1}, {size_of(program.shape().potential_group), 1});
}

}  // namespace starpmc::opencl
