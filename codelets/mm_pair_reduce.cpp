#include "codelets/operations.hpp"

namespace starpmc::codelets {
namespace {

constexpr const char* kName = "mm_pair_reduce";

struct Arguments : WindowArguments {
  int parts;
};

template <class Real, void (*kKernel)(const MmPairReduceArguments<Real>&)>
void on_cpu(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<Arguments>(argument);
    std::vector<std::span<const double>> partials;
    for (int i = 0; i < a.parts; ++i) partials.push_back(span_of<const double>(buffers[6 + i]));
    kKernel({window_view(buffers, a), partials, span_of<const PairReal<Real>>(buffers[4]),
             span_of<double>(buffers[5])});
  });
}

template <class Real>
void on_opencl(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<Arguments>(argument);
    const OpenclPlace place = opencl_place(kPrecisionOf<Real>);
    std::vector<opencl::Buffer> partials;
    for (int i = 0; i < a.parts; ++i) partials.push_back(opencl_buffer(buffers[6 + i]));
    opencl::mm_pair_reduce(place.program, place.queue, opencl_window(buffers, a), partials,
                           opencl_buffer(buffers[4]), opencl_buffer(buffers[5]));
  });
}

}  // namespace

template <class Real>
void mm_pair_reduce(const WindowHandles& window, const WindowArguments& arguments,
                    std::span<const starpu_data_handle_t> partials, starpu_data_handle_t table,
                    starpu_data_handle_t energies) {
  static PotentialCodelet codelet(operation_name<Real>(kName),
                                  {on_cpu<Real, simd::mm_pair_reduce<Real>>,
                                   on_cpu<Real, scalar::mm_pair_reduce<Real>>, on_opencl<Real>});
  Arguments a{arguments, static_cast<int>(partials.size())};
  const double entries = arguments.extent.candidates + arguments.extent.starts;
  a.work_bucket = work_bucket(entries * arguments.extent.starts);
  auto accesses = accesses_of(window, {{table, STARPU_R}, {energies, STARPU_W}});
  for (const auto handle : partials) accesses.push_back({handle, STARPU_R});
  codelet.submit(accesses, a);
}

STARPMC_FOR_ALL_PRECISIONS(mm_pair_reduce)

}  // namespace starpmc::codelets
