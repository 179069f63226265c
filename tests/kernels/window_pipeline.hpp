#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "kernels/whole_units.hpp"
#include "naive_energies.hpp"
#include "window_fixture.hpp"

/// A window's operations in order, by any level of kernels, and what tests expect of them.
namespace starpmc::test {

// One structure per level of kernels, so that pipelines can be written once.
#define STARPMC_TEST_LEVEL(Name, level)                                                          \
  struct Name {                                                                                  \
    template <class Arguments>                                                                   \
    static void propose_moves(const Arguments& a) {                                              \
      level::propose_moves(a);                                                                   \
    }                                                                                            \
    template <class Arguments>                                                                   \
    static void qmmm_coulomb_grid(const Arguments& a) {                                          \
      level::qmmm_coulomb_grid(a);                                                               \
    }                                                                                            \
    static void qmmm_coulomb_grid_reduce(const CoulombGridReduceArguments& a) {                  \
      level::qmmm_coulomb_grid_reduce(a);                                                        \
    }                                                                                            \
    template <class Arguments>                                                                   \
    static void qmmm_nuclei_vdw(const Arguments& a) {                                            \
      level::qmmm_nuclei_vdw(a);                                                                 \
    }                                                                                            \
    template <class Arguments>                                                                   \
    static void mm_pair(const Arguments& a) {                                                    \
      level::mm_pair(a);                                                                         \
    }                                                                                            \
    template <class Arguments>                                                                   \
    static void mm_pair_table(const Arguments& a) {                                              \
      level::mm_pair_table(a);                                                                   \
    }                                                                                            \
    template <class Arguments>                                                                   \
    static void mm_pair_reduce(const Arguments& a) {                                             \
      level::mm_pair_reduce(a);                                                                  \
    }                                                                                            \
    static void reference_field(const ReferenceFieldArguments& a) { level::reference_field(a); } \
    template <class Arguments>                                                                   \
    static void metropolis_decide(const Arguments& a) {                                          \
      level::metropolis_decide(a);                                                               \
    }                                                                                            \
    template <class Arguments>                                                                   \
    static void grid_potential(const Arguments& a) {                                             \
      level::grid_potential(a);                                                                  \
    }                                                                                            \
  };
STARPMC_TEST_LEVEL(ScalarLevel, scalar)
STARPMC_TEST_LEVEL(SimdLevel, simd)
#undef STARPMC_TEST_LEVEL

/// The pipeline on the host. Grid and lattice are cut in two, so that partial energies are summed.
template <class Level>
struct HostPipeline {
  template <class Real>
  void propose(Buffers<Real>& b, const StepRange& range) {
    Level::propose_moves(ProposeMovesArguments<Real>{b.layout, b.system->interaction, range,
                                                     b.system->topology(), b.chain_state, b.lattice,
                                                     b.plan, b.entries, b.outside});
  }

  template <class Real>
  void evaluate(Buffers<Real>& b) {
    const Window window = b.window();
    const TestSystem& system = *b.system;
    const std::size_t blocks = system.blocks.size() / BLOCK_FIELDS;
    const std::size_t half = blocks / 2;
    Level::qmmm_nuclei_vdw(
        NucleiVdwArguments<Real>{window, system.solute, system.nuclei, b.nuclei_energies});
    const int molecules = system.shape.molecules;
    evaluate_mm(b, std::array{0, molecules / 2, molecules});
    if (blocks == 0) return;
    const std::span<const double> headers(system.blocks);
    const std::span<const Real> points(b.points);
    std::vector<double> second(b.grid_energies.size());
    std::vector<double> first(b.grid_energies.size());
    Level::qmmm_coulomb_grid(CoulombGridArguments<Real>{window, headers.first(half * BLOCK_FIELDS),
                                                        points.first(half * STARPMC_BLOCK_VALUES),
                                                        first});
    Level::qmmm_coulomb_grid(
        CoulombGridArguments<Real>{window, headers.subspan(half * BLOCK_FIELDS),
                                   points.subspan(half * STARPMC_BLOCK_VALUES), second});
    const std::array<std::span<const double>, 2> grid_partials{first, second};
    Level::qmmm_coulomb_grid_reduce({window.candidates(), grid_partials, b.grid_energies});
  }

