#include "codelets/operation_codelet.hpp"

namespace starpmc::codelets {
namespace {

struct CoulombGridReduce : TaskArguments {
  static constexpr const char* kName = "qmmm_coulomb_grid_reduce";
  static constexpr auto kSimdKernel = simd::qmmm_coulomb_grid_reduce;
  static constexpr auto kScalarKernel = scalar::qmmm_coulomb_grid_reduce;
  enum : std::size_t { kEnergies, kParts };

  int candidates;
  int parts;

  void host(Kernel<CoulombGridReduceArguments> kernel, HostBuffers b) const {
    kernel({candidates, b.parts(kParts, parts), b.write<double>(kEnergies)});
  }
  void device(OpenclPlace place, DeviceBuffers b) const {
    opencl::qmmm_coulomb_grid_reduce(place.program, place.queue, candidates, b.parts(kParts, parts),
                                     b.at(kEnergies));
  }
};

}  // namespace

template <class Real>
void qmmm_coulomb_grid_reduce(const WindowArguments& arguments,
                              std::span<const starpu_data_handle_t> partials,
                              starpu_data_handle_t energies) {
  const int candidates = arguments.extent.candidates;
  submit<Real>(CoulombGridReduce{{}, candidates, static_cast<int>(partials.size())},
               candidates * static_cast<double>(partials.size()),
               with_parts({{energies, STARPU_W}}, partials));
}

STARPMC_FOR_ALL_PRECISIONS(qmmm_coulomb_grid_reduce)

}  // namespace starpmc::codelets
