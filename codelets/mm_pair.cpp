#include "codelets/operations.hpp"

namespace starpmc::codelets {
namespace {

constexpr const char* kName = "mm_pair";

struct Arguments : WindowArguments {
  int first_molecule;
  int last_molecule;
};

template <class Real, void (*kKernel)(const MmPairArguments<Real>&)>
void on_cpu(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<Arguments>(argument);
    kKernel({window_view(buffers, a), span_of<const double>(buffers[4]),
             span_of<const Real>(buffers[5]), span_of<const PairReal<Real>>(buffers[6]),
             a.first_molecule, a.last_molecule, span_of<double>(buffers[7])});
  });
}

template <class Real>
void on_opencl(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<Arguments>(argument);
    const OpenclPlace place = opencl_place(kPrecisionOf<Real>);
    opencl::mm_pair(place.program, place.queue, opencl_window(buffers, a), a.first_molecule,
                    a.last_molecule, opencl_buffer(buffers[4]), opencl_buffer(buffers[5]),
                    opencl_buffer(buffers[6]), opencl_buffer(buffers[7]));
  });
}

}  // namespace

template <class Real>
void mm_pair(const WindowHandles& window, const WindowArguments& arguments, int first_molecule,
             int last_molecule, starpu_data_handle_t lattice, starpu_data_handle_t lattice_sites,
             starpu_data_handle_t outside, starpu_data_handle_t energies) {
  static PotentialCodelet codelet(
      operation_name<Real>(kName),
      {on_cpu<Real, simd::mm_pair<Real>>, on_cpu<Real, scalar::mm_pair<Real>>, on_opencl<Real>});
  Arguments a{arguments, first_molecule, last_molecule};
  a.work_bucket =
      work_bucket(Work::mm_pair(arguments.extent.candidates, last_molecule - first_molecule));
  codelet.submit(accesses_of(window, {{lattice, STARPU_R},
                                      {lattice_sites, STARPU_R},
                                      {outside, STARPU_R},
                                      {energies, STARPU_W}}),
                 a);
}

STARPMC_FOR_ALL_PRECISIONS(mm_pair)

}  // namespace starpmc::codelets
