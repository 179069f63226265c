#include "codelets/team_window.hpp"

#include <limits>
#include <vector>

#include "codelets/certification.hpp"
#include "codelets/window_operations.hpp"
#include "kernels/base/error.hpp"
#include "kernels/opencl/host/team_window.hpp"

namespace starpmc::codelets {
namespace {

constexpr const char* kName = "team_window";

struct Arguments : WindowArguments {
  TeamTask task;
  int members;
  /// Places of buffers that not every task has; those of members come one behind the other.
  struct Places {
    std::size_t record, scratch, own_energies, own_shares, energies, shares;
  } places;

  bool decides() const { return task.stages.decide || task.stages.find_doubts; }
};

/// Buffers behind the window's.
enum Buffers : std::size_t {
  kLattice = kWindowBuffers,
  kLatticeSites,
  kChainState,
  kFieldCache,
  kOutside,
  kMmPartial,
  kMmEnergies,
  kTable,
  kSolute,
  kNucleiEnergies,
  kGridEnergies,
  kBlockHeaders,
  kPoints,
  kExactBlocks,
  kExactPoints,
  kOthers
};

/// The place of a buffer that a task does not have.
constexpr std::size_t kAbsent = std::numeric_limits<std::size_t>::max();

constexpr CertificationPlaces kCertification{kSolute, kExactBlocks, kExactPoints};

template <class Real>
class HostMember {
 public:
  HostMember(HostBuffers b, const Arguments& a, const Operations<Real>& operations)
      : b_(b), a_(a), operations_(operations) {}

  void run() const {
    const TeamStages& stages = a_.task.stages;
    if (a_.decides()) add_up(window_view(b_, a_));
    if (stages.find_doubts) find_doubts(window_view(b_, a_));
    if (stages.decide || stages.settle) decide(window_view(b_, a_), stages.settle);
    if (!stages.evaluate) return;
    propose();
    evaluate(window_view(b_, a_));
  }

 private:
  /// The energies of the window's candidates with all of the density, and those of its entries.
  void add_up(const Window& window) const {
    operations_.qmmm_coulomb_grid_reduce({window.candidates(),
                                          b_.parts(a_.places.energies, a_.members),
                                          b_.write<double>(kGridEnergies)});
    operations_.mm_pair_reduce({window, b_.parts(kMmPartial, 1), b_.read<PairReal<Real>>(kTable),
                                b_.write<double>(kMmEnergies)});
  }

  MetropolisDecideArguments<Real> decision(const Window& window) const {
    return {window,
            a_.task.tuning,
            certification_view(b_, a_.task.certification, kCertification),
            b_.read<double>(kGridEnergies),
            b_.read<double>(kNucleiEnergies),
            b_.write<double>(kMmEnergies),
            b_.read<PairReal<Real>>(kTable),
            b_.write<double>(kChainState),
            b_.write<double>(kLattice),
            b_.write<Real>(kLatticeSites),
            b_.write<double>(kFieldCache),
            {},
            {}};
  }

  void find_doubts(const Window& window) const {
    MetropolisDecideArguments<Real> arguments = decision(window);
    std::vector<double> state(arguments.chain_state.begin(), arguments.chain_state.end());
    std::vector<double> energies(arguments.mm_energies.begin(), arguments.mm_energies.end());
    arguments.chain_state = state;
    arguments.mm_energies = energies;
    operations_.doubted_grid_changes(
        arguments,
        {static_cast<std::size_t>(a_.task.first_block), static_cast<std::size_t>(a_.task.blocks)},
        b_.write<std::uint64_t>(a_.places.own_shares));
  }

  /// By candidate the sum of what all members found; none where one did not look.
  std::vector<std::uint64_t> grid_changes(int candidates) const {
    std::vector<std::uint64_t> sums(static_cast<std::size_t>(candidates), 0);
    for (int i = 0; i < a_.members; ++i) {
      const auto shares = b_.read<std::uint64_t>(a_.places.shares + static_cast<std::size_t>(i));
      for (std::size_t candidate = 0; candidate < sums.size(); ++candidate) {
        std::uint64_t& sum = sums[candidate];
        const bool known = sum != STARPMC_NO_SHARE && shares[candidate] != STARPMC_NO_SHARE;
        sum = known ? sum + shares[candidate] : STARPMC_NO_SHARE;
      }
    }
    return sums;
  }

