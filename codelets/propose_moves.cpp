#include "codelets/operations.hpp"

namespace starpmc::codelets {
namespace {

constexpr const char* kName = "propose_moves";

struct Arguments : WindowArguments {
  StepRange range;
};

template <class Real, void (*kKernel)(const ProposeMovesArguments<Real>&)>
void on_cpu(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<Arguments>(argument);
    kKernel({a.layout,
             a.interaction,
             a.range,
             {a.topology, span_of<const double>(buffers[0]), span_of<const int>(buffers[1])},
             span_of<const double>(buffers[4]),
             span_of<const double>(buffers[5]),
             span_of<int>(buffers[2]),
             span_of<double>(buffers[3]),
             span_of<PairReal<Real>>(buffers[6])});
  });
}

template <class Real>
void on_opencl(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<Arguments>(argument);
    const OpenclPlace place = opencl_place(kPrecisionOf<Real>);
    opencl::propose_moves(place.program, place.queue, opencl_window(buffers, a), a.range,
                          opencl_buffer(buffers[4]), opencl_buffer(buffers[5]),
                          opencl_buffer(buffers[6]));
  });
}

}  // namespace

template <class Real>
void propose_moves(const WindowHandles& window, const WindowArguments& arguments,
                   const StepRange& range, starpu_data_handle_t chain_state,
                   starpu_data_handle_t lattice, starpu_data_handle_t outside) {
  static PotentialCodelet codelet(operation_name<Real>(kName),
                                  {on_cpu<Real, simd::propose_moves<Real>>,
                                   on_cpu<Real, scalar::propose_moves<Real>>, on_opencl<Real>});
  Arguments a{arguments, range};
  a.work_bucket = work_bucket(Work::propose_moves(arguments.extent.candidates));
  const Access accesses[] = {{window.topology_reals, STARPU_R},
                             {window.topology_integers, STARPU_R},
                             {window.plan, STARPU_W},
                             {window.entries, STARPU_W},
                             {chain_state, STARPU_R},
                             {lattice, STARPU_R},
                             {outside, STARPU_W}};
  codelet.submit(accesses, a);
}

STARPMC_FOR_ALL_PRECISIONS(propose_moves)

}  // namespace starpmc::codelets
