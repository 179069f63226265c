#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "kernels/arguments.hpp"
#include "kernels/common/layout.h"
#include "kernels/energy_exchange.hpp"
#include "kernels/opencl/host/launch_shape.hpp"
#include "kernels/precision.hpp"

/// The operations for OpenCL devices: each enqueues its kernels on a queue and returns without
/// waiting. Buffers have the layouts of kernels/common/layout.h. Nothing here knows of StarPU.
namespace starpmc::opencl {

/// Part of a device's memory.
struct Buffer {
  cl_mem memory = nullptr;
  std::size_t offset_bytes = 0;
  std::size_t bytes = kSizeNotTold;

  static constexpr auto kSizeNotTold = static_cast<std::size_t>(-1);
};

class PreparedKernel;

/// The kernels built for one device and one precision, with scratch memory for their partial sums.
/// Used by several threads, each with in-order queues of its own.
class DeviceProgram {
 public:
  /// @param sources folder that holds opencl/ and common/
  /// @param shape   what to compile for; by the device's type where it is left out. Groups are made
  ///                as small as the device and its kernels want them
  /// @param potential  the user's functions
  /// @throws RunError with the build log where the device's compiler refuses, or where the device
  ///         has no double precision
  DeviceProgram(cl_context context, cl_device_id device, Precision precision,
                const std::filesystem::path& sources,
                std::optional<LaunchShape> shape = std::nullopt, const Potential& potential = {});
  ~DeviceProgram();
  DeviceProgram(const DeviceProgram&) = delete;
  DeviceProgram& operator=(const DeviceProgram&) = delete;

  /// The kernel for commands of one queue.
  PreparedKernel& kernel(cl_command_queue queue, const char* name);
  /// Scratch memory of at least `bytes` for commands of one queue, valid until the next call for
  /// it.
  cl_mem scratch(cl_command_queue queue, std::size_t bytes);
  /// Main memory of at least `bytes` that the device reads and writes without a copy between, for
  /// commands of one queue, valid until the next call for it.
  std::span<std::byte> pinned(cl_command_queue queue, std::size_t bytes);
  cl_device_id device() const;
  Precision precision() const;
  bool single() const { return precision() != Precision::fp64; }  ///< fp32 pair terms
  bool is_cpu() const;  ///< built for a CPU: small work-groups suit it better
  int compute_units() const;
  std::size_t local_memory_bytes() const;
  const LaunchShape& shape() const;

 private:
  void build(const std::filesystem::path& sources, const Potential& potential);

