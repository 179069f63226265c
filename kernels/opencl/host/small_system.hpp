#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <span>
#include <vector>

#include "kernels/interaction.hpp"
#include "kernels/opencl/host/launch.hpp"
#include "kernels/operations.hpp"
#include "kernels/scalar/moves.hpp"
#include "kernels/window_plan.hpp"

// What a device is checked with (device_check.hpp).
namespace starpmc::opencl {

inline cl_context context_of(cl_command_queue queue) {
  cl_context context = nullptr;
  check(clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, nullptr),
        "clGetCommandQueueInfo");
  return context;
}

/// A device's memory with a copy of host values.
class Memory {
 public:
  template <class Value>
  Memory(cl_command_queue queue, const std::vector<Value>& values)
      : queue_(queue), bytes_(values.size() * sizeof(Value)) {
    cl_int error = CL_SUCCESS;
    memory_.reset(clCreateBuffer(context_of(queue), CL_MEM_READ_WRITE, bytes_, nullptr, &error));
    check(error, "clCreateBuffer");
    check(clEnqueueWriteBuffer(queue, memory_.get(), CL_TRUE, 0, bytes_, values.data(), 0, nullptr,
                               nullptr),
          "clEnqueueWriteBuffer");
  }
  template <class Value>
  void read(std::vector<Value>& values) const {
    check(clEnqueueReadBuffer(queue_, memory_.get(), CL_TRUE, 0, values.size() * sizeof(Value),
                              values.data(), 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
  }
  Buffer buffer() const { return {memory_.get(), 0, bytes_}; }

 private:
  Owned<cl_mem> memory_;
  cl_command_queue queue_;
  std::size_t bytes_;
};

/// 216 molecules of three sites on a lattice, and all that windows read and write.
template <class Real>
struct SmallSystem {
  static constexpr int kSide = 6;
  static constexpr int kMolecules = kSide * kSide * kSide;
  static constexpr int kSteps = 64;
  static constexpr int kWindows = 2;
  static constexpr int kCandidates = 96;
  static constexpr int kSites = 3;
  static constexpr double kEdge = 18.9;

  std::vector<double> reals;
  std::vector<int> integers;
  TopologyShape shape{1, kSites, 2, kMolecules, (kMolecules + 15) / 16 * 16, 0, {}};
  Interaction interaction = interaction_within({kEdge, 1.02 * kEdge, 1.04 * kEdge}, 9.4, 9);
  WindowLayout layout{kSteps, kCandidates, kSites, shape.padded_molecules};
  std::array<StepRange, kWindows> ranges;
  std::array<WindowExtent, kWindows> extents;
  StepTuning tuning{0.4, 1, 0.5, 0, 0};
  /// As certified decisions of such a window allow for.
  DecisionBound bound{kPrecisionOf<Real> == Precision::fp64 ? 1e-7 : 0.03, 1e-6, 0};
  std::vector<int> plan;
  std::vector<double> entries;
  std::vector<double> first_entries;  ///< of the first window, once it is sampled
  std::vector<PairReal<Real>> outside;
  std::vector<double> lattice;
  std::vector<Real> lattice_sites;
  std::vector<double> mm_partial;
  std::vector<double> mm_energies;
  std::vector<PairReal<Real>> table;
  std::vector<double> chain_state;
  std::vector<double> field_cache;
  std::vector<double> record;

  SmallSystem() {
    set_topology();
    place_molecules();
    const auto rows = size_of(entry_capacity(layout));
    plan.assign(size_of(plan_size(layout)), 0);
    entries.assign(size_of(entries_size(layout)), 0.0);
    outside.assign(size_of(layout.molecules), PairReal<Real>{0});
    mm_partial.assign(MM_TERMS * rows, 0.0);
    mm_energies.assign(MM_TERMS * rows, 0.0);
    table.assign(MM_TERMS * rows * rows, PairReal<Real>{0});
    chain_state.assign(static_cast<std::size_t>(chain_state_size(kMolecules)), 0.0);
    chain_state[STATE_MAXIMUM_TRANSLATION] = 0.3;
    chain_state[STATE_MAXIMUM_HALF_TURNS] = 0.05;
    field_cache.assign(size_of(FIELDS * layout.molecules), 0.0);
    record.assign(size_of(kWindows) * record_size(), 0.0);
    StepRange range{0x5EED, 1000, 0, kSteps, 2.5};
    for (std::size_t w = 0; w < kWindows; ++w) {
      WindowPlanner(layout, kMolecules).plan(range, plan);
      ranges[w] = range;
      extents[w] = {plan[PLAN_STEPS], plan[PLAN_CANDIDATES], plan[PLAN_STARTS]};
      range.first_step += static_cast<std::uint64_t>(extents[w].steps);
    }
  }

  static std::size_t record_size() { return size_of(RECORD_FIELDS * kSteps); }

  Topology topology() const { return {shape, reals, integers}; }
  starpmc::Window host_window() const { return {layout, interaction, topology(), plan, entries}; }

  /// The windows on the host.
  void sample() {
    for (std::size_t w = 0; w < kWindows; ++w) {
      WindowPlanner(layout, kMolecules).plan(ranges[w], plan);
      sample_window(ranges[w], std::span(record).subspan(w * record_size(), record_size()));
    }
  }
  /// The same by a device.
  void sample(DeviceProgram& program, cl_command_queue queue, Settling settling, bool alone);

 private:
  void sample_window(const StepRange& range, std::span<double> window_record) {
    scalar::propose_moves(ProposeMovesArguments<Real>{
        layout, interaction, range, topology(), chain_state, lattice, plan, entries, outside});
    if (first_entries.empty()) first_entries = entries;
    scalar::mm_pair(MmPairArguments<Real>{host_window(), lattice, lattice_sites, outside, 0,
                                          kMolecules, mm_partial});
    scalar::mm_pair_table(MmPairTableArguments<Real>{host_window(), table});
    const std::array<std::span<const double>, 1> partials{mm_partial};
    scalar::mm_pair_reduce(
        MmPairReduceArguments<Real>{host_window(), partials, table, mm_energies});
    starpmc::Certification certification;
    certification.active = true;
    certification.bound = bound;
    scalar::metropolis_decide(MetropolisDecideArguments<Real>{host_window(),
                                                              tuning,
                                                              certification,
                                                              {},
                                                              {},
                                                              mm_energies,
                                                              table,
                                                              chain_state,
                                                              lattice,
                                                              lattice_sites,
                                                              field_cache,
                                                              window_record});
  }

  void set_topology() {
    reals.assign(size_of(topology_reals_size(shape)), 0.0);
    const double sites[kSites][4] = {
        {0, 0, 0, -0.8476}, {0.8165, 0.5774, 0, 0.4238}, {-0.8165, 0.5774, 0, 0.4238}};
    for (int site = 0; site < kSites; ++site) {
      std::copy_n(sites[site], 4, &reals[size_of(topology_site(shape, 0, site))]);
    }
    const double sixth = std::pow(3.166, 6);
    const double c6 = 4 * 0.65 * sixth;
    const double c12 = c6 * sixth;
    const double rc = interaction.vdw_cutoff;
    const double slope = 12 * c12 / std::pow(rc, 13) - 6 * c6 / std::pow(rc, 7);
    const double shift = c6 / std::pow(rc, 6) - c12 / std::pow(rc, 12) - slope * rc;
    const double pair[] = {c12, c6, shift, slope};
    std::copy_n(pair, 4, &reals[size_of(topology_pair(shape, 0, 0))]);
    integers.assign(size_of(topology_integers_size(shape)), 0);
    integers[size_of(topology_site_count(shape, 0))] = kSites;
    for (int site = 1; site < kSites; ++site) {
      integers[size_of(topology_site_type(shape, 0, site))] = 1;
    }
    shape.largest_radius = 1.0001;
  }

  void place_molecules() {
    std::mt19937_64 random(4);
    std::uniform_real_distribution<double> unit(-1, 1);
    const auto stride = size_of(layout.molecules);
    lattice.assign(POSE_FIELDS * stride, 0.0);
    lattice_sites.assign(3 * kSites * stride, Real{});
    for (int m = 0; m < kMolecules; ++m) {
      const int cell[] = {m % kSide, m / kSide % kSide, m / kSide / kSide};
      double pose[POSE_FIELDS];
      for (int k = 0; k < 3; ++k) {
        pose[k] = (cell[k] + 0.5 + 0.05 * unit(random)) * interaction.box[k] / kSide;
      }
      double squared = 0;
      for (int k = POSE_W; k < POSE_FIELDS; ++k) {
        pose[k] = unit(random);
        squared += pose[k] * pose[k];
      }
      for (int k = POSE_W; k < POSE_FIELDS; ++k) pose[k] /= std::sqrt(squared);
      for (int k = 0; k < POSE_FIELDS; ++k) lattice[size_of(k) * stride + size_of(m)] = pose[k];
      for (int site = 0; site < kSites; ++site) {
        double displacement[3];
        scalar::rotate_site(pose, topology().site(0, site), displacement);
        for (int k = 0; k < 3; ++k) {
          lattice_sites[size_of(3 * site + k) * stride + size_of(m)] =
              stored_site<Real>(pose[k], displacement[k], interaction.box[k]);
        }
      }
    }
  }
};

template <class Real>
void SmallSystem<Real>::sample(DeviceProgram& program, cl_command_queue queue, Settling settling,
                               bool alone) {
  const Memory on_reals(queue, reals);
  const Memory on_integers(queue, integers);
  const Memory on_plan(queue, plan);
  const Memory on_entries(queue, entries);
  const Memory on_outside(queue, outside);
  const Memory on_lattice(queue, lattice);
  const Memory on_sites(queue, lattice_sites);
  const Memory on_partial(queue, mm_partial);
  const Memory on_energies(queue, mm_energies);
  const Memory on_table(queue, table);
  const Memory on_state(queue, chain_state);
  const Memory on_cache(queue, field_cache);
  const Memory on_record(queue, record);
  Certification certification;
  certification.active = true;
  certification.bound = bound;
  certification.alone = alone;
  WholeWindow whole;
  whole.decide.mm_energies = on_energies.buffer();
  whole.decide.table = on_table.buffer();
  whole.decide.chain_state = on_state.buffer();
  whole.decide.lattice = on_lattice.buffer();
  whole.decide.lattice_sites = on_sites.buffer();
  whole.decide.field_cache = on_cache.buffer();
  whole.outside = on_outside.buffer();
  whole.mm_partial = on_partial.buffer();
  std::array<WindowTask, kWindows> tasks;
  for (std::size_t w = 0; w < kWindows; ++w) {
    Buffer part = on_record.buffer();
    part.offset_bytes = w * record_size() * sizeof(double);
    part.bytes = record_size() * sizeof(double);
    tasks[w] = {ranges[w], tuning, extents[w], part};
  }
  const Window window{layout,           interaction,        shape,
                      extents[0],       on_reals.buffer(),  on_integers.buffer(),
                      on_plan.buffer(), on_entries.buffer()};
  // By itself, too: whole windows may keep their entries to themselves.
  propose_moves(program, queue, window, ranges[0], on_state.buffer(), on_lattice.buffer(),
                on_outside.buffer());
  on_entries.read(first_entries = entries);
  sample_windows(program, queue, window, tasks, certification, whole, settling);
  on_lattice.read(lattice);
  on_state.read(chain_state);
  on_record.read(record);
}

}  // namespace starpmc::opencl
