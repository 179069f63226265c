#include "codelets/operation_codelet.hpp"

namespace starpmc::codelets {
namespace {

template <class Real>
struct CoulombGrid : WindowArguments {
  static constexpr const char* kName = "qmmm_coulomb_grid";
  static constexpr auto kSimdKernel = simd::qmmm_coulomb_grid<Real>;
  static constexpr auto kScalarKernel = scalar::qmmm_coulomb_grid<Real>;
  enum : std::size_t { kBlockHeaders = kWindowBuffers, kPoints, kEnergies };

  int blocks;

  void host(Kernel<CoulombGridArguments<Real>> kernel, HostBuffers b) const {
    kernel({window_view(b, *this), b.read<double>(kBlockHeaders), b.read<Real>(kPoints),
            b.write<double>(kEnergies)});
  }
  void device(OpenclPlace place, DeviceBuffers b) const {
    opencl::qmmm_coulomb_grid(place.program, place.queue, opencl_window(b, *this), blocks,
                              b.at(kBlockHeaders), b.at(kPoints), b.at(kEnergies));
  }
};

}  // namespace

template <class Real>
void qmmm_coulomb_grid(const WindowHandles& window, const WindowArguments& arguments,
                       std::size_t blocks, starpu_data_handle_t block_headers,
                       starpu_data_handle_t points, starpu_data_handle_t energies) {
  submit<Real>(
      CoulombGrid<Real>{arguments, static_cast<int>(blocks)},
      Work::qmmm_coulomb_grid(arguments.extent.candidates, static_cast<double>(blocks)),
      accesses_of(window, {{block_headers, STARPU_R}, {points, STARPU_R}, {energies, STARPU_W}}));
}

STARPMC_FOR_ALL_PRECISIONS(qmmm_coulomb_grid)

}  // namespace starpmc::codelets
