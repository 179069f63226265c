#include <vector>

#include "codelets/certification.hpp"
#include "codelets/operations.hpp"
#include "codelets/window_operations.hpp"
#include "kernels/opencl/host/handles.hpp"
#include "runtime/worker_times.hpp"

namespace starpmc::codelets {
namespace {

constexpr const char* kName = "sample_windows";
/// A team's windows take another time: the others are waited for.
constexpr const char* kTeamName = "team_windows";

struct Arguments : WindowArguments {
  StepRange range;
  PeriodicTuning tuning;
  CertificationArguments certification;
  int windows;
  int nuclei;
  int grid_blocks;  ///< compact blocks of the density grid; 0: none
  bool has_reference;
  ReferenceLattices lattices;
  TeamMember member;
  opencl::WindowExtent extents[kMostWindowsPerTask];

  int components() const { return lattices.response.components; }
  bool has_static_terms() const { return starpmc::has_static_terms(interaction, nuclei) != 0; }
  const char* name() const { return member.has_others() ? kTeamName : kName; }
};

/// Runs a task's body; the other members of its team are not left waiting.
template <class Body>
void guarded_member(const Arguments& a, Body&& body) noexcept {
  guarded(a.name(), [&] {
    try {
      body();
    } catch (const ExchangeAbandoned& error) {  // whoever has failed has told of it
      if (!failed()) report_failure(error.what());
    }
  });
  if (a.member.has_others() && failed()) a.member.abandon();
}

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

StepRange range_of(const Arguments& a, int index, std::uint64_t first_step) {
  StepRange range = a.range;
  range.first_step = first_step;
  range.steps = static_cast<unsigned>(a.extents[index].steps);
  return range;
}

template <class Real>
class HostWindows {
 public:
  HostWindows(HostBuffers b, const Arguments& a, const Operations<Real>& operations)
      : b_(b), a_(a), operations_(operations) {}

  void run() const {
    const std::size_t record = RECORD_FIELDS * static_cast<std::size_t>(a_.layout.steps);
    std::uint64_t step = a_.range.first_step;
    if (a_.has_static_terms() && a_.grid_blocks == 0 && !a_.has_reference) {
      std::ranges::fill(b_.write<double>(kGridEnergies), 0.0);
    }
    for (int i = 0; i < a_.windows; ++i) {
      propose(range_of(a_, i, step));
      const Window window = window_view(b_, a_);
      evaluate(window);
      step += static_cast<std::uint64_t>(a_.extents[i].steps);
      decide(window, a_.tuning.behind(step),
             b_.write<double>(kRecord).subspan(static_cast<std::size_t>(i) * record, record));
    }
  }

 private:
  void propose(const StepRange& range) const {
    operations_.propose_moves({a_.layout, a_.interaction, range, topology_view(b_, a_.topology),
                               b_.read<double>(kChainState), b_.read<double>(kLattice),
                               b_.write<int>(kPlan), b_.write<double>(kEntries),
                               b_.write<PairReal<Real>>(kOutside)});
  }

  void evaluate(const Window& window) const {
    if (a_.grid_blocks != 0) {
      operations_.qmmm_coulomb_grid(
          {window, b_.read<double>(kBlockHeaders), b_.read<Real>(kPoints), grid_energies()});
      if (a_.member.has_others()) a_.member.tell();
    }
    if (a_.has_reference) {
      const bool responds = a_.lattices.has_response();
      operations_.reference_field(
          {window, a_.lattices.potential, b_.read<float>(kPotentialValues), a_.lattices.response,
           b_.read_if<ResponseCoefficient>(responds, kResponseValues),
           b_.write<double>(kGridEnergies), b_.write_if<int>(responds, kResponse)});
    }
    if (a_.has_static_terms()) {
      operations_.qmmm_nuclei_vdw(
          {window, b_.read<double>(kSolute), a_.nuclei, b_.write<double>(kNucleiEnergies)});
    }
    operations_.mm_pair({window, b_.read<double>(kLattice), b_.read<Real>(kLatticeSites),
                         b_.read<PairReal<Real>>(kOutside), 0, a_.topology.molecules,
                         b_.write<double>(kMmPartial)});
    operations_.mm_pair_table({window, b_.write<PairReal<Real>>(kTable)});
    operations_.mm_pair_reduce({window, b_.parts(kMmPartial, 1), b_.read<PairReal<Real>>(kTable),
                                b_.write<double>(kMmEnergies)});
    if (a_.member.has_others()) {
      const auto count = static_cast<std::size_t>(window.candidates());
      a_.member.sum(b_.write<double>(kGridEnergies).first(count));
    }
  }
  std::span<double> grid_energies() const {
    return a_.member.has_others() ? a_.member.own() : b_.write<double>(kGridEnergies);
  }