  /// The MM terms, the lattice cut into the ranges between `cuts`.
  template <class Real>
  void evaluate_mm(Buffers<Real>& b, std::span<const int> cuts) {
    const Window window = b.window();
    std::vector<std::vector<double>> partials;
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      partials.emplace_back(b.mm_partial.size(), 3.0);
      Level::mm_pair(MmPairArguments<Real>{window, b.lattice, b.lattice_sites, b.outside, cuts[i],
                                           cuts[i + 1], partials.back()});
    }
    Level::mm_pair_table(MmPairTableArguments<Real>{window, b.table});
    const std::vector<std::span<const double>> spans(partials.begin(), partials.end());
    Level::mm_pair_reduce(MmPairReduceArguments<Real>{window, spans, b.table, b.mm_energies});
  }

  template <class Real>
  void decide(Buffers<Real>& b, const StepTuning& tuning) {
    Level::metropolis_decide(MetropolisDecideArguments<Real>{
        b.window(), tuning, b.certification(), b.grid_energies, b.nuclei_energies, b.mm_energies,
        b.table, b.chain_state, b.lattice, b.lattice_sites, b.field_cache, b.record, b.response()});
  }

  template <class Real>
  void potential(Buffers<Real>& b) {
    Level::grid_potential(GridPotentialArguments{b.layout, b.system->interaction,
                                                 b.system->topology(), b.lattice, b.system->blocks,
                                                 b.exact_points, b.potential, b.system->potential});
  }
};

/// Of a window's entries, which a molecule may be at when another one leaves or enters an entry:
/// the start positions and the candidates of steps before the last one of that other molecule.
class Meetings {
 public:
  explicit Meetings(const Window& window) : window_(window) {
    for (int step = 0; step < window.steps(); ++step) last_step_[moved_in(step)] = step;
  }
  bool has(int moved, int met) const {
    if (window_.molecule_of_entry(moved) == window_.molecule_of_entry(met)) return true;
    const int since =
        met < window_.layout.candidates
            ? window_.plan[static_cast<std::size_t>(plan_candidate_step(window_.layout) + met)]
            : -1;
    return since < last_step_.at(window_.molecule_of_entry(moved));
  }

 private:
  int moved_in(int step) const {
    return window_.plan[static_cast<std::size_t>(plan_step_molecule(window_.layout) + step)];
  }
  const Window& window_;
  std::map<int, int> last_step_;  ///< by molecule
};

/// Every energy of a window against the naive loops: errors at most `tolerance` times the sum of
/// the terms' magnitudes, and the rounding to whole units of every pair, or site and group of
/// blocks.
template <class Real>
void expect_naive_energies(const Buffers<Real>& b, double tolerance) {
  const TestSystem& system = *b.system;
  const Window window = b.window();
  const auto rows = static_cast<std::size_t>(entry_capacity(b.layout));
  const double blocks = static_cast<double>(system.blocks.size()) / BLOCK_FIELDS;
  const double rounding = std::max(system.shape.molecules * kPairUnit<Real>,
                                   system.shape.sites * (blocks / kGroupBlocks + 2) * kGridUnit) /
                          2;
  const auto expect = [&](double found, const Sum& sum, const char* term, int entry) {
    ASSERT_NEAR(found, sum.value, tolerance * sum.scale + rounding + 1e-13)
        << term << " of entry " << entry;
  };
  const Meetings meetings(window);
  for (const int entry : active_entries(window)) {
    const Placed placed = placed_entry(system, window, entry);
    const auto e = static_cast<std::size_t>(entry);
    if (entry < b.layout.candidates) {
      const MolecularEnergy nuclei = naive_nuclei(system, placed);
      expect(b.grid_energies[e], naive_grid(system, placed), "grid", entry);
      const auto stride = static_cast<std::size_t>(b.layout.candidates);
      expect(b.nuclei_energies[FIELD_QMMM_NUCLEI * stride + e], nuclei.coulomb, "nuclei", entry);
      expect(b.nuclei_energies[FIELD_QMMM_VDW * stride + e], nuclei.vdw, "QM/MM vdW", entry);
    }
    const MolecularEnergy mm = naive_mm(system, b.lattice, placed, window.molecule_of_entry(entry));
    expect(b.mm_energies[e], mm.coulomb, "MM Coulomb", entry);
    expect(b.mm_energies[rows + e], mm.vdw, "MM vdW", entry);
    for (const int other : active_entries(window)) {
      if (!meetings.has(entry, other)) continue;
      const std::size_t index = static_cast<std::size_t>(other) * rows + e;
      MolecularEnergy pair;
      if (window.molecule_of_entry(entry) != window.molecule_of_entry(other)) {
        pair = naive_pair(system, placed, placed_entry(system, window, other));
      }
      expect(b.table[index], pair.coulomb, "table, Coulomb", entry);
      expect(b.table[rows * rows + index], pair.vdw, "table, vdW", entry);
    }
  }
}

