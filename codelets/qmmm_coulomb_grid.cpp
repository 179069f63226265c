#include "codelets/operations.hpp"

namespace starpmc::codelets {
namespace {

constexpr const char* kName = "qmmm_coulomb_grid";

struct Arguments : WindowArguments {
  int blocks;
};

template <class Real, void (*kKernel)(const CoulombGridArguments<Real>&)>
void on_cpu(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<Arguments>(argument);
    kKernel({window_view(buffers, a), span_of<const double>(buffers[4]),
             span_of<const Real>(buffers[5]), span_of<double>(buffers[6])});
  });
}

template <class Real>
void on_opencl(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<Arguments>(argument);
    const OpenclPlace place = opencl_place(kPrecisionOf<Real>);
    opencl::qmmm_coulomb_grid(place.program, place.queue, opencl_window(buffers, a), a.blocks,
                              opencl_buffer(buffers[4]), opencl_buffer(buffers[5]),
                              opencl_buffer(buffers[6]));
  });
}

}  // namespace

template <class Real>
void qmmm_coulomb_grid(const WindowHandles& window, const WindowArguments& arguments,
                       std::size_t blocks, starpu_data_handle_t block_headers,
                       starpu_data_handle_t points, starpu_data_handle_t energies) {
  static PotentialCodelet codelet(operation_name<Real>(kName),
                                  {on_cpu<Real, simd::qmmm_coulomb_grid<Real>>,
                                   on_cpu<Real, scalar::qmmm_coulomb_grid<Real>>, on_opencl<Real>});
  Arguments a{arguments, static_cast<int>(blocks)};
  a.work_bucket = work_bucket(
      Work::qmmm_coulomb_grid(arguments.extent.candidates, static_cast<double>(blocks)));
  codelet.submit(
      accesses_of(window, {{block_headers, STARPU_R}, {points, STARPU_R}, {energies, STARPU_W}}),
      a);
}

STARPMC_FOR_ALL_PRECISIONS(qmmm_coulomb_grid)

}  // namespace starpmc::codelets
