#pragma once

#include "kernels/opencl/host/launch.hpp"

/// Parts of the operations of a window that launches of several operations share.
namespace starpmc::opencl {

/// Scratch memory of the grid term, and how its work is cut.
struct GridWork {
  int capacity = 0;          ///< places for sites, whole vectors of them; 0: no density
  int blocks_per_chunk = 0;  ///< compact blocks one work-group sums over
  int chunks = 0;
  int slices = 0;                  ///< work-groups that share the sites of a chunk
  std::size_t partials_bytes = 0;  ///< offset into the scratch memory
  std::size_t total_bytes = 0;

  int parts() const { return chunks * slices; }
};
/// As many chunks as keep all compute units busy, and no more: each costs a sum per site.
GridWork grid_work(const DeviceProgram& program, const Window& window, int blocks);

/// Energies of the charged sites in `sites` with `blocks` compact blocks, as parts of sums.
void qmmm_coulomb_grid_pairs(DeviceProgram& program, cl_command_queue queue, const Window& window,
                             const GridWork& work, int blocks, Buffer sites, Buffer block_headers,
                             Buffer points, Buffer partials);

/// Their sums over the sites of each candidate, kJ/mol.
void qmmm_coulomb_grid_sum(DeviceProgram& program, cl_command_queue queue, const Window& window,
                           const GridWork& work, Buffer sites, Buffer partials, Buffer energies);

/// mm_pair, qmmm_coulomb_grid_pairs, mm_pair_table and qmmm_nuclei_vdw in one launch, where the
/// device can (LaunchShape::last_group_goes_on).
/// @param sites placed by propose_moves_and_sites
void window_energies(DeviceProgram& program, cl_command_queue queue, const Window& window,
                     const GridWork& work, const Certification& certification,
                     const WholeWindow& whole, Buffer sites, Buffer partials);

/// Scratch memory of metropolis_decide; the list of doubts comes first, at a place of its own.
struct DecideWork {
  int groups = 0;                     ///< that share an exact energy change
  std::size_t differences_bytes = 0;  ///< offset: the candidates' differences
  std::size_t answers_bytes = 0;
  std::size_t total_bytes = 0;
};
/// Of an exact change without the density's points, among the group that decides and those that
/// help it (help.h): these hold half of the compute units at most, so that there is room for what
/// comes after.
int most_exact_parts(const DeviceProgram& program);
int exact_parts(const DeviceProgram& program, const Window& window,
                const Certification& certification);
DecideWork decide_work(const DeviceProgram& program, const Window& window, int groups,
                       int components);
/// Groups for the pairs of a window's entries: tiles of the lower triangle (mm_pair_table).
inline int table_tiles(const DeviceProgram& program, const WindowExtent& extent) {
  const int tile = program.shape().table_tile;
  const int rows = (extent.candidates + extent.starts + tile - 1) / tile;
  return rows * (rows + 1) / 2;
}
/// Groups that add up a window's energies, of window_add_up.
AddUpGroups small_groups_that_add_up(const WindowExtent& extent, int components);
/// The same of window_decide, of so many items, where there is no response.
AddUpGroups deciding_groups_that_add_up(const WindowExtent& extent, int items);
/// @throws RunError where the device cannot decide such a window
void check_extent(const DeviceProgram& program, const WindowExtent& extent, int components);
std::size_t occupation_bytes(const DeviceProgram& program, int steps, int components);
std::size_t picks_bytes(int steps);

/// How a window's launches are given what they hand to each other: as buffers, or as places in the
/// memory of the scratch buffer, which they are given once.
enum class Handed { as_buffers, as_places };

/// Arguments of kernels that decide (DECIDE_PARAMETERS of decide_window.h) but for their local
/// memory.
/// @param scratch as decide_work lays it out
void set_decide_arguments(Launch& launch, const Window& window, const StepTuning& tuning,
                          const Certification& certification, const DecideBuffers& buffers,
                          const DecideWork& work, Buffer scratch, Handed handed);
/// AND_POINTS_PARAMETERS.
/// @param unused for those that there are not
void set_points_arguments(Launch& launch, const Certification& certification, const Buffer& unused);

/// propose_moves that places the candidates' charged sites, too.
void propose_moves_and_sites(DeviceProgram& program, cl_command_queue queue, const Window& window,
                             const StepRange& range, Buffer chain_state, Buffer lattice,
                             Buffer outside, int site_capacity, Buffer sites);

/// Local memory for the sites of a group's entries in the MM terms.
std::size_t target_bytes(const DeviceProgram& program, const Window& window);

/// A kernel argument must be some buffer, even one that is not read.
inline Buffer some(const Buffer& buffer, const Buffer& other) {
  return buffer.memory != nullptr ? buffer : other;
}

/// Where the next part of scratch memory may begin.
inline std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

inline Buffer behind(Buffer buffer, std::size_t bytes) {
  buffer.offset_bytes += bytes;
  return buffer;
}

}  // namespace starpmc::opencl
