#include "kernels/opencl/host/device_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <sstream>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/interaction.hpp"
#include "kernels/opencl/host/launch.hpp"
#include "kernels/operations.hpp"
#include "kernels/scalar/moves.hpp"
#include "kernels/window_plan.hpp"

namespace starpmc::opencl {
namespace {

/// Words and numbers one after another.
template <class... Parts>
std::string text_of(int digits, const Parts&... parts) {
  std::ostringstream text;
  text.precision(digits);
  (text << ... << parts);
  return text.str();
}

constexpr int kRoots = 100'000;
constexpr double kWideRoot = 2e-11;

/// A device's memory with a copy of host values.
class Memory {
 public:
  template <class Value>
  Memory(cl_context context, cl_command_queue queue, std::span<const Value> values)
      : queue_(queue) {
    cl_int error = CL_SUCCESS;
    memory_.reset(clCreateBuffer(context, CL_MEM_READ_WRITE, values.size_bytes(), nullptr, &error));
    check(error, "clCreateBuffer");
    check(clEnqueueWriteBuffer(queue, memory_.get(), CL_TRUE, 0, values.size_bytes(), values.data(),
                               0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
  }
  template <class Value>
  void read(std::vector<Value>& values) const {
    check(clEnqueueReadBuffer(queue_, memory_.get(), CL_TRUE, 0, values.size() * sizeof(Value),
                              values.data(), 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
  }
  Buffer buffer() const { return {memory_.get(), 0}; }

 private:
  Owned<cl_mem> memory_;
  cl_command_queue queue_;
};

cl_context context_of(cl_command_queue queue) {
  cl_context context = nullptr;
  check(clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, nullptr),
        "clGetCommandQueueInfo");
  return context;
}

void check_roots(Program& program, cl_command_queue queue) {
  std::vector<double> squares(kRoots);
  std::mt19937_64 random(18);
  std::uniform_real_distribution<double> exponent(-4, 6);
  for (double& square : squares) square = std::pow(10, exponent(random));
  std::vector<double> roots(3 * squares.size(), 0.0);
  const cl_context context = context_of(queue);
  const Memory from(context, queue, std::span<const double>(squares));
  const Memory to(context, queue, std::span<const double>(roots));
  const int group = program.shape().sum_group;
  Launch(program, queue, "check_reciprocal_roots")
      .with(cl_int{kRoots})
      .with(from.buffer())
      .with(to.buffer())
      .run({size_of(program.compute_units()), 1}, {size_of(group), 1});
  to.read(roots);
  const std::string fault = fault_of_roots(program.precision(), squares, roots);
  if (!fault.empty()) throw RunError(fault);
}

/// 216 molecules of three sites on a lattice, and all that a window reads and writes.
template <class Real>
struct SmallSystem {
  static constexpr int kSide = 6;
  static constexpr int kMolecules = kSide * kSide * kSide;
  static constexpr int kSteps = 64;
  static constexpr int kCandidates = 96;
  static constexpr int kSites = 3;
  static constexpr double kEdge = 18.9;

  std::vector<double> reals;
  std::vector<int> integers;
  TopologyShape shape{1, kSites, 2, kMolecules, (kMolecules + 15) / 16 * 16, 0, {}};
  Interaction interaction = interaction_within({kEdge, 1.02 * kEdge, 1.04 * kEdge}, 9.4, 9);
  WindowLayout layout{kSteps, kCandidates, kSites, shape.padded_molecules};
  StepRange range{0x5EED, 1000, 0, kSteps, 2.5};
  StepTuning tuning{0.4, 1, 0.5, 0, 0};
  /// As certified decisions of such a window allow for.
  DecisionBound bound{kPrecisionOf<Real> == Precision::fp64 ? 1e-7 : 0.03, 1e-6, 0};
  std::vector<int> plan;
  std::vector<double> entries;
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
    record.assign(size_of(RECORD_FIELDS * kSteps), 0.0);
    WindowPlanner(layout, kMolecules).plan(range, plan);
  }

  Topology topology() const { return {shape, reals, integers}; }
  starpmc::Window host_window() const { return {layout, interaction, topology(), plan, entries}; }
  int steps() const { return plan[PLAN_STEPS]; }

  /// The window on the host.
  void sample() {
    scalar::propose_moves(ProposeMovesArguments<Real>{
        layout, interaction, range, topology(), chain_state, lattice, plan, entries, outside});
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
                                                              record});
  }

  /// The same by a device.
  void sample(Program& program, cl_command_queue queue);

