#include "kernels/base/error.hpp"
#include "kernels/opencl/host/launch.hpp"

namespace starpmc::opencl {
namespace {

constexpr std::size_t kPoseTile = 64;       ///< POSE_TILE of pose_energies.cl
constexpr std::size_t kPoseTileFields = 6;  ///< POSE_TILE_FIELDS
constexpr int kReduceItems = 64;

}  // namespace

void pose_energies(DeviceProgram& program, cl_command_queue queue,
                   const PoseInteraction& interaction, const PoseExtent& extent,
                   const PoseBuffers& buffers) {
  if (extent.poses == 0) return;
  const std::size_t group = size_of(program.shape().pose_group);
  const std::size_t real = program.single() ? sizeof(cl_float) : sizeof(cl_double);
  Launch(program, queue, "pose_energies")
      .with(interaction, cl_int{extent.sites}, cl_int{extent.poses}, cl_int{extent.blocks},
            buffers.ligand, buffers.positions, buffers.receptor_blocks, buffers.receptor_sites,
            buffers.energies)
      .with_local(kPoseTile * kPoseTileFields * real)
      .with_local(group * sizeof(cl_double))
      .run({size_of(extent.poses), 1}, {group, 1});
}

void pose_energies_reduce(DeviceProgram& program, cl_command_queue queue, int poses,
                          std::span<const Buffer> partials, Buffer energies) {
  if (partials.empty() || partials.size() > STARPMC_MOST_PARTIALS) {
    throw RunError("OpenCL: pose_energies_reduce takes 1 to " +
                   std::to_string(STARPMC_MOST_PARTIALS) + " partial sums");
  }
  Launch launch(program, queue, "pose_energies_reduce");
  launch.with(cl_int{poses}, static_cast<cl_int>(partials.size()));
  for (std::size_t i = 0; i < STARPMC_MOST_PARTIALS; ++i) {
    launch.with(partials[i < partials.size() ? i : 0]);
  }
  launch.with(energies).run({groups_for(poses, kReduceItems), 1}, {kReduceItems, 1});
}

}  // namespace starpmc::opencl
