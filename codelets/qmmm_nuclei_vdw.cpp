#include "codelets/operation_codelet.hpp"

namespace starpmc::codelets {
namespace {

template <class Real>
struct NucleiVdw : WindowArguments {
  static constexpr const char* kName = "qmmm_nuclei_vdw";
  static constexpr auto kSimdKernel = simd::qmmm_nuclei_vdw<Real>;
  static constexpr auto kScalarKernel = scalar::qmmm_nuclei_vdw<Real>;
  enum : std::size_t { kSolute = kWindowBuffers, kEnergies };

  int nuclei;

  void host(Kernel<NucleiVdwArguments<Real>> kernel, HostBuffers b) const {
    kernel({window_view(b, *this), b.read<double>(kSolute), nuclei, b.write<double>(kEnergies)});
  }
  void device(OpenclPlace place, DeviceBuffers b) const {
    opencl::qmmm_nuclei_vdw(place.program, place.queue, opencl_window(b, *this), nuclei,
                            b.at(kSolute), b.at(kEnergies));
  }
};

}  // namespace

template <class Real>
void qmmm_nuclei_vdw(const WindowHandles& window, const WindowArguments& arguments, int nuclei,
                     starpu_data_handle_t solute, starpu_data_handle_t energies) {
  submit<Real>(NucleiVdw<Real>{arguments, nuclei},
               static_cast<double>(arguments.extent.candidates) * nuclei,
               accesses_of(window, {{solute, STARPU_R}, {energies, STARPU_W}}));
}

STARPMC_FOR_ALL_PRECISIONS(qmmm_nuclei_vdw)

}  // namespace starpmc::codelets