 private:
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
void SmallSystem<Real>::sample(Program& program, cl_command_queue queue) {
  const cl_context context = context_of(queue);
  const auto upload = [&]<class Value>(const std::vector<Value>& values) {
    return Memory(context, queue, std::span<const Value>(values));
  };
  const Memory on_reals = upload(reals);
  const Memory on_integers = upload(integers);
  const Memory on_plan = upload(plan);
  const Memory on_entries = upload(entries);
  const Memory on_outside = upload(outside);
  const Memory on_lattice = upload(lattice);
  const Memory on_sites = upload(lattice_sites);
  const Memory on_partial = upload(mm_partial);
  const Memory on_energies = upload(mm_energies);
  const Memory on_table = upload(table);
  const Memory on_state = upload(chain_state);
  const Memory on_cache = upload(field_cache);
  const Memory on_record = upload(record);
  const WindowExtent extent{plan[PLAN_STEPS], plan[PLAN_CANDIDATES], plan[PLAN_STARTS]};
  Certification certification;
  certification.active = true;
  certification.bound = bound;
  WholeWindow whole;
  whole.decide.mm_energies = on_energies.buffer();
  whole.decide.table = on_table.buffer();
  whole.decide.chain_state = on_state.buffer();
  whole.decide.lattice = on_lattice.buffer();
  whole.decide.lattice_sites = on_sites.buffer();
  whole.decide.field_cache = on_cache.buffer();
  whole.outside = on_outside.buffer();
  whole.mm_partial = on_partial.buffer();
  const WindowTask task{range, tuning, extent, on_record.buffer()};
  sample_windows(program, queue,
                 {layout, interaction, shape, extent, on_reals.buffer(), on_integers.buffer(),
                  on_plan.buffer(), on_entries.buffer()},
                 std::span(&task, 1), certification, whole);
  on_entries.read(entries);
  on_lattice.read(lattice);
  on_state.read(chain_state);
  on_record.read(record);
}

template <class Real>
void check_window(Program& program, cl_command_queue queue) {
  SmallSystem<Real> host;
  SmallSystem<Real> device;
  host.sample();
  device.sample(program, queue);
  const int steps = host.steps();
  const auto first_threshold = size_of(entries_threshold(host.layout));
  for (int step = 0; step < steps; ++step) {
    const double here = host.entries[first_threshold + size_of(step)];
    const double there = device.entries[first_threshold + size_of(step)];
    if (here != there) {
      throw RunError(text_of(17, "the threshold of step ", step, " of a test window is ", there,
                             " there and ", here, " on the host"));
    }
  }
  const auto row = size_of(SmallSystem<Real>::kSteps);
  for (int step = 0; step < steps; ++step) {
    const auto at = [&](const SmallSystem<Real>& system, int field) {
      return system.record[size_of(field) * row + size_of(step)];
    };
    if (at(host, RECORD_ACCEPTED) != at(device, RECORD_ACCEPTED)) {
      throw RunError(
          text_of(6, "step ", step, " of a test window is decided otherwise than on the host"));
    }
    const double here =
        at(host, RECORD_TERMS + TERM_MM_COULOMB) + at(host, RECORD_TERMS + TERM_MM_VDW);
    const double there =
        at(device, RECORD_TERMS + TERM_MM_COULOMB) + at(device, RECORD_TERMS + TERM_MM_VDW);
    if (!(std::abs(here - there) <= 2 * host.bound.absolute)) {
      throw RunError(text_of(9, "the energy after step ", step, " of a test window is ", there,
                             " kJ/mol there and ", here, " on the host"));
    }
  }
  if (host.lattice != device.lattice) {
    throw RunError("a test window leaves molecules in other places than on the host");
  }
  if (!(device.chain_state[STATE_LARGEST_ERROR] <= 0.5)) {
    throw RunError(text_of(2, "an energy of a test window is ",
                           device.chain_state[STATE_LARGEST_ERROR], " times its error bound off"));
  }
}

}  // namespace

std::string fault_of_roots(Precision precision, std::span<const double> squares,
                           std::span<const double> roots) {
  const bool single = precision != Precision::fp64;
  const double allowed = single ? std::ldexp(kRootRoundings, -24) : std::ldexp(kRootRoundings, -53);
  constexpr std::array kNames{"in vectors", "one by one", "in fp64"};
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const std::size_t function = i / squares.size();
    const bool wide = function == 2;
    const double square = squares[i % squares.size()];
    const double taken = single && !wide ? static_cast<double>(static_cast<float>(square)) : square;
    const double error = std::abs(roots[i] * std::sqrt(taken) - 1);
    const double limit = wide ? kWideRoot : allowed;
    if (!(error <= limit)) {
      return text_of(9, "1/sqrt(", taken, ") (", kNames[function], ") is ", roots[i],
                     " there, off by ") +
             text_of(2, error, " of its value, where the bound on the error of energies takes ",
                     limit, " at most");
    }
  }
  return {};
}

void check_device(Program& program, cl_command_queue queue, bool has_user_functions) {
  check_roots(program, queue);
  if (has_user_functions) return;
  switch (program.precision()) {
    case Precision::fp64:
      return check_window<double>(program, queue);
    case Precision::mixed:
      return check_window<float>(program, queue);
    case Precision::fixed:
      return check_window<FixedCoordinate>(program, queue);
  }
}

}  // namespace starpmc::opencl
