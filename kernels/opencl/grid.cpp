#include <algorithm>

#include "kernels/opencl/launch.hpp"

namespace starpmc::opencl {
namespace {

/// Scratch memory of the grid term, and how its work is cut.
struct GridWork {
  int capacity;          ///< sites there is room for
  int site_groups;       ///< work-groups side by side for the sites
  int blocks_per_chunk;  ///< compact blocks one work-group sums over
  int chunks;
  std::size_t first_site_bytes;  ///< offsets into the scratch memory
  std::size_t partials_bytes;
  std::size_t total_bytes;
};

int divided_up(int value, int divisor) { return (value + divisor - 1) / divisor; }

/// As many chunks as keep all compute units busy, and no more: each costs a sum per site.
GridWork grid_work(const Program& program, const Window& window, int blocks) {
  const LaunchShape& shape = program.shape();
  GridWork work{};
  work.capacity = window.extent.candidates * window.layout.sites;
  work.site_groups = divided_up(work.capacity, shape.grid_group * shape.grid_sites);
  const int wanted_groups = program.compute_units() * shape.groups_per_unit;
  const int wanted_chunks = std::clamp(divided_up(wanted_groups, work.site_groups), 1, blocks);
  work.blocks_per_chunk = std::min(divided_up(blocks, wanted_chunks), shape.most_chunk_blocks);
  work.chunks = divided_up(blocks, work.blocks_per_chunk);
  const std::size_t capacity = size_of(work.capacity);
  work.first_site_bytes = 4 * capacity * sizeof(double);
  const std::size_t first_site_count = size_of(window.extent.candidates + 1);
  work.partials_bytes = work.first_site_bytes + (first_site_count + 1) / 2 * sizeof(double);
  work.total_bytes = work.partials_bytes + size_of(work.chunks) * capacity * sizeof(double);
  return work;
}

}  // namespace

void qmmm_coulomb_grid(Program& program, cl_command_queue queue, const Window& window, int blocks,
                       Buffer block_headers, Buffer points, Buffer energies) {
  if (blocks == 0) {
    fill_with_zeros(queue, window.extent.candidates, energies);
    return;
  }
  const LaunchShape& shape = program.shape();
  const GridWork work = grid_work(program, window, blocks);
  const Buffer sites{program.scratch(queue, work.total_bytes), 0};
  const Buffer first_site{sites.memory, work.first_site_bytes};
  const Buffer partials{sites.memory, work.partials_bytes};
  const cl_int candidates = window.extent.candidates;
  Launch(program, queue, "list_charged_sites")
      .with(window_shape(window))
      .with(window.topology_reals)
      .with(window.topology_integers)
      .with(window.plan)
      .with(window.entries)
      .with(cl_int{work.capacity})
      .with(sites)
      .with(first_site)
      .run({1, 1}, {size_of(shape.list_group), 1});
  Launch(program, queue, "qmmm_coulomb_grid_pairs")
      .with(pair_constants(window.interaction))
      .with(candidates)
      .with(cl_int{work.capacity})
      .with(sites)
      .with(first_site)
      .with(cl_int{blocks})
      .with(cl_int{work.blocks_per_chunk})
      .with(block_headers)
      .with(points)
      .with(partials)
      .run({size_of(work.site_groups), size_of(work.chunks)}, {size_of(shape.grid_group), 1});
  Launch(program, queue, "qmmm_coulomb_grid_sum")
      .with(cl_int{work.capacity})
      .with(cl_int{work.chunks})
      .with(sites)
      .with(first_site)
      .with(partials)
      .with(energies)
      .run({size_of(candidates), 1}, {size_of(shape.sum_group), 1});
}

void grid_potential(Program& program, cl_command_queue queue, const WindowLayout& layout,
                    const Interaction& interaction, const TopologyShape& topology,
                    Buffer topology_reals, Buffer topology_integers, Buffer lattice, int blocks,
                    Buffer block_headers, Buffer points, Buffer potential) {
  if (blocks == 0) return;
  Launch(program, queue, "grid_potential")
      .with(layout)
      .with(topology)
      .with(interaction)
      .with(topology_reals)
      .with(topology_integers)
      .with(lattice)
      .with(block_headers)
      .with(points)
      .with(potential)
      .run({size_of(blocks), 1}, {size_of(program.shape().potential_group), 1});
}

}  // namespace starpmc::opencl