/// Plan, entries, thresholds and weights of two windows, bit for bit.
template <class Real>
void expect_same_proposal(const Buffers<Real>& a, const Buffers<Real>& b) {
  const Window window = a.window();
  const auto same_integers = [&](int first, int count) {
    for (int i = 0; i < count; ++i) {
      const auto index = static_cast<std::size_t>(first + i);
      ASSERT_EQ(a.plan[index], b.plan[index]) << "plan, integer " << index;
    }
  };
  const WindowLayout layout = a.layout;
  same_integers(0, PLAN_HEADER);
  same_integers(plan_step_molecule(layout), window.steps());
  same_integers(plan_step_slot(layout), window.steps());
  same_integers(plan_step_first(layout), window.steps());
  same_integers(plan_step_visit(layout), window.steps());
  same_integers(plan_start_molecule(layout), window.starts());
  same_integers(plan_candidate_step(layout), window.candidates());
  same_integers(plan_candidate_parent(layout), window.candidates());
  for (const int entry : active_entries(window)) {
    for (int field = 0; field < entry_fields(layout); ++field) {
      ASSERT_EQ(window.field(field, entry), b.window().field(field, entry))
          << "field " << field << " of entry " << entry;
    }
  }
  for (int i = 0; i < window.steps(); ++i) {
    const auto index = static_cast<std::size_t>(entries_threshold(layout) + i);
    ASSERT_EQ(a.entries[index], b.entries[index]) << "threshold " << i;
  }
  ASSERT_EQ(a.outside, b.outside);
}

struct ChainOptions {
  int steps = 50;  ///< of a window
  int candidates = 80;
  int windows = 12;
  bool tuning = false;
  double bound = 0;                    ///< kJ/mol, of certified decisions; 0: not certified
  double disturbance = 0;              ///< largest error put into the candidates' energies, kJ/mol
  std::optional<double> grid_bound{};  ///< the density's part of the bound; left out: all
  double mm_disturbance = 0;
  bool spoils_points = false;  ///< of exact energies: the density's points have no charge
};

/// Spoils energies by errors of either sign.
inline void disturb(std::vector<double>& energies, double largest, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> error(-largest, largest);
  for (double& energy : energies) energy += error(random);
}

/// What a chain did.
template <class Real>
struct ChainOutcome {
  std::vector<int> accepted;
  std::vector<double> totals;  ///< sum of all terms after each step
  std::vector<double> lattice;
  std::vector<Real> lattice_sites;
  std::vector<double> field_cache;
  std::vector<double> chain_state;
};

