#include "codelets/operations.hpp"

namespace starpmc::codelets {
namespace {

constexpr const char* kName = "qmmm_coulomb_grid_reduce";

struct Arguments : TaskArguments {
  int candidates;
  int parts;
};

template <void (*kKernel)(const CoulombGridReduceArguments&)>
void on_cpu(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<Arguments>(argument);
    std::vector<std::span<const double>> partials;
    for (int i = 0; i < a.parts; ++i) partials.push_back(span_of<const double>(buffers[1 + i]));
    kKernel({a.candidates, partials, span_of<double>(buffers[0])});
  });
}

template <class Real>
void on_opencl(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<Arguments>(argument);
    const OpenclPlace place = opencl_place(kPrecisionOf<Real>);
    std::vector<opencl::Buffer> partials;
    for (int i = 0; i < a.parts; ++i) partials.push_back(opencl_buffer(buffers[1 + i]));
    opencl::qmmm_coulomb_grid_reduce(place.program, place.queue, a.candidates, partials,
                                     opencl_buffer(buffers[0]));
  });
}

}  // namespace

template <class Real>
void qmmm_coulomb_grid_reduce(const WindowArguments& arguments,
                              std::span<const starpu_data_handle_t> partials,
                              starpu_data_handle_t energies) {
  static PotentialCodelet codelet(operation_name<Real>(kName),
                                  {on_cpu<simd::qmmm_coulomb_grid_reduce>,
                                   on_cpu<scalar::qmmm_coulomb_grid_reduce>, on_opencl<Real>});
  Arguments a{{}, arguments.extent.candidates, static_cast<int>(partials.size())};
  a.work_bucket = work_bucket(a.candidates * static_cast<double>(partials.size()));
  std::vector<Access> accesses{{energies, STARPU_W}};
  for (const auto handle : partials) accesses.push_back({handle, STARPU_R});
  codelet.submit(accesses, a);
}

STARPMC_FOR_ALL_PRECISIONS(qmmm_coulomb_grid_reduce)

}  // namespace starpmc::codelets
