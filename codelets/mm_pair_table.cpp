#include "codelets/operation_codelet.hpp"

namespace starpmc::codelets {
namespace {

template <class Real>
struct MmPairTable : WindowArguments {
  static constexpr const char* kName = "mm_pair_table";
  static constexpr auto kSimdKernel = simd::mm_pair_table<Real>;
  static constexpr auto kScalarKernel = scalar::mm_pair_table<Real>;
  enum : std::size_t { kTable = kWindowBuffers };

  void host(Kernel<MmPairTableArguments<Real>> kernel, HostBuffers b) const {
    kernel({window_view(b, *this), b.write<PairReal<Real>>(kTable)});
  }
  void device(OpenclPlace place, DeviceBuffers b) const {
    opencl::mm_pair_table(place.program, place.queue, opencl_window(b, *this), b.at(kTable));
  }
};

}  // namespace

template <class Real>
void mm_pair_table(const WindowHandles& window, const WindowArguments& arguments,
                   starpu_data_handle_t table) {
  const double entries = arguments.extent.candidates + arguments.extent.starts;
  submit<Real>(MmPairTable<Real>{arguments}, Work::mm_pair_table(entries),
               accesses_of(window, {{table, STARPU_W}}));
}

STARPMC_FOR_ALL_PRECISIONS(mm_pair_table)

}  // namespace starpmc::codelets
