#include "kernels/opencl/window_work.hpp"

namespace starpmc::opencl {
namespace {

/// A window with a launch per operation, as CPUs like it: their kernels differ in their groups.
void sample_by_operations(Program& program, cl_command_queue queue, const Window& window,
                          const StepRange& range, const StepTuning& tuning,
                          const Certification& certification, const WholeWindow& whole) {
  const DecideBuffers& decide = whole.decide;
  propose_moves(program, queue, window, range, decide.chain_state, decide.lattice, whole.outside);
  if (whole.blocks != 0) {
    qmmm_coulomb_grid(program, queue, window, whole.blocks, whole.block_headers, whole.points,
                      decide.grid_energies);
  }
  if (certification.nuclei > 0) {
    qmmm_nuclei_vdw(program, queue, window, certification.nuclei, certification.solute,
                    decide.nuclei_energies);
  }
  mm_pair(program, queue, window, 0, window.topology.molecules, decide.lattice,
          decide.lattice_sites, whole.outside, whole.mm_partial);
  mm_pair_table(program, queue, window, decide.table);
  const Buffer partials[] = {whole.mm_partial};
  mm_pair_reduce(program, queue, window, partials, decide.table, decide.mm_energies);
  metropolis_decide(program, queue, window, tuning, certification, decide);
}

/// mm_pair, mm_pair_table and qmmm_nuclei_vdw in one launch.
void window_energies(Program& program, cl_command_queue queue, const Window& window,
                     const Certification& certification, const WholeWindow& whole) {
  constexpr int kTile = 16;  // TABLE_TILE of window_energies.cl
  const DecideBuffers& decide = whole.decide;
  const int entries = window.extent.candidates + window.extent.starts;
  const int rows = (entries + kTile - 1) / kTile;
  const int tiles = rows * (rows + 1) / 2;
  const int nuclei_groups = certification.nuclei > 0 ? window.extent.candidates : 0;
  const Buffer& unused = decide.mm_energies;
  Launch(program, queue, "window_energies")
      .with(window_shape(window))
      .with(pair_constants(window.interaction))
      .with(cl_int{tiles})
      .with(cl_int{certification.nuclei})
      .with(window.topology_reals)
      .with(window.topology_integers)
      .with(window.plan)
      .with(window.entries)
      .with(decide.lattice)
      .with(decide.lattice_sites)
      .with(whole.outside)
      .with(some(certification.solute, unused))
      .with(whole.mm_partial)
      .with(decide.table)
      .with(some(decide.nuclei_energies, unused))
      .with_local(target_bytes(program, window))
      .run({size_of(entries + tiles + nuclei_groups), 1}, {size_of(kTile * kTile), 1});
}

/// mm_pair_reduce, candidate_differences and qmmm_coulomb_grid_sum in one launch.
void window_sums(Program& program, cl_command_queue queue, const Window& window,
                 const WholeWindow& whole, const GridWork& grid, Buffer sites, Buffer partials,
                 Buffer differences) {
  const DecideBuffers& decide = whole.decide;
  const Buffer& unused = decide.mm_energies;
  const WindowExtent& extent = window.extent;
  const int groups = 2 * (extent.candidates + extent.starts) + extent.candidates +
                     (whole.blocks > 0 ? extent.candidates : 0);
  Launch(program, queue, "window_sums")
      .with(window_shape(window))
      .with(pair_constants(window.interaction))
      .with(cl_int{grid.parts()})
      .with(cl_int{grid.capacity})
      .with(window.plan)
      .with(sites)
      .with(partials)
      .with(whole.mm_partial)
      .with(decide.table)
      .with(some(decide.grid_energies, unused))
      .with(decide.mm_energies)
      .with(differences)
      .run({size_of(groups), 1}, {size_of(program.shape().grid_sum_group), 1});
}

}  // namespace

void sample_window(Program& program, cl_command_queue queue, const Window& window,
                   const StepRange& range, const StepTuning& tuning,
                   const Certification& certification, const WholeWindow& whole) {
  if (program.is_cpu()) {
    sample_by_operations(program, queue, window, range, tuning, certification, whole);
    return;
  }
  const DecideBuffers& decide = whole.decide;
  const GridWork grid = whole.blocks > 0 ? grid_work(program, window, whole.blocks) : GridWork{};
  const DecideWork work = decide_work(program, window.extent);
  const Buffer sites{program.scratch(queue, grid.total_bytes + work.total_bytes), 0};
  const Buffer partials = behind(sites, grid.partials_bytes);
  const Buffer decide_scratch = behind(sites, grid.total_bytes);
  propose_moves_and_sites(program, queue, window, range, decide.chain_state, decide.lattice,
                          whole.outside, grid.capacity, sites);
  if (whole.blocks > 0) {
    qmmm_coulomb_grid_pairs(program, queue, window, grid, whole.blocks, sites, whole.block_headers,
                            whole.points, partials);
  }
  window_energies(program, queue, window, certification, whole);
  window_sums(program, queue, window, whole, grid, sites, partials, decide_scratch);
  decide_passes(program, queue, window, tuning, certification, decide, work, decide_scratch);
}

}  // namespace starpmc::opencl
