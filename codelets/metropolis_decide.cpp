#include "codelets/operations.hpp"

namespace starpmc::codelets {
namespace {

constexpr const char* kName = "metropolis_decide";

struct Arguments : WindowArguments {
  StepTuning tuning;
  int has_solute;
};

template <class Real, void (*kKernel)(const MetropolisDecideArguments<Real>&)>
void on_cpu(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<Arguments>(argument);
    const auto field = [&](int index) {
      return a.has_solute != 0 ? span_of<const double>(buffers[index]) : std::span<const double>();
    };
    kKernel({window_view(buffers, a), a.tuning, field(11), field(12), span_of<double>(buffers[4]),
             span_of<const PairReal<Real>>(buffers[5]), span_of<double>(buffers[6]),
             span_of<double>(buffers[7]), span_of<Real>(buffers[8]), span_of<double>(buffers[9]),
             span_of<double>(buffers[10])});
  });
}

template <class Real>
void on_opencl(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<Arguments>(argument);
    const OpenclPlace place = opencl_place(kPrecisionOf<Real>);
    const auto field = [&](int index) {
      return a.has_solute != 0 ? opencl_buffer(buffers[index]) : opencl::Buffer{};
    };
    opencl::metropolis_decide(
        place.program, place.queue, opencl_window(buffers, a), a.tuning,
        {field(11), field(12), opencl_buffer(buffers[4]), opencl_buffer(buffers[5]),
         opencl_buffer(buffers[6]), opencl_buffer(buffers[7]), opencl_buffer(buffers[8]),
         opencl_buffer(buffers[9]), opencl_buffer(buffers[10])});
  });
}

}  // namespace

template <class Real>
void metropolis_decide(const WindowHandles& window, const WindowArguments& arguments,
                       const StepTuning& tuning, const DecideHandles& h) {
  static Codelet codelet(codelet_name<Real>(kName),
                         {on_cpu<Real, simd::metropolis_decide<Real>>,
                          on_cpu<Real, scalar::metropolis_decide<Real>>, on_opencl<Real>});
  Arguments a{arguments, tuning, static_cast<int>(h.grid_energies != nullptr)};
  a.work_bucket =
      work_bucket(static_cast<double>(arguments.extent.candidates) * arguments.extent.candidates);
  auto accesses = accesses_of(window, {{h.mm_energies, STARPU_RW},
                                       {h.table, STARPU_R},
                                       {h.chain_state, STARPU_RW},
                                       {h.lattice, STARPU_RW},
                                       {h.lattice_sites, STARPU_RW},
                                       {h.field_cache, STARPU_RW},
                                       {h.record, STARPU_W}});
  if (h.grid_energies != nullptr) {
    accesses.push_back({h.grid_energies, STARPU_R});
    accesses.push_back({h.nuclei_energies, STARPU_R});
  }
  codelet.submit(accesses, a);
}

template void metropolis_decide<double>(const WindowHandles&, const WindowArguments&,
                                        const StepTuning&, const DecideHandles&);
template void metropolis_decide<float>(const WindowHandles&, const WindowArguments&,
                                       const StepTuning&, const DecideHandles&);

}  // namespace starpmc::codelets
