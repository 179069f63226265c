#include "codelets/certification.hpp"
#include "codelets/operation_codelet.hpp"

namespace starpmc::codelets {
namespace {

template <class Real>
struct MetropolisDecide : WindowArguments {
  static constexpr const char* kName = "metropolis_decide";
  static constexpr auto kSimdKernel = simd::metropolis_decide<Real>;
  static constexpr auto kScalarKernel = scalar::metropolis_decide<Real>;
  enum : std::size_t {
    kMmEnergies = kWindowBuffers,
    kTable,
    kChainState,
    kLattice,
    kLatticeSites,
    kFieldCache,
    kRecord,
    kGridEnergies,  // with static terms
    kNucleiEnergies,
    kSolute,
    kExactBlocks,  // with a density
    kExactPoints,
    kResponse = kExactBlocks  // with a response, which has no density
  };
  static constexpr CertificationPlaces kCertification{kSolute, kExactBlocks, kExactPoints};

  StepTuning tuning;
  CertificationArguments certification;
  bool has_fields;  ///< static terms, and perhaps a density
  int components;   ///< of the response; then there is no density

  void host(Kernel<MetropolisDecideArguments<Real>> kernel, HostBuffers b) const {
    kernel({window_view(b, *this), tuning, certification_view(b, certification, kCertification),
            b.read_if<double>(has_fields, kGridEnergies),
            b.read_if<double>(has_fields, kNucleiEnergies), b.write<double>(kMmEnergies),
            b.read<PairReal<Real>>(kTable), b.write<double>(kChainState), b.write<double>(kLattice),
            b.write<Real>(kLatticeSites), b.write<double>(kFieldCache), b.write<double>(kRecord),
            response_view(b, components, kResponse)});
  }
  void device(OpenclPlace place, DeviceBuffers b) const {
    opencl::metropolis_decide(
        place.program, place.queue, opencl_window(b, *this), tuning,
        opencl_certification(b, certification, kCertification),
        {b.at_if(has_fields, kGridEnergies), b.at_if(has_fields, kNucleiEnergies),
         b.at(kMmEnergies), b.at(kTable), b.at(kChainState), b.at(kLattice), b.at(kLatticeSites),
         b.at(kFieldCache), b.at(kRecord), opencl_response(b, components, kResponse)});
  }
};

}  // namespace

template <class Real>
void metropolis_decide(const WindowHandles& window, const WindowArguments& arguments,
                       const StepTuning& tuning, const CertificationArguments& certification,
                       const DecideHandles& h) {
  const bool has_fields = h.grid_energies != nullptr;
  auto accesses = accesses_of(window, {{h.mm_energies, STARPU_RW},
                                       {h.table, STARPU_R},
                                       {h.chain_state, STARPU_RW},
                                       {h.lattice, STARPU_RW},
                                       {h.lattice_sites, STARPU_RW},
                                       {h.field_cache, STARPU_RW},
                                       {h.record, STARPU_W}});
  if (has_fields) {
    accesses.push_back({h.grid_energies, STARPU_R});
    accesses.push_back({h.nuclei_energies, STARPU_R});
    accesses.push_back({h.certification.solute, STARPU_R});
  }
  if (certification.blocks > 0) {
    accesses.push_back({h.certification.exact_blocks, STARPU_R});
    accesses.push_back({h.certification.exact_points, STARPU_R});
  }
  if (h.response.components > 0) {
    accesses.push_back({h.response.candidates, STARPU_R});
    accesses.push_back({h.response.molecules, STARPU_RW});
    accesses.push_back({h.response.total, STARPU_RW});
  }
  submit<Real>(
      MetropolisDecide<Real>{arguments, tuning, certification, has_fields, h.response.components},
      Work::metropolis_decide(arguments.extent.candidates), accesses);
}

STARPMC_FOR_ALL_PRECISIONS(metropolis_decide)

}  // namespace starpmc::codelets
