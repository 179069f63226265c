#include "codelets/operation_codelet.hpp"

namespace starpmc::codelets {
namespace {

template <class Real>
struct ProposeMoves : WindowArguments {
  static constexpr const char* kName = "propose_moves";
  static constexpr auto kSimdKernel = simd::propose_moves<Real>;
  static constexpr auto kScalarKernel = scalar::propose_moves<Real>;
  enum : std::size_t { kChainState = kWindowBuffers, kLattice, kOutside };

  StepRange range;

  void host(Kernel<ProposeMovesArguments<Real>> kernel, HostBuffers b) const {
    kernel({layout, interaction, range, topology_view(b, topology), b.read<double>(kChainState),
            b.read<double>(kLattice), b.write<int>(kPlan), b.write<double>(kEntries),
            b.write<PairReal<Real>>(kOutside)});
  }
  void device(OpenclPlace place, DeviceBuffers b) const {
    opencl::propose_moves(place.program, place.queue, opencl_window(b, *this), range,
                          b.at(kChainState), b.at(kLattice), b.at(kOutside));
  }
};

}  // namespace

template <class Real>
void propose_moves(const WindowHandles& window, const WindowArguments& arguments,
                   const StepRange& range, starpu_data_handle_t chain_state,
                   starpu_data_handle_t lattice, starpu_data_handle_t outside) {
  // Not accesses_of(): it writes what the others read.
  submit<Real>(ProposeMoves<Real>{arguments, range},
               Work::propose_moves(arguments.extent.candidates),
               {{window.topology_reals, STARPU_R},
                {window.topology_integers, STARPU_R},
                {window.plan, STARPU_W},
                {window.entries, STARPU_W},
                {chain_state, STARPU_R},
                {lattice, STARPU_R},
                {outside, STARPU_W}});
}

STARPMC_FOR_ALL_PRECISIONS(propose_moves)

}  // namespace starpmc::codelets