/// Runs windows one after another, each from the state that the one before left.
template <class Real, class Pipeline>
ChainOutcome<Real> run_chain(Pipeline& pipeline, const TestSystem& system,
                             const ChainOptions& options) {
  Buffers<Real> b(system, options.steps, options.candidates);
  b.field_cache = naive_field_cache(system, system.lattice);
  b.certified = options.bound > 0;
  b.bound = {options.bound, 0, options.grid_bound.value_or(options.bound)};
  for (std::size_t i = 0; options.spoils_points && i < b.exact_points.size(); ++i) {
    if (i % STARPMC_BLOCK_VALUES / STARPMC_BLOCK_POINTS == 3) b.exact_points[i] = 0;
  }
  ChainOutcome<Real> outcome;
  std::uint64_t next = 40;
  for (int i = 0; i < options.windows; ++i) {
    const StepRange range = step_range(next, options.steps);
    pipeline.propose(b, range);
    pipeline.evaluate(b);
    if (options.disturbance > 0) disturb(b.grid_energies, options.disturbance, next);
    if (options.mm_disturbance > 0) disturb(b.mm_energies, options.mm_disturbance, next);
    const StepTuning tuning{0.4, 0.5, 0.1, options.tuning && i % 3 == 2 ? 1 : 0, 0};
    pipeline.decide(b, tuning);
    const auto stride = static_cast<std::size_t>(b.layout.steps);
    for (std::size_t s = 0; s < static_cast<std::size_t>(b.window().steps()); ++s) {
      outcome.accepted.push_back(static_cast<int>(b.record[RECORD_ACCEPTED * stride + s]));
      double total = 0;
      for (std::size_t term = 0; term < TERMS; ++term) {
        total += b.record[(RECORD_TERMS + term) * stride + s];
      }
      outcome.totals.push_back(total);
    }
    next += static_cast<std::uint64_t>(b.window().steps());
  }
  outcome.lattice = b.lattice;
  outcome.lattice_sites = b.lattice_sites;
  outcome.field_cache = b.field_cache;
  outcome.chain_state = b.chain_state;
  return outcome;
}

/// The same decisions and final positions bit for bit; energies within `tolerance` kJ/mol.
template <class Real, class OtherReal>
void expect_same_chain(const ChainOutcome<Real>& a, const ChainOutcome<OtherReal>& b,
                       double tolerance) {
  ASSERT_EQ(a.accepted, b.accepted);
  ASSERT_EQ(a.lattice, b.lattice);
  for (std::size_t i = 0; i < a.totals.size(); ++i) {
    ASSERT_NEAR(a.totals[i], b.totals[i], tolerance) << "step " << i;
  }
  for (std::size_t i = 0; i < a.field_cache.size(); ++i) {
    ASSERT_NEAR(a.field_cache[i], b.field_cache[i], tolerance);
  }
  for (const std::size_t k : {STATE_MAXIMUM_TRANSLATION, STATE_MAXIMUM_HALF_TURNS, STATE_ACCEPTED,
                              STATE_PROPOSED, STATE_NOT_FINITE}) {
    ASSERT_EQ(a.chain_state[k], b.chain_state[k]) << "chain state " << k;
  }
}

/// Systems with cutoffs near half the box and well below it.
inline SystemOptions wide_cutoff() { return {}; }
inline SystemOptions narrow_cutoff() {
  SystemOptions options;
  options.coulomb_cutoff = 6;
  options.vdw_cutoff = 5.5;
  options.seed = 11;
  return options;
}
/// Long windows.
inline SystemOptions many_molecules() {
  SystemOptions options;
  options.waters = 150;
  options.grid_points = 900;
  return options;
}

/// Few molecules: windows full of revisits.
inline SystemOptions few_molecules() {
  SystemOptions options;
  options.waters = 20;
  options.particles = 4;
  options.grid_points = 900;
  return options;
}

/// What decisions report of the errors of the energies that raised the doubts, kJ/mol.
template <class Real>
void expect_reported_error(const ChainOutcome<Real>& certified, const ChainOptions& options) {
  const double largest = certified.chain_state[STATE_LARGEST_ERROR] * options.bound;
  if (options.disturbance > 0) {
    // Of hundreds of differences of two errors each, some are near the largest there can be.
    EXPECT_GT(largest, options.disturbance);
    EXPECT_LT(largest, 2 * options.disturbance + 1e-3);
  } else {
    EXPECT_GT(largest, 0);
    EXPECT_LT(largest, kPrecisionOf<Real> == Precision::fp64 ? 1e-8 : 1e-3);
  }
}

