#include <vector>

#include "codelets/certification.hpp"
#include "codelets/operations.hpp"
#include "codelets/window_operations.hpp"
#include "kernels/opencl/host/handles.hpp"

namespace starpmc::codelets {
namespace {

constexpr const char* kName = "sample_windows";

struct Arguments : WindowArguments {
  StepRange range;
  StepTuning tuning;
  CertificationArguments certification;
  int windows;
  int nuclei;
  int grid_blocks;  ///< compact blocks of the density grid; 0: none
  bool has_reference;
  ReferenceLattices lattices;
  opencl::WindowExtent extents[kMostWindowsPerTask];

  int components() const { return lattices.response.components; }
  bool has_static_terms() const { return starpmc::has_static_terms(interaction, nuclei) != 0; }
};

enum Buffers : std::size_t {
  kLattice = kWindowBuffers,
  kLatticeSites,
  kChainState,
  kFieldCache,
  kRecord,
  kOutside,
  kMmPartial,
  kMmEnergies,
  kTable,
  kSolute,  // with static terms
  kNucleiEnergies,
  kGridEnergies,
  kBlockHeaders,  // with a density
  kPoints,
  kExactBlocks,  // where decisions are certified
  kExactPoints,
  kPotentialValues = kBlockHeaders,  // with a reference
  kResponseValues,                   // with a response
  kResponse
};

constexpr CertificationPlaces kCertification{kSolute, kExactBlocks, kExactPoints};

/// Range and tuning of window `index`; step sizes are tuned behind the last one only.
StepRange range_of(const Arguments& a, int index, std::uint64_t first_step) {
  StepRange range = a.range;
  range.first_step = first_step;
  range.steps = static_cast<unsigned>(a.extents[index].steps);
  return range;
}
StepTuning tuning_of(const Arguments& a, int index) {
  StepTuning tuning = a.tuning;
  if (index + 1 < a.windows) tuning.active = 0;
  return tuning;
}

template <class Real>
class HostWindows {
 public:
  HostWindows(void** buffers, const Arguments& a, const Operations<Real>& operations)
      : buffers_(buffers), a_(a), operations_(operations) {}

  void run() const {
    const std::size_t record = RECORD_FIELDS * static_cast<std::size_t>(a_.layout.steps);
    std::uint64_t step = a_.range.first_step;
    if (a_.has_static_terms() && a_.grid_blocks == 0 && !a_.has_reference) {
      std::ranges::fill(doubles(kGridEnergies), 0.0);
    }
    for (int i = 0; i < a_.windows; ++i) {
      propose(range_of(a_, i, step));
      const Window window = window_view(buffers_, a_);
      evaluate(window);
      decide(window, tuning_of(a_, i),
             doubles(kRecord).subspan(static_cast<std::size_t>(i) * record, record));
      step += static_cast<std::uint64_t>(a_.extents[i].steps);
    }
  }

 private:
  std::span<double> doubles(std::size_t index) const { return span_of<double>(buffers_[index]); }
  std::span<double> doubles_if(bool present, std::size_t index) const {
    return present ? doubles(index) : std::span<double>();
  }
  std::span<PairReal<Real>> pair_reals(std::size_t index) const {
    return span_of<PairReal<Real>>(buffers_[index]);
  }

  void propose(const StepRange& range) const {
    operations_.propose_moves(
        {a_.layout,
         a_.interaction,
         range,
         {a_.topology, span_of<const double>(buffers_[0]), span_of<const int>(buffers_[1])},
         doubles(kChainState),
         doubles(kLattice),
         span_of<int>(buffers_[2]),
         span_of<double>(buffers_[3]),
         pair_reals(kOutside)});
  }