  void decide(const Window& window, bool with_shares) const {
    MetropolisDecideArguments<Real> arguments = decision(window);
    arguments.record = b_.write<double>(a_.places.record);
    std::vector<std::uint64_t> changes;
    if (with_shares) changes = grid_changes(window.candidates());
    arguments.certification.grid_changes = changes;
    operations_.metropolis_decide(arguments);
  }

  void propose() const {
    operations_.propose_moves({a_.layout, a_.interaction, a_.task.range,
                               topology_view(b_, a_.topology), b_.read<double>(kChainState),
                               b_.read<double>(kLattice), b_.write<int>(kPlan),
                               b_.write<double>(kEntries), b_.write<PairReal<Real>>(kOutside)});
  }

  void evaluate(const Window& window) const {
    operations_.qmmm_coulomb_grid({window, b_.read<double>(kBlockHeaders), b_.read<Real>(kPoints),
                                   b_.write<double>(a_.places.own_energies)});
    operations_.qmmm_nuclei_vdw({window, b_.read<double>(kSolute), a_.task.certification.nuclei,
                                 b_.write<double>(kNucleiEnergies)});
    operations_.mm_pair({window, b_.read<double>(kLattice), b_.read<Real>(kLatticeSites),
                         b_.read<PairReal<Real>>(kOutside), 0, a_.topology.molecules,
                         b_.write<double>(kMmPartial)});
    operations_.mm_pair_table({window, b_.write<PairReal<Real>>(kTable)});
  }

  HostBuffers b_;
  const Arguments& a_;
  const Operations<Real>& operations_;
};

template <class Real, const Operations<Real>& kOperations>
void on_cpu(void* buffers[], void* argument) {
  guarded(kName, [&] {
    HostMember<Real>(HostBuffers(buffers), arguments_of<Arguments>(argument), kOperations).run();
  });
}

/// The same enqueued on a device.
class DeviceMember {
 public:
  DeviceMember(DeviceBuffers b, const Arguments& a, const OpenclPlace& place)
      : b_(b), a_(a), program_(place.program), queue_(place.queue) {}

  void run() const {
    const TeamStages& stages = a_.task.stages;
    opencl::TeamWindow member = view();
    if (stages.decide) {
      opencl::team_decide(program_, queue_, member, a_.task.tuning, energies());
    }
    if (stages.find_doubts) {
      opencl::team_find_doubts(program_, queue_, member, a_.task.tuning, energies(),
                               b_.at(a_.places.own_shares));
    }
    if (stages.settle) {
      opencl::team_settle(program_, queue_, member, a_.task.tuning,
                          b_.parts(a_.places.shares, a_.members));
    }
    if (!stages.evaluate) return;
    member.window.extent = a_.task.next;
    opencl::team_evaluate(program_, queue_, member, a_.task.range, b_.at(a_.places.own_energies));
  }

 private:
  std::vector<opencl::Buffer> energies() const { return b_.parts(a_.places.energies, a_.members); }

  opencl::TeamWindow view() const {
    const opencl::DecideBuffers decide{b_.at(kGridEnergies),
                                       b_.at(kNucleiEnergies),
                                       b_.at(kMmEnergies),
                                       b_.at(kTable),
                                       b_.at(kChainState),
                                       b_.at(kLattice),
                                       b_.at(kLatticeSites),
                                       b_.at(kFieldCache),
                                       b_.at_if(a_.places.record != kAbsent, a_.places.record)};
    return {opencl_window(b_, a_),
            opencl_certification(b_, a_.task.certification, kCertification),
            {decide, b_.at(kOutside), b_.at(kMmPartial), a_.task.blocks, b_.at(kBlockHeaders),
             b_.at(kPoints)},
            a_.task.first_block,
            b_.at_if(a_.places.scratch != kAbsent, a_.places.scratch)};
  }

