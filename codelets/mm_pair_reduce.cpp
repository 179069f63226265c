#include "codelets/operation_codelet.hpp"

namespace starpmc::codelets {
namespace {

template <class Real>
struct MmPairReduce : WindowArguments {
  static constexpr const char* kName = "mm_pair_reduce";
  static constexpr auto kSimdKernel = simd::mm_pair_reduce<Real>;
  static constexpr auto kScalarKernel = scalar::mm_pair_reduce<Real>;
  enum : std::size_t { kTable = kWindowBuffers, kEnergies, kParts };

  int parts;

  void host(Kernel<MmPairReduceArguments<Real>> kernel, HostBuffers b) const {
    kernel({window_view(b, *this), b.parts(kParts, parts), b.read<PairReal<Real>>(kTable),
            b.write<double>(kEnergies)});
  }
  void device(OpenclPlace place, DeviceBuffers b) const {
    opencl::mm_pair_reduce(place.program, place.queue, opencl_window(b, *this),
                           b.parts(kParts, parts), b.at(kTable), b.at(kEnergies));
  }
};

}  // namespace

template <class Real>
void mm_pair_reduce(const WindowHandles& window, const WindowArguments& arguments,
                    std::span<const starpu_data_handle_t> partials, starpu_data_handle_t table,
                    starpu_data_handle_t energies) {
  const double entries = arguments.extent.candidates + arguments.extent.starts;
  submit<Real>(
      MmPairReduce<Real>{arguments, static_cast<int>(partials.size())},
      entries * arguments.extent.starts,
      with_parts(accesses_of(window, {{table, STARPU_R}, {energies, STARPU_W}}), partials));
}

STARPMC_FOR_ALL_PRECISIONS(mm_pair_reduce)

}  // namespace starpmc::codelets
