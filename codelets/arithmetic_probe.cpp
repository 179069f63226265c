#include "codelets/operation_codelet.hpp"

namespace starpmc::codelets {
namespace {

template <class Real>
struct ArithmeticProbe : TaskArguments {
  static constexpr const char* kName = "arithmetic_probe";
  static constexpr auto kSimdKernel = simd::arithmetic_probe<PairReal<Real>>;
  static constexpr auto kScalarKernel = scalar::arithmetic_probe<PairReal<Real>>;
  enum : std::size_t { kResult };

  ArithmeticLoop loop;
  int rounds;

  void host(Kernel<ArithmeticProbeArguments> kernel, HostBuffers b) const {
    kernel({loop, rounds, b.write<double>(kResult)});
  }
  void device(OpenclPlace place, DeviceBuffers b) const {
    opencl::arithmetic_probe(place.program, place.queue, loop, rounds, b.at(kResult));
  }
};

}  // namespace

template <class Real>
void arithmetic_probe(ArithmeticLoop loop, int rounds, starpu_data_handle_t result) {
  submit<Real>(ArithmeticProbe<Real>{{}, loop, rounds},
               static_cast<double>(rounds) * (1 << static_cast<int>(loop)), {{result, STARPU_W}});
}

STARPMC_FOR_ALL_PRECISIONS(arithmetic_probe)

}  // namespace starpmc::codelets
