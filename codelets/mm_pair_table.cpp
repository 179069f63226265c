#include "codelets/operations.hpp"

namespace starpmc::codelets {
namespace {

constexpr const char* kName = "mm_pair_table";

template <class Real, void (*kKernel)(const MmPairTableArguments<Real>&)>
void on_cpu(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<WindowArguments>(argument);
    kKernel({window_view(buffers, a), span_of<PairReal<Real>>(buffers[4])});
  });
}

template <class Real>
void on_opencl(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<WindowArguments>(argument);
    const OpenclPlace place = opencl_place(kPrecisionOf<Real>);
    opencl::mm_pair_table(place.program, place.queue, opencl_window(buffers, a),
                          opencl_buffer(buffers[4]));
  });
}

}  // namespace

template <class Real>
void mm_pair_table(const WindowHandles& window, const WindowArguments& arguments,
                   starpu_data_handle_t table) {
  static PotentialCodelet codelet(operation_name<Real>(kName),
                                  {on_cpu<Real, simd::mm_pair_table<Real>>,
                                   on_cpu<Real, scalar::mm_pair_table<Real>>, on_opencl<Real>});
  WindowArguments a = arguments;
  const double entries = arguments.extent.candidates + arguments.extent.starts;
  a.work_bucket = work_bucket(Work::mm_pair_table(entries));
  codelet.submit(accesses_of(window, {{table, STARPU_W}}), a);
}

STARPMC_FOR_ALL_PRECISIONS(mm_pair_table)

}  // namespace starpmc::codelets