  void evaluate(const Window& window) const {
    if (a_.grid_blocks != 0) {
      operations_.qmmm_coulomb_grid({window, doubles(kBlockHeaders),
                                     span_of<const Real>(buffers_[kPoints]),
                                     doubles(kGridEnergies)});
    }
    if (a_.has_reference) {
      ReferenceFieldArguments field{window,
                                    a_.lattices.potential,
                                    span_of<const float>(buffers_[kPotentialValues]),
                                    a_.lattices.response,
                                    {},
                                    doubles(kGridEnergies),
                                    {}};
      if (a_.lattices.has_response()) {
        field.response_values = span_of<const float>(buffers_[kResponseValues]);
        field.responses = span_of<int>(buffers_[kResponse]);
      }
      operations_.reference_field(field);
    }
    if (a_.has_static_terms()) {
      operations_.qmmm_nuclei_vdw({window, doubles(kSolute), a_.nuclei, doubles(kNucleiEnergies)});
    }
    operations_.mm_pair({window, doubles(kLattice), span_of<const Real>(buffers_[kLatticeSites]),
                         pair_reals(kOutside), 0, a_.topology.molecules, doubles(kMmPartial)});
    operations_.mm_pair_table({window, pair_reals(kTable)});
    const std::span<const double> partials[] = {doubles(kMmPartial)};
    operations_.mm_pair_reduce({window, partials, pair_reals(kTable), doubles(kMmEnergies)});
  }

  void decide(const Window& window, const StepTuning& tuning, std::span<double> record) const {
    const bool fields = a_.has_static_terms();
    operations_.metropolis_decide(
        {window, tuning, certification_view(buffers_, a_.certification, kCertification),
         doubles_if(fields, kGridEnergies), doubles_if(fields, kNucleiEnergies),
         doubles(kMmEnergies), pair_reals(kTable), doubles(kChainState), doubles(kLattice),
         span_of<Real>(buffers_[kLatticeSites]), doubles(kFieldCache), record,
         response_view(buffers_, a_.components(), kResponse)});
  }

  void** buffers_;
  const Arguments& a_;
  const Operations<Real>& operations_;
};

template <class Real, const Operations<Real>& kOperations>
void on_cpu(void* buffers[], void* argument) {
  guarded(kName, [&] {
    HostWindows<Real>(buffers, arguments_of<Arguments>(argument), kOperations).run();
  });
}

/// The same enqueued on a device.
class DeviceWindows {
 public:
  DeviceWindows(void** buffers, const Arguments& a, const OpenclPlace& place)
      : buffers_(buffers), a_(a), program_(place.program), queue_(place.queue) {}

  void run() const {
    const std::size_t record =
        RECORD_FIELDS * static_cast<std::size_t>(a_.layout.steps) * sizeof(double);
    std::uint64_t step = a_.range.first_step;
    std::vector<opencl::WindowTask> tasks;
    for (int i = 0; i < a_.windows; ++i) {
      opencl::Buffer records = buffer(kRecord);
      records.offset_bytes += static_cast<std::size_t>(i) * record;
      tasks.push_back({range_of(a_, i, step), tuning_of(a_, i), a_.extents[i], records});
      step += static_cast<std::uint64_t>(a_.extents[i].steps);
    }
    opencl::sample_windows(program_, queue_, opencl_window(buffers_, a_), tasks,
                           opencl_certification(buffers_, a_.certification, kCertification),
                           whole_windows());
  }

 private:
  opencl::Buffer buffer(std::size_t index) const { return opencl_buffer(buffers_[index]); }
  opencl::Buffer buffer_if(bool present, std::size_t index) const {
    return present ? buffer(index) : opencl::Buffer{};
  }

  opencl::ReferenceField reference() const {
    if (!a_.has_reference) return {};
    const bool responds = a_.lattices.has_response();
    return {a_.lattices.potential,    a_.lattices.response,
            buffer(kPotentialValues), buffer_if(responds, kResponseValues),
            buffer(kGridEnergies),    buffer_if(responds, kResponse)};
  }

