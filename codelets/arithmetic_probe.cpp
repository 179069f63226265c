#include "codelets/operations.hpp"

namespace starpmc::codelets {
namespace {

constexpr const char* kName = "arithmetic_probe";

struct Arguments : TaskArguments {
  ArithmeticLoop loop;
  int rounds;
};

template <void (*kKernel)(const ArithmeticProbeArguments&)>
void on_cpu(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<Arguments>(argument);
    kKernel({a.loop, a.rounds, span_of<double>(buffers[0])});
  });
}

template <class Real>
void on_opencl(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<Arguments>(argument);
    const OpenclPlace place = opencl_place(kPrecisionOf<Real>);
    opencl::arithmetic_probe(place.program, place.queue, a.loop, a.rounds,
                             opencl_buffer(buffers[0]));
  });
}

}  // namespace

template <class Real>
void arithmetic_probe(ArithmeticLoop loop, int rounds, starpu_data_handle_t result) {
  static PotentialCodelet codelet(
      operation_name<Real>(kName),
      {on_cpu<simd::arithmetic_probe<PairReal<Real>>>,
       on_cpu<scalar::arithmetic_probe<PairReal<Real>>>, on_opencl<Real>});
  const Arguments a{
      {work_bucket(static_cast<double>(rounds) * (1 << static_cast<int>(loop)))}, loop, rounds};
  const Access accesses[] = {{result, STARPU_W}};
  codelet.submit(accesses, a);
}

STARPMC_FOR_ALL_PRECISIONS(arithmetic_probe)

}  // namespace starpmc::codelets