  DeviceBuffers b_;
  const Arguments& a_;
  opencl::Program& program_;
  cl_command_queue queue_;
};

template <class Real>
void on_opencl(void* buffers[], void* argument) {
  guarded(kName, [&] {
    DeviceMember(DeviceBuffers(buffers), arguments_of<Arguments>(argument),
                 opencl_place(kPrecisionOf<Real>))
        .run();
  });
}

/// Of a task, with the places of those that not every task has.
std::vector<Access> accesses_of_member(const WindowHandles& window, const TeamMemberHandles& h,
                                       const TeamExchange& exchange, Arguments& a) {
  const TeamStages& stages = a.task.stages;
  const bool ends = stages.decide || stages.settle;
  // What a window leaves for its decision; it begins with nothing.
  const bool begins = stages.evaluate && !ends;
  const starpu_data_access_mode passed_on = begins ? STARPU_W : STARPU_RW;
  std::vector<Access> accesses{{window.topology_reals, STARPU_R},
                               {window.topology_integers, STARPU_R},
                               {window.plan, passed_on},
                               {window.entries, passed_on},
                               {h.decide.lattice, STARPU_RW},
                               {h.decide.lattice_sites, STARPU_RW},
                               {h.decide.chain_state, STARPU_RW},
                               {h.decide.field_cache, STARPU_RW},
                               {h.outside, passed_on},
                               {h.mm_partial, passed_on},
                               {h.decide.mm_energies, passed_on},
                               {h.decide.table, passed_on},
                               {h.decide.certification.solute, STARPU_R},
                               {h.decide.nuclei_energies, passed_on},
                               {h.decide.grid_energies, passed_on},
                               {h.block_headers, STARPU_R},
                               {h.points, STARPU_R},
                               {h.decide.certification.exact_blocks, STARPU_R},
                               {h.decide.certification.exact_points, STARPU_R}};
  const auto add_if = [&](bool present, starpu_data_handle_t handle, starpu_data_access_mode mode) {
    if (!present) return kAbsent;
    accesses.push_back({handle, mode});
    return accesses.size() - 1;
  };
  const auto add_all = [&](bool present, std::span<const starpu_data_handle_t> handles) {
    const std::size_t first = accesses.size();
    for (const auto handle : handles) add_if(present, handle, STARPU_R);
    return present ? first : kAbsent;
  };
  // A device that finds no doubts has decided.
  a.places.record =
      add_if(a.decides() || stages.settle, h.decide.record, stages.settle ? STARPU_RW : STARPU_W);
  a.places.scratch = add_if(h.scratch != nullptr && (stages.find_doubts || stages.settle),
                            h.scratch, stages.find_doubts ? STARPU_W : STARPU_RW);
  a.places.own_energies = add_if(stages.evaluate, exchange.own_energies, STARPU_W);
  a.places.own_shares = add_if(stages.find_doubts, exchange.own_shares, STARPU_W);
  a.places.energies = add_all(a.decides(), exchange.energies);
  a.places.shares = add_all(stages.settle, exchange.shares);
  return accesses;
}

}  // namespace

template <class Real>
std::size_t team_scratch_size(int worker, const WindowLayout& layout) {
  const opencl::Program* const program = opencl_program(worker, kPrecisionOf<Real>);
  if (program == nullptr) return 0;
  return (opencl::team_scratch_bytes(*program, layout) + sizeof(double) - 1) / sizeof(double);
}

template <class Real>
void team_window(const WindowHandles& window, const WindowArguments& arguments,
                 const TeamTask& task, const TeamMemberHandles& member,
                 const TeamExchange& exchange) {
  static PotentialCodelet codelet(operation_name<Real>(kName),
                                  {on_cpu<Real, kSimdOperations<Real>>,
                                   on_cpu<Real, kScalarOperations<Real>>, on_opencl<Real>});
  const std::size_t members = std::max(exchange.energies.size(), exchange.shares.size());
  Arguments a{arguments, task, static_cast<int>(members), {}};
  a.worker = task.worker;
  const auto work = [&](bool present, const opencl::WindowExtent& extent, double blocks) {
    return present ? Work::sample_windows(extent.candidates, blocks, arguments.topology.molecules)
                   : 0.0;
  };
  a.work_bucket = work_bucket(work(task.stages.evaluate, task.next, task.blocks) +
                              work(!task.stages.evaluate, arguments.extent, 0));
  codelet.submit(accesses_of_member(window, member, exchange, a), a);
}

template std::size_t team_scratch_size<double>(int, const WindowLayout&);
template std::size_t team_scratch_size<float>(int, const WindowLayout&);
template std::size_t team_scratch_size<FixedCoordinate>(int, const WindowLayout&);
STARPMC_FOR_ALL_PRECISIONS(team_window)

}  // namespace starpmc::codelets