  void decide(const Window& window, const StepTuning& tuning, std::span<double> record) const {
    const bool fields = a_.has_static_terms();
    operations_.metropolis_decide(
        {window, tuning, certification_view(b_, a_.certification, kCertification),
         b_.read_if<double>(fields, kGridEnergies), b_.read_if<double>(fields, kNucleiEnergies),
         b_.write<double>(kMmEnergies), b_.read<PairReal<Real>>(kTable),
         b_.write<double>(kChainState), b_.write<double>(kLattice), b_.write<Real>(kLatticeSites),
         b_.write<double>(kFieldCache), record, response_view(b_, a_.components(), kResponse)});
  }

  HostBuffers b_;
  const Arguments& a_;
  const Operations<Real>& operations_;
};

template <class Real, const Operations<Real>& kOperations>
void on_cpu(void* buffers[], void* argument) {
  const auto& a = arguments_of<Arguments>(argument);
  guarded_member(a, [&] { HostWindows<Real>(HostBuffers(buffers), a, kOperations).run(); });
}

/// The same enqueued on a device.
class DeviceWindows {
 public:
  DeviceWindows(DeviceBuffers b, const Arguments& a) : b_(b), a_(a) {}

  void enqueue_on(const OpenclPlace& place) const {
    const std::size_t record =
        RECORD_FIELDS * static_cast<std::size_t>(a_.layout.steps) * sizeof(double);
    std::uint64_t step = a_.range.first_step;
    std::vector<opencl::WindowTask> tasks;
    for (int i = 0; i < a_.windows; ++i) {
      opencl::Buffer records = b_.at(kRecord);
      records.offset_bytes += static_cast<std::size_t>(i) * record;
      const StepRange range = range_of(a_, i, step);
      step += range.steps;
      tasks.push_back({range, a_.tuning.behind(step), a_.extents[i], records});
    }
    opencl::sample_windows(place.program, place.queue, opencl_window(b_, a_), tasks,
                           opencl_certification(b_, a_.certification, kCertification),
                           whole_windows());
    if (a_.member.has_others()) count_exchanges();
  }

 private:
  /// A member's energies to the host, and their sums back.
  void count_exchanges() const {
    std::uint64_t values = 0;
    for (int i = 0; i < a_.windows; ++i) values += static_cast<unsigned>(a_.extents[i].candidates);
    count_transfers({2 * values * sizeof(double), 2 * static_cast<unsigned>(a_.windows)});
  }

  opencl::ReferenceField reference() const {
    if (!a_.has_reference) return {};
    const bool responds = a_.lattices.has_response();
    return {a_.lattices.potential,   a_.lattices.response,
            b_.at(kPotentialValues), b_.at_if(responds, kResponseValues),
            b_.at(kGridEnergies),    b_.at_if(responds, kResponse)};
  }

  opencl::WholeWindow whole_windows() const {
    const bool fields = a_.has_static_terms();
    const bool density = a_.grid_blocks != 0;
    return {{b_.at_if(fields, kGridEnergies),
             b_.at_if(fields, kNucleiEnergies),
             b_.at(kMmEnergies),
             b_.at(kTable),
             b_.at(kChainState),
             b_.at(kLattice),
             b_.at(kLatticeSites),
             b_.at(kFieldCache),
             {},
             opencl_response(b_, a_.components(), kResponse)},
            b_.at(kOutside),
            b_.at(kMmPartial),
            a_.grid_blocks,
            b_.at_if(density, kBlockHeaders),
            b_.at_if(density, kPoints),
            reference(),
            a_.member};
  }

  DeviceBuffers b_;
  const Arguments& a_;
};

template <class Real>
void on_opencl(void* buffers[], void* argument) {
  const auto& a = arguments_of<Arguments>(argument);
  guarded_member(a, [&] {
    const OpenclLane lane(kPrecisionOf<Real>, a.range.chain);
    DeviceWindows(DeviceBuffers(buffers), a).enqueue_on(lane.place());
  });
}

}  // namespace

template <class Real>
void sample_windows(const WindowHandles& window, const WindowArguments& arguments,
                    const StepRange& range, std::span<const opencl::WindowExtent> extents,
                    const PeriodicTuning& tuning, const CertificationArguments& certification,
                    int nuclei, const ReferenceLattices& lattices, const SampleHandles& h,
                    const TeamTask& team) {
  constexpr Codelet::Implementations kImplementations{
      on_cpu<Real, kSimdOperations<Real>>, on_cpu<Real, kScalarOperations<Real>>, on_opencl<Real>};
  static PotentialCodelet alone(operation_name<Real>(kName), kImplementations);
  static PotentialCodelet shared(operation_name<Real>(kTeamName), kImplementations);
  Arguments a{arguments,
              range,
              tuning,
              certification,
              static_cast<int>(extents.size()),
              nuclei,
              static_cast<int>(h.grid_blocks),
              h.reference.potential_values != nullptr,
              lattices,
              team.member,
              {}};
  a.worker = team.worker;
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
  (a.member.has_others() ? shared : alone).submit(accesses, a);
}

STARPMC_FOR_ALL_PRECISIONS(sample_windows)

}  // namespace starpmc::codelets
