#include "codelets/operations.hpp"

namespace starpmc::codelets {
namespace {

constexpr const char* kName = "qmmm_nuclei_vdw";

struct Arguments : WindowArguments {
  int nuclei;
};

template <class Real, void (*kKernel)(const NucleiVdwArguments<Real>&)>
void on_cpu(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<Arguments>(argument);
    kKernel({window_view(buffers, a), span_of<const double>(buffers[4]), a.nuclei,
             span_of<double>(buffers[5])});
  });
}

template <class Real>
void on_opencl(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<Arguments>(argument);
    const OpenclPlace place = opencl_place(kPrecisionOf<Real>);
    opencl::qmmm_nuclei_vdw(place.program, place.queue, opencl_window(buffers, a), a.nuclei,
                            opencl_buffer(buffers[4]), opencl_buffer(buffers[5]));
  });
}

}  // namespace

template <class Real>
void qmmm_nuclei_vdw(const WindowHandles& window, const WindowArguments& arguments, int nuclei,
                     starpu_data_handle_t solute, starpu_data_handle_t energies) {
  static PotentialCodelet codelet(operation_name<Real>(kName),
                                  {on_cpu<Real, simd::qmmm_nuclei_vdw<Real>>,
                                   on_cpu<Real, scalar::qmmm_nuclei_vdw<Real>>, on_opencl<Real>});
  Arguments a{arguments, nuclei};
  a.work_bucket = work_bucket(static_cast<double>(arguments.extent.candidates) * nuclei);
  codelet.submit(accesses_of(window, {{solute, STARPU_R}, {energies, STARPU_W}}), a);
}

STARPMC_FOR_ALL_PRECISIONS(qmmm_nuclei_vdw)

}  // namespace starpmc::codelets
