#include "codelets/certification.hpp"

namespace starpmc::codelets {
namespace {

constexpr const char* kName = "metropolis_decide";

struct Arguments : WindowArguments {
  StepTuning tuning;
  CertificationArguments certification;
  int has_fields;  ///< static terms, and perhaps a density
  int components;  ///< of the response; then there is no density
};

/// Buffers behind the window's.
enum Buffers : std::size_t {
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

constexpr CertificationPlaces kCertification{kSolute, kExactBlocks, kExactPoints};

template <class Real, void (*kKernel)(const MetropolisDecideArguments<Real>&)>
void on_cpu(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<Arguments>(argument);
    const auto optional = [&](bool present, std::size_t index) {
      return present ? span_of<const double>(buffers[index]) : std::span<const double>();
    };
    const bool fields = a.has_fields != 0;
    kKernel({window_view(buffers, a), a.tuning,
             certification_view(buffers, a.certification, kCertification),
             optional(fields, kGridEnergies), optional(fields, kNucleiEnergies),
             span_of<double>(buffers[kMmEnergies]), span_of<const PairReal<Real>>(buffers[kTable]),
             span_of<double>(buffers[kChainState]), span_of<double>(buffers[kLattice]),
             span_of<Real>(buffers[kLatticeSites]), span_of<double>(buffers[kFieldCache]),
             span_of<double>(buffers[kRecord]), response_view(buffers, a.components, kResponse)});
  });
}

template <class Real>
void on_opencl(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<Arguments>(argument);
    const OpenclPlace place = opencl_place(kPrecisionOf<Real>);
    const auto optional = [&](bool present, std::size_t index) {
      return present ? opencl_buffer(buffers[index]) : opencl::Buffer{};
    };
    const bool fields = a.has_fields != 0;
    opencl::metropolis_decide(
        place.program, place.queue, opencl_window(buffers, a), a.tuning,
        opencl_certification(buffers, a.certification, kCertification),
        {optional(fields, kGridEnergies), optional(fields, kNucleiEnergies),
         opencl_buffer(buffers[kMmEnergies]), opencl_buffer(buffers[kTable]),
         opencl_buffer(buffers[kChainState]), opencl_buffer(buffers[kLattice]),
         opencl_buffer(buffers[kLatticeSites]), opencl_buffer(buffers[kFieldCache]),
         opencl_buffer(buffers[kRecord]), opencl_response(buffers, a.components, kResponse)});
  });
}

}  // namespace

template <class Real>
void metropolis_decide(const WindowHandles& window, const WindowArguments& arguments,
                       const StepTuning& tuning, const CertificationArguments& certification,
                       const DecideHandles& h) {
  static PotentialCodelet codelet(operation_name<Real>(kName),
                                  {on_cpu<Real, simd::metropolis_decide<Real>>,
                                   on_cpu<Real, scalar::metropolis_decide<Real>>, on_opencl<Real>});
  Arguments a{arguments, tuning, certification, static_cast<int>(h.grid_energies != nullptr),
              h.response.components};
  a.work_bucket = work_bucket(Work::metropolis_decide(arguments.extent.candidates));
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
  codelet.submit(accesses, a);
}

STARPMC_FOR_ALL_PRECISIONS(metropolis_decide)

}  // namespace starpmc::codelets
