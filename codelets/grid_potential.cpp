#include "codelets/operations.hpp"

namespace starpmc::codelets {
namespace {

constexpr const char* kName = "grid_potential";

struct Arguments : WindowArguments {
  int blocks;
};

template <void (*kKernel)(const GridPotentialArguments&)>
void on_cpu(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<Arguments>(argument);
    kKernel({a.layout,
             a.interaction,
             {a.topology, span_of<const double>(buffers[0]), span_of<const int>(buffers[1])},
             span_of<const double>(buffers[2]),
             span_of<const double>(buffers[3]),
             span_of<const double>(buffers[4]),
             span_of<double>(buffers[5]),
             a.potential});
  });
}

template <class Real>
void on_opencl(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<Arguments>(argument);
    const OpenclPlace place = opencl_place(kPrecisionOf<Real>);
    opencl::grid_potential(place.program, place.queue, a.layout, a.interaction, a.topology,
                           opencl_buffer(buffers[0]), opencl_buffer(buffers[1]),
                           opencl_buffer(buffers[2]), a.blocks, opencl_buffer(buffers[3]),
                           opencl_buffer(buffers[4]), opencl_buffer(buffers[5]));
  });
}

}  // namespace

template <class Real>
void grid_potential(const WindowArguments& arguments, starpu_data_handle_t topology_reals,
                    starpu_data_handle_t topology_integers, starpu_data_handle_t lattice,
                    std::size_t blocks, starpu_data_handle_t block_headers,
                    starpu_data_handle_t points, starpu_data_handle_t potential) {
  static PotentialCodelet codelet(
      operation_name<Real>(kName),
      {on_cpu<simd::grid_potential>, on_cpu<scalar::grid_potential>, on_opencl<Real>});
  Arguments a{arguments, static_cast<int>(blocks)};
  a.work_bucket =
      work_bucket(Work::grid_potential(arguments.topology.molecules, static_cast<double>(blocks)));
  const Access accesses[] = {{topology_reals, STARPU_R}, {topology_integers, STARPU_R},
                             {lattice, STARPU_R},        {block_headers, STARPU_R},
                             {points, STARPU_R},         {potential, STARPU_W}};
  codelet.submit(accesses, a);
}

STARPMC_FOR_ALL_PRECISIONS(grid_potential)

}  // namespace starpmc::codelets