  opencl::WholeWindow whole_windows() const {
    const bool fields = a_.has_static_terms();
    const bool density = a_.grid_blocks != 0;
    return {{buffer_if(fields, kGridEnergies),
             buffer_if(fields, kNucleiEnergies),
             buffer(kMmEnergies),
             buffer(kTable),
             buffer(kChainState),
             buffer(kLattice),
             buffer(kLatticeSites),
             buffer(kFieldCache),
             {},
             opencl_response(buffers_, a_.components(), kResponse)},
            buffer(kOutside),
            buffer(kMmPartial),
            a_.grid_blocks,
            buffer_if(density, kBlockHeaders),
            buffer_if(density, kPoints),
            reference()};
  }

  void** buffers_;
  const Arguments& a_;
  opencl::Program& program_;
  cl_command_queue queue_;
};

template <class Real>
void on_opencl(void* buffers[], void* argument) {
  guarded(kName, [&] {
    const auto& a = arguments_of<Arguments>(argument);
    const OpenclLane lane(kPrecisionOf<Real>, a.range.chain);
    DeviceWindows(buffers, a, lane.place()).run();
  });
}

}  // namespace

template <class Real>
void sample_windows(const WindowHandles& window, const WindowArguments& arguments,
                    const StepRange& range, std::span<const opencl::WindowExtent> extents,
                    const StepTuning& tuning, const CertificationArguments& certification,
                    int nuclei, const ReferenceLattices& lattices, const SampleHandles& h) {
  static PotentialCodelet codelet(operation_name<Real>(kName),
                                  {on_cpu<Real, kSimdOperations<Real>>,
                                   on_cpu<Real, kScalarOperations<Real>>, on_opencl<Real>});
  Arguments a{arguments,
              range,
              tuning,
              certification,
              static_cast<int>(extents.size()),
              nuclei,
              static_cast<int>(h.grid_blocks),
              h.reference.potential_values != nullptr,
              lattices,
              {}};
  std::ranges::copy(extents, a.extents);
  double candidates = 0;
  for (const auto& extent : extents) candidates += extent.candidates;
  const double field = a.has_reference ? Work::reference_points(a.components()) : 0;
  a.work_bucket = work_bucket(Work::sample_windows(candidates, static_cast<double>(h.grid_blocks),
                                                   arguments.topology.molecules, field));
  std::vector<Access> accesses{
      {window.topology_reals, STARPU_R}, {window.topology_integers, STARPU_R},
      {window.plan, STARPU_W},           {window.entries, STARPU_W},
      {h.decide.lattice, STARPU_RW},     {h.decide.lattice_sites, STARPU_RW},
      {h.decide.chain_state, STARPU_RW}, {h.decide.field_cache, STARPU_RW},
      {h.decide.record, STARPU_W},       {h.outside, STARPU_W},
      {h.mm_partial, STARPU_W},          {h.decide.mm_energies, STARPU_W},
      {h.decide.table, STARPU_W}};
  if (a.has_static_terms()) {
    accesses.push_back({h.decide.certification.solute, STARPU_R});
    accesses.push_back({h.decide.nuclei_energies, STARPU_W});
    accesses.push_back({h.decide.grid_energies, STARPU_W});
  }
  if (h.grid_blocks > 0) {
    accesses.push_back({h.block_headers, STARPU_R});
    accesses.push_back({h.points, STARPU_R});
  }
  if (certification.blocks > 0) {
    accesses.push_back({h.decide.certification.exact_blocks, STARPU_R});
    accesses.push_back({h.decide.certification.exact_points, STARPU_R});
  }
  if (a.has_reference) accesses.push_back({h.reference.potential_values, STARPU_R});
  if (a.components() > 0) {
    accesses.push_back({h.reference.response_values, STARPU_R});
    accesses.push_back({h.decide.response.candidates, STARPU_W});
    accesses.push_back({h.decide.response.molecules, STARPU_RW});
    accesses.push_back({h.decide.response.total, STARPU_RW});
  }
  codelet.submit(accesses, a);
}

STARPMC_FOR_ALL_PRECISIONS(sample_windows)

}  // namespace starpmc::codelets
