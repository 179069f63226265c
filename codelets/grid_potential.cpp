#include "codelets/operation_codelet.hpp"

namespace starpmc::codelets {
namespace {

struct GridPotential : WindowArguments {
  static constexpr const char* kName = "grid_potential";
  static constexpr auto kSimdKernel = simd::grid_potential;
  static constexpr auto kScalarKernel = scalar::grid_potential;
  enum : std::size_t { kLattice = kTopologyIntegers + 1, kBlockHeaders, kPoints, kValues };

  int blocks;

  void host(Kernel<GridPotentialArguments> kernel, HostBuffers b) const {
    kernel({layout, interaction, topology_view(b, topology), b.read<double>(kLattice),
            b.read<double>(kBlockHeaders), b.read<double>(kPoints), b.write<double>(kValues),
            potential});
  }
  void device(OpenclPlace place, DeviceBuffers b) const {
    opencl::grid_potential(place.program, place.queue, layout, interaction, topology,
                           b.at(kTopologyReals), b.at(kTopologyIntegers), b.at(kLattice), blocks,
                           b.at(kBlockHeaders), b.at(kPoints), b.at(kValues));
  }
};

}  // namespace

template <class Real>
void grid_potential(const WindowArguments& arguments, starpu_data_handle_t topology_reals,
                    starpu_data_handle_t topology_integers, starpu_data_handle_t lattice,
                    std::size_t blocks, starpu_data_handle_t block_headers,
                    starpu_data_handle_t points, starpu_data_handle_t potential) {
  submit<Real>(GridPotential{arguments, static_cast<int>(blocks)},
               Work::grid_potential(arguments.topology.molecules, static_cast<double>(blocks)),
               {{topology_reals, STARPU_R},
                {topology_integers, STARPU_R},
                {lattice, STARPU_R},
                {block_headers, STARPU_R},
                {points, STARPU_R},
                {potential, STARPU_W}});
}

STARPMC_FOR_ALL_PRECISIONS(grid_potential)

}  // namespace starpmc::codelets