  struct State;
  std::unique_ptr<State> state_;
};

/// Extent of a window, known to the host from the plan.
struct WindowExtent {
  int steps;
  int candidates;
  int starts;
};

/// What every kernel of a window needs.
struct Window {
  WindowLayout layout;
  Interaction interaction;
  TopologyShape topology;
  WindowExtent extent;
  Buffer topology_reals;
  Buffer topology_integers;
  Buffer plan;
  Buffer entries;
};

/// Computes the plan on the device, too (from the same picks as WindowPlanner): window.plan is
/// written.
void propose_moves(DeviceProgram& program, cl_command_queue queue, const Window& window,
                   const StepRange& range, Buffer chain_state, Buffer lattice, Buffer outside);

/// @param blocks number of compact blocks in `block_headers` and `points`
void qmmm_coulomb_grid(DeviceProgram& program, cl_command_queue queue, const Window& window,
                       int blocks, Buffer block_headers, Buffer points, Buffer energies);

void qmmm_coulomb_grid_reduce(DeviceProgram& program, cl_command_queue queue, int candidates,
                              std::span<const Buffer> partials, Buffer energies);

void qmmm_nuclei_vdw(DeviceProgram& program, cl_command_queue queue, const Window& window,
                     int nuclei, Buffer solute, Buffer energies);

/// ReferenceFieldArguments; without a response its buffers are null.
struct ReferenceField {
  PotentialLattice potential;
  PotentialLattice response;
  Buffer potential_values;
  Buffer response_values;
  Buffer energies;
  Buffer responses;
};
void reference_field(DeviceProgram& program, cl_command_queue queue, const Window& window,
                     const ReferenceField& field);

void mm_pair(DeviceProgram& program, cl_command_queue queue, const Window& window,
             int first_molecule, int last_molecule, Buffer lattice, Buffer lattice_sites,
             Buffer outside, Buffer energies);

void mm_pair_table(DeviceProgram& program, cl_command_queue queue, const Window& window,
                   Buffer table);

void mm_pair_reduce(DeviceProgram& program, cl_command_queue queue, const Window& window,
                    std::span<const Buffer> partials, Buffer table, Buffer energies);

/// Certified decisions (kernels/arguments.hpp); solute and density may be null.
struct Certification {
  bool active = false;
  DecisionBound bound{};
  int blocks = 0;
  Buffer exact_blocks;
  Buffer exact_points;
  Buffer solute;
  int nuclei = 0;
  bool alone = false;  ///< no other chain wants the device meanwhile
};

/// The solute's response (ResponseArguments).
struct ResponseBuffers {
  int components = 0;  ///< 0: none, and no buffers
  Buffer candidates;
  Buffer molecules;
  Buffer total;
};

/// Buffers of metropolis_decide; grid_energies and nuclei_energies may be null (no solute).
struct DecideBuffers {
  Buffer grid_energies;
  Buffer nuclei_energies;
  Buffer mm_energies;
  Buffer table;
  Buffer chain_state;
  Buffer lattice;
  Buffer lattice_sites;
  Buffer field_cache;
  Buffer record;
  ResponseBuffers response{};
};
void metropolis_decide(DeviceProgram& program, cl_command_queue queue, const Window& window,
                       const StepTuning& tuning, const Certification& certification,
                       const DecideBuffers& buffers);

/// What whole windows read and write besides; `decide` but for its record.
struct WholeWindow {
  DecideBuffers decide;
  Buffer outside;
  Buffer mm_partial;
  int blocks = 0;  ///< compact blocks of the density; 0: none
  Buffer block_headers;
  Buffer points;
  ReferenceField reference{};  ///< in the place of a density
  TeamMember member{};         ///< has others: the density is a part, and the queue is waited for
};
/// One of several windows in a row.
struct WindowTask {
  StepRange range;
  StepTuning tuning;
  WindowExtent extent;
  Buffer record;
};
/// What settles a window's doubts: the launch that decides, where it can, or one of its own.
enum class Settling { at_once, apart };

/// All operations of windows, from propose_moves to metropolis_decide; several of them in one
/// launch where that is faster, and then what they hand to each other lies in scratch memory: the
/// caller's buffers of plan, entries and energies need not be written. certification.solute and
/// .nuclei serve the energies, too.
/// @param window its extent is that of each task
/// @param settling apart: to check both ways
void sample_windows(DeviceProgram& program, cl_command_queue queue, const Window& window,
                    std::span<const WindowTask> tasks, const Certification& certification,
                    const WholeWindow& whole, Settling settling = Settling::at_once);

void grid_potential(DeviceProgram& program, cl_command_queue queue, const WindowLayout& layout,
                    const Interaction& interaction, const TopologyShape& topology,
                    Buffer topology_reals, Buffer topology_integers, Buffer lattice, int blocks,
                    Buffer block_headers, Buffer points, Buffer potential);

/// How much there is of what pose_energies reads.
struct PoseExtent {
  int sites;  ///< of the ligand
  int poses;
  int blocks;  ///< of the receptor
};
/// PoseEnergiesArguments' arrays.
struct PoseBuffers {
  Buffer ligand;
  Buffer positions;
  Buffer receptor_blocks;
  Buffer receptor_sites;
  Buffer energies;
};
void pose_energies(DeviceProgram& program, cl_command_queue queue,
                   const PoseInteraction& interaction, const PoseExtent& extent,
                   const PoseBuffers& buffers);

/// @param partials 1 to STARPMC_MOST_PARTIALS
void pose_energies_reduce(DeviceProgram& program, cl_command_queue queue, int poses,
                          std::span<const Buffer> partials, Buffer energies);

/// @param result two doubles, as in ArithmeticProbeArguments
void arithmetic_probe(DeviceProgram& program, cl_command_queue queue, ArithmeticLoop loop,
                      int rounds, Buffer result);

}  // namespace starpmc::opencl
