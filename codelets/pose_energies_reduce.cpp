#include "codelets/operation_codelet.hpp"

namespace starpmc::codelets {
namespace {

struct PoseEnergiesReduce : TaskArguments {
  static constexpr const char* kName = "pose_energies_reduce";
  static constexpr auto kSimdKernel = simd::pose_energies_reduce;
  static constexpr auto kScalarKernel = scalar::pose_energies_reduce;
  enum : std::size_t { kEnergies, kParts };

  int poses;
  int parts;

  void host(Kernel<PoseEnergiesReduceArguments> kernel, HostBuffers b) const {
    kernel({poses, b.parts(kParts, parts), b.write<double>(kEnergies)});
  }
  void device(OpenclPlace place, DeviceBuffers b) const {
    opencl::pose_energies_reduce(place.program, place.queue, poses, b.parts(kParts, parts),
                                 b.at(kEnergies));
  }
};

}  // namespace

template <class Real>
void pose_energies_reduce(int poses, std::span<const starpu_data_handle_t> partials,
                          starpu_data_handle_t energies) {
  submit<Real>(PoseEnergiesReduce{{}, poses, static_cast<int>(partials.size())},
               poses * static_cast<double>(partials.size()),
               with_parts({{energies, STARPU_W}}, partials));
}

STARPMC_FOR_ALL_PRECISIONS(pose_energies_reduce)

}  // namespace starpmc::codelets
