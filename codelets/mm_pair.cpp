#include "codelets/operation_codelet.hpp"

namespace starpmc::codelets {
namespace {

template <class Real>
struct MmPair : WindowArguments {
  static constexpr const char* kName = "mm_pair";
  static constexpr auto kSimdKernel = simd::mm_pair<Real>;
  static constexpr auto kScalarKernel = scalar::mm_pair<Real>;
  enum : std::size_t { kLattice = kWindowBuffers, kLatticeSites, kOutside, kEnergies };

  int first_molecule;
  int last_molecule;

  void host(Kernel<MmPairArguments<Real>> kernel, HostBuffers b) const {
    kernel({window_view(b, *this), b.read<double>(kLattice), b.read<Real>(kLatticeSites),
            b.read<PairReal<Real>>(kOutside), first_molecule, last_molecule,
            b.write<double>(kEnergies)});
  }
  void device(OpenclPlace place, DeviceBuffers b) const {
    opencl::mm_pair(place.program, place.queue, opencl_window(b, *this), first_molecule,
                    last_molecule, b.at(kLattice), b.at(kLatticeSites), b.at(kOutside),
                    b.at(kEnergies));
  }
};

}  // namespace

template <class Real>
void mm_pair(const WindowHandles& window, const WindowArguments& arguments, int first_molecule,
             int last_molecule, starpu_data_handle_t lattice, starpu_data_handle_t lattice_sites,
             starpu_data_handle_t outside, starpu_data_handle_t energies) {
  submit<Real>(MmPair<Real>{arguments, first_molecule, last_molecule},
               Work::mm_pair(arguments.extent.candidates, last_molecule - first_molecule),
               accesses_of(window, {{lattice, STARPU_R},
                                    {lattice_sites, STARPU_R},
                                    {outside, STARPU_R},
                                    {energies, STARPU_W}}));
}

STARPMC_FOR_ALL_PRECISIONS(mm_pair)

}  // namespace starpmc::codelets