/// Doubts that are nearly all of the MM terms' are settled without the density's points.
/// @param reference the exact chain
template <class Real, class Pipeline>
void expect_points_left_out(Pipeline& pipeline, const TestSystem& system,
                            const ChainOutcome<double>& reference, int windows, bool disturbed) {
  constexpr double kOfGrid = 1e-3;
  for (const double bound : {4 + kOfGrid, 1e150}) {  // what user_errors() gives for no bound
    ChainOptions options{.windows = windows, .bound = bound, .grid_bound = kOfGrid};
    options.spoils_points = !system.points.empty();
    options.mm_disturbance = disturbed ? 0.9 : 0;
    const auto certified = run_chain<Real>(pipeline, system, options);
    EXPECT_EQ(certified.accepted, reference.accepted);
    EXPECT_EQ(certified.lattice, reference.lattice);
    EXPECT_GT(certified.chain_state[STATE_CERTIFIED], 0);
  }
}

/// However little is known of the MM terms: what the density's error leaves open takes its points.
template <class Real, class Pipeline>
void expect_points_taken(Pipeline& pipeline, const TestSystem& system,
                         const ChainOutcome<double>& reference, int windows) {
  const ChainOptions options{
      .windows = windows, .bound = 1e150, .disturbance = 1, .grid_bound = 2.001};
  const auto certified = run_chain<Real>(pipeline, system, options);
  EXPECT_EQ(certified.accepted, reference.accepted);
  EXPECT_EQ(certified.lattice, reference.lattice);
}

/// The decisions of an exact chain, however wrong the energies are that raise the doubts.
/// @param disturbed whether the pipeline lets energies be spoilt between operations
template <class Real, class Pipeline>
void expect_certified_chain(Pipeline& pipeline, const TestSystem& system, int windows = 12,
                            bool disturbed = true) {
  HostPipeline<ScalarLevel> scalar_pipeline;
  const auto reference = run_chain<double>(scalar_pipeline, system, {.windows = windows});
  for (const ChainOptions& options :
       {ChainOptions{.windows = windows, .bound = 0.5},
        ChainOptions{.windows = windows, .bound = 1e9},
        ChainOptions{.windows = windows, .bound = 4, .disturbance = 1}}) {
    if (options.disturbance > 0 && !disturbed) continue;
    const auto certified = run_chain<Real>(pipeline, system, options);
    EXPECT_EQ(certified.accepted, reference.accepted);
    EXPECT_EQ(certified.lattice, reference.lattice);
    const double steps = static_cast<double>(reference.accepted.size());
    EXPECT_GT(certified.chain_state[STATE_CERTIFIED], 0);
    EXPECT_LE(certified.chain_state[STATE_CERTIFIED], steps);
    EXPECT_TRUE(options.bound < 1e6 || certified.chain_state[STATE_CERTIFIED] == steps);
    expect_reported_error(certified, options);
  }
  expect_points_left_out<Real>(pipeline, system, reference, windows, disturbed);
  if (disturbed) expect_points_taken<Real>(pipeline, system, reference, windows);
}

/// A step without a finite energy is reported, certified or not.
template <class Real, class Pipeline>
void expect_not_finite_reported(Pipeline& pipeline, const TestSystem& system) {
  for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    for (const bool certified : {false, true}) {
      Buffers<Real> b(system, 20, 40);
      b.certified = certified;
      b.bound = {0.5, 0, 0.5};
      pipeline.propose(b, step_range(17, 20));
      pipeline.evaluate(b);
      b.grid_energies[0] = value;  // the first step's
      pipeline.decide(b, no_tuning());
      EXPECT_GT(b.chain_state[STATE_NOT_FINITE], 0);
    }
  }
}

}  // namespace starpmc::test
