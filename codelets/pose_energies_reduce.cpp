#include "codelets/operations.hpp"

namespace starpmc::codelets {
namespace {

constexpr const char* kName = "pose_energies_reduce";

struct Arguments : TaskArguments {
  int poses;
  int parts;
};

template <void (*kKernel)(const PoseEnergiesReduceArguments&)>
void on_cpu(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<Arguments>(argument);
    std::vector<std::span<const double>> partials;
    for (int i = 0; i < a.parts; ++i) partials.push_back(span_of<const double>(buffers[1 + i]));
    kKernel({a.poses, partials, span_of<double>(buffers[0])});
  });
}

template <class Real>
void on_opencl(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<Arguments>(argument);
    const OpenclPlace place = opencl_place(kPrecisionOf<Real>);
    std::vector<opencl::Buffer> partials;
    for (int i = 0; i < a.parts; ++i) partials.push_back(opencl_buffer(buffers[1 + i]));
    opencl::pose_energies_reduce(place.program, place.queue, a.poses, partials,
                                 opencl_buffer(buffers[0]));
  });
}

}  // namespace

template <class Real>
void pose_energies_reduce(int poses, std::span<const starpu_data_handle_t> partials,
                          starpu_data_handle_t energies) {
  static PotentialCodelet codelet(
      operation_name<Real>(kName),
      {on_cpu<simd::pose_energies_reduce>, on_cpu<scalar::pose_energies_reduce>, on_opencl<Real>});
  const Arguments a{{work_bucket(poses * static_cast<double>(partials.size()))},
                    poses,
                    static_cast<int>(partials.size())};
  std::vector<Access> accesses{{energies, STARPU_W}};
  for (const auto handle : partials) accesses.push_back({handle, STARPU_R});
  codelet.submit(accesses, a);
}

STARPMC_FOR_ALL_PRECISIONS(pose_energies_reduce)

}  // namespace starpmc::codelets
