#include <Random123/philox.h>
#include <gtest/gtest.h>

#include "window_pipeline.hpp"

namespace starpmc::test {
namespace {

TEST(Random, PhiloxIsRandom123s) {
  // Known answers of Random123's kat_vectors, then the library itself.
  std::uint64_t zeros[4] = {0, 0, 0, 0};
  scalar::philox_rounds(zeros, 0, 0);
  EXPECT_EQ(zeros[0], 0x6627e8d5U);
  EXPECT_EQ(zeros[1], 0xe169c58dU);
  EXPECT_EQ(zeros[2], 0xbc57ac4cU);
  EXPECT_EQ(zeros[3], 0x9b00dbd8U);
  std::uint64_t pi[4] = {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344};
  scalar::philox_rounds(pi, 0xa4093822, 0x299f31d0);
  EXPECT_EQ(pi[0], 0xd16cfe09U);
  EXPECT_EQ(pi[1], 0x94fdccebU);
  EXPECT_EQ(pi[2], 0x5001e420U);
  EXPECT_EQ(pi[3], 0x24126ea1U);
  std::mt19937 random(3);
  for (int i = 0; i < 1000; ++i) {
    const auto word = [&] { return static_cast<std::uint32_t>(random()); };
    const r123::Philox4x32::ctr_type counter{{word(), word(), word(), word()}};
    const r123::Philox4x32::key_type key{{word(), word()}};
    const auto expected = r123::Philox4x32()(counter, key);
    std::uint64_t found[4] = {counter[0], counter[1], counter[2], counter[3]};
    scalar::philox_rounds(found, key[0], key[1]);
    for (std::size_t k = 0; k < 4; ++k) ASSERT_EQ(found[k], expected[k]);
  }
}

TEST(Random, UniformNumbersFillTheUnitInterval) {
  double sum = 0;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    double first = 0;
    double second = 0;
    scalar::draw_pair(i, STREAM_ROTATION, 1, 42, &first, &second);
    ASSERT_GE(first, 0);
    ASSERT_LT(first, 1);
    sum += first + second;
  }
  EXPECT_NEAR(sum / 40000, 0.5, 0.006);
}

/// Distance of two numbers in units in the last place of the larger.
double units_apart(double a, double b) {
  const double unit = std::nextafter(std::max(std::abs(a), std::abs(b)), INFINITY) -
                      std::max(std::abs(a), std::abs(b));
  return std::abs(a - b) / unit;
}

TEST(Moves, LogarithmIsWithinTwoUnitsOfLibm) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> exponent(-50, 0);
  for (int i = 0; i < 20000; ++i) {
    const double x = std::exp2(exponent(random));
    ASSERT_LE(units_apart(scalar::natural_logarithm(x), std::log(x)), 2) << x;
  }
  EXPECT_EQ(scalar::natural_logarithm(1.0), 0);
  EXPECT_NEAR(scalar::natural_logarithm(0x1p-53), -53 * std::log(2.0), 1e-14);
}

TEST(Moves, SineAndCosineAreThoseOfLibm) {
  std::mt19937_64 random(6);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto expect = [](double x) {
    double sine = 0;
    double cosine = 0;
    scalar::sine_cosine_pi(x, &sine, &cosine);
    constexpr long double kPi = 3.14159265358979323846264338327950288L;
    ASSERT_NEAR(sine, static_cast<double>(std::sin(kPi * x)), 4.5e-16) << x;
    ASSERT_NEAR(cosine, static_cast<double>(std::cos(kPi * x)), 4.5e-16) << x;
  };
  for (int i = 0; i < 20000; ++i) expect(uniform(random));
  for (const double x : {-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0}) expect(x);
}

/// A window with everything evaluated.
template <class Real, class Level>
Buffers<Real> evaluated(const TestSystem& system, int steps, std::uint64_t first = 17) {
  HostPipeline<Level> pipeline;
  Buffers<Real> b(system, steps, steps + steps / 2 + 4);
  pipeline.propose(b, step_range(first, steps));
  pipeline.evaluate(b);
  return b;
}

class Energies : public testing::TestWithParam<SystemOptions> {};

TEST_P(Energies, ScalarIsTheNaiveLoop) {
  expect_naive_energies(evaluated<double, ScalarLevel>(make_system(GetParam()), 30), 1e-12);
}
TEST_P(Energies, SimdIsTheNaiveLoop) {
  expect_naive_energies(evaluated<double, SimdLevel>(make_system(GetParam()), 30), 1e-12);
}
// Pair terms in fp32 have relative errors of some 1e-7, in r^-12 of 12 times as much.
TEST_P(Energies, ScalarMixedIsWithinItsBound) {
  expect_naive_energies(evaluated<float, ScalarLevel>(make_system(GetParam()), 30), 5e-6);
}
TEST_P(Energies, SimdMixedIsWithinItsBound) {
  expect_naive_energies(evaluated<float, SimdLevel>(make_system(GetParam()), 30), 5e-6);
}

template <class Real, class Level>
void expect_naive_potential(const TestSystem& system, double tolerance) {
  Buffers<Real> b(system, 4, 8);
  HostPipeline<Level>().potential(b);
  const std::size_t blocks = system.blocks.size() / BLOCK_FIELDS;
  for (std::size_t i = 0; i < blocks * STARPMC_BLOCK_POINTS; i += 37) {
    const std::size_t block = i / STARPMC_BLOCK_POINTS;
    const double* const point =
        &system.points[block * STARPMC_BLOCK_VALUES + i % STARPMC_BLOCK_POINTS];
    Vector position{};
    for (std::size_t k = 0; k < 3; ++k) {
      position[k] = system.blocks[block * BLOCK_FIELDS + k] + point[k * STARPMC_BLOCK_POINTS];
    }
    const Sum expected = naive_potential(system, system.lattice, position);
    ASSERT_NEAR(b.potential[i], expected.value, tolerance * expected.scale) << "point " << i;
  }
}

TEST_P(Energies, PotentialIsTheNaiveLoop) {
  const TestSystem system = make_system(GetParam());
  expect_naive_potential<double, ScalarLevel>(system, 1e-12);
  expect_naive_potential<double, SimdLevel>(system, 1e-12);
  Buffers<float> a(system, 4, 8);
  Buffers<float> b(system, 4, 8);
  HostPipeline<ScalarLevel>().potential(a);
  HostPipeline<SimdLevel>().potential(b);
  EXPECT_EQ(a.potential, b.potential);
}

INSTANTIATE_TEST_SUITE_P(Cutoffs, Energies, testing::Values(wide_cutoff(), narrow_cutoff()),
                         [](const auto& param) { return param.index == 0 ? "Wide" : "Narrow"; });

TEST(ProposeMoves, SameBitsScalarAndSimd) {
  for (const SystemOptions& options : {wide_cutoff(), few_molecules()}) {
    const TestSystem system = make_system(options);
    for (const int steps : {1, 7, 24, 64}) {
      for (const std::uint64_t first : {0ULL, 1000ULL, 0x1FFFFFFFEULL}) {
        Buffers<float> a(system, steps, 2 * steps + 4);
        Buffers<float> b = a;
        HostPipeline<ScalarLevel>().propose(a, step_range(first, steps));
        HostPipeline<SimdLevel>().propose(b, step_range(first, steps));
        expect_same_proposal(a, b);
      }
    }
  }
}

/// Kernels and the host's plan agree on whose turn a step is.
TEST(ProposeMoves, ConfinedStepsMoveTheirMoleculesInTurn) {
  const TestSystem system = make_system(wide_cutoff());
  const std::vector<int> order{7, 2, 11, 3, 0, 5, 9};
  for (const std::uint64_t first : {0ULL, 1001ULL, 0x1FFFFFFFEULL}) {
    Buffers<float> a(system, 24, 52);
    a.confine(order);
    Buffers<float> b = a;
    Buffers<float> host = a;
    host.plan_ahead(step_range(first, 24));
    ASSERT_EQ(host.plan[PLAN_STEPS], 21);
    HostPipeline<ScalarLevel>().propose(a, step_range(first, 21));
    HostPipeline<SimdLevel>().propose(b, step_range(first, 21));
    expect_same_proposal(a, b);
    EXPECT_EQ(a.plan, host.plan);
    for (std::size_t i = 0; i < 21; ++i) {
      EXPECT_EQ(a.plan[static_cast<std::size_t>(plan_step_molecule(a.layout)) + i],
                order[(first + i) % order.size()]);
    }
  }
}

TEST(WindowPlan, RevisitsGetACandidatePerHistory) {
  const TestSystem system = make_system(few_molecules());
  Buffers<double> b(system, 64, 132);
  bool third_visit = false;
  for (std::uint64_t first = 0; first < 600; first += 31) {
    b.plan_ahead(step_range(first, 64));
    const Window window = b.window();
    ASSERT_GE(window.steps(), 1);
    for (int s = 0; s < window.steps(); ++s) {
      const auto index = static_cast<std::size_t>(s);
      const int visit = b.plan[static_cast<std::size_t>(plan_step_visit(b.layout)) + index];
      const int begin = b.plan[static_cast<std::size_t>(plan_step_first(b.layout)) + index];
      const int end = s + 1 < window.steps()
                          ? b.plan[static_cast<std::size_t>(plan_step_first(b.layout)) + index + 1]
                          : window.candidates();
      ASSERT_EQ(end - begin, 1 << visit);
      third_visit = third_visit || visit == 2;
    }
  }
  EXPECT_TRUE(third_visit);
}

TEST(MetropolisDecide, ScalarAndSimdMakeTheSameChain) {
  for (const SystemOptions& options : {wide_cutoff(), narrow_cutoff(), few_molecules()}) {
    const TestSystem system = make_system(options);
    const ChainOptions chain{.tuning = true};
    HostPipeline<ScalarLevel> scalar_pipeline;
    HostPipeline<SimdLevel> simd_pipeline;
    const auto a = run_chain<double>(scalar_pipeline, system, chain);
    const auto b = run_chain<double>(simd_pipeline, system, chain);
    expect_same_chain(a, b, 1e-8);
    EXPECT_GT(std::count(a.accepted.begin(), a.accepted.end(), 1), 20);
    EXPECT_GT(std::count(a.accepted.begin(), a.accepted.end(), 0), 20);
    EXPECT_EQ(a.lattice_sites, b.lattice_sites);
  }
}

TEST(MetropolisDecide, MixedPrecisionFollowsFp64) {
  const TestSystem system = make_system(wide_cutoff());
  HostPipeline<SimdLevel> pipeline;
  const auto exact = run_chain<double>(pipeline, system, {});
  expect_same_chain(exact, run_chain<float>(pipeline, system, {}), 0.02);
  HostPipeline<ScalarLevel> plain;
  expect_same_chain(exact, run_chain<float>(plain, system, {}), 0.02);
}

/// Algorithm of the paper: one step at a time, every energy by the naive loops.
ChainOutcome<double> one_at_a_time(const TestSystem& system, std::size_t steps) {
  ChainOutcome<double> outcome;
  outcome.lattice = system.lattice;
  double total = 0;
  const auto padded = static_cast<std::size_t>(system.padded);
  for (std::size_t s = 0; s < steps; ++s) {
    const StepRange range = step_range(40 + s, 1);
    double pick = 0;
    double acceptance = 0;
    scalar::draw_pair(range.first_step, STREAM_PICK, range.chain, range.seed, &pick, &acceptance);
    const int molecule = static_cast<int>(pick * system.shape.molecules);
    const Placed before = placed_molecule(system, outcome.lattice, molecule);
    Placed after = before;
    scalar::move_pose(range.first_step, range.chain, range.seed, 0.25, 0.04,
                      system.interaction.box[0], system.interaction.box[1],
                      system.interaction.box[2], before.pose, after.pose);
    const auto energy = [&](const Placed& placed) {
      const MolecularEnergy nuclei = naive_nuclei(system, placed);
      const MolecularEnergy mm = naive_mm(system, outcome.lattice, placed, molecule);
      return naive_grid(system, placed).value + nuclei.coulomb.value + nuclei.vdw.value +
             mm.coulomb.value + mm.vdw.value;
    };
    const double change = energy(after) - energy(before);
    const bool accepted = change < -range.thermal_energy * std::log(acceptance + 0x1p-53);
    outcome.accepted.push_back(accepted ? 1 : 0);
    if (accepted) {
      total += change;
      for (std::size_t k = 0; k < POSE_FIELDS; ++k) {
        outcome.lattice[k * padded + static_cast<std::size_t>(molecule)] = after.pose[k];
      }
    }
    outcome.totals.push_back(total);
  }
  return outcome;
}

TEST(Windows, OfOneAndOfFiftyAreOneStepAtATime) {
  for (const SystemOptions& options : {wide_cutoff(), few_molecules()}) {
    const TestSystem system = make_system(options);
    HostPipeline<SimdLevel> simd_pipeline;
    HostPipeline<ScalarLevel> scalar_pipeline;
    const auto wide = run_chain<double>(simd_pipeline, system, {50, 100, 6, false});
    const auto reference = one_at_a_time(system, wide.accepted.size());
    const int steps = static_cast<int>(wide.accepted.size());
    const auto single = run_chain<double>(scalar_pipeline, system, {1, 2, steps, false});
    ASSERT_EQ(wide.accepted, reference.accepted);
    ASSERT_EQ(single.accepted, reference.accepted);
    ASSERT_EQ(wide.lattice, reference.lattice);
    ASSERT_EQ(single.lattice, reference.lattice);
    for (std::size_t s = 0; s < reference.totals.size(); ++s) {
      ASSERT_NEAR(wide.totals[s], reference.totals[s], 1e-7);
      ASSERT_NEAR(single.totals[s], reference.totals[s], 1e-7);
    }
  }
}

TEST(ExactGridEnergy, HasTheSameBitsInLanesAndIsTheEnergy) {
  for (const SystemOptions& options : {wide_cutoff(), narrow_cutoff()}) {
    const TestSystem system = make_system(options);
    const Buffers<double> b(system, 4, 8);
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> place(0, options.edge);
    for (int trial = 0; trial < 20; ++trial) {
      const std::vector<double> sites{
          place(random),       place(random),       place(random),       0.4,
          0.3 * place(random), 0.3 * place(random), 0.3 * place(random), -0.8};
      const ExactGridArguments arguments{system.interaction, system.blocks, b.exact_points, sites};
      const std::uint64_t units = scalar::exact_grid_energy(arguments);
      EXPECT_EQ(units, simd::exact_grid_energy(arguments));
      double expected = 0;
      for (std::size_t i = 0; i < sites.size(); i += 4) {
        const Vector site{sites[i], sites[i + 1], sites[i + 2]};
        for (std::size_t p = 0; p < system.point_position.size(); p += 4) {
          const double* const point = &system.point_position[p];
          const double r = distance(site, {point[0], point[1], point[2]}, system.interaction);
          expected += sites[i + 3] * point[3] *
                      point_energy(r, point_extent(point), system.interaction.coulomb_cutoff).value;
        }
      }
      EXPECT_NEAR(static_cast<double>(static_cast<std::int64_t>(units)) / STARPMC_ENERGY_UNITS,
                  expected, 1e-7);
    }
  }
}

TEST(CertifiedDecisions, AreThoseOfExactEnergies) {
  HostPipeline<ScalarLevel> scalar_pipeline;
  HostPipeline<SimdLevel> simd_pipeline;
  for (const SystemOptions& options : {wide_cutoff(), narrow_cutoff(), few_molecules()}) {
    const TestSystem system = make_system(options);
    expect_certified_chain<double>(scalar_pipeline, system);
    expect_certified_chain<float>(scalar_pipeline, system);
    expect_certified_chain<FixedCoordinate>(scalar_pipeline, system);
    expect_certified_chain<double>(simd_pipeline, system);
    expect_certified_chain<float>(simd_pipeline, system);
    expect_certified_chain<FixedCoordinate>(simd_pipeline, system);
  }
}

/// That the disturbance of expect_certified_chain asks something of the certification.
TEST(CertifiedDecisions, WouldBeOthersWithoutCertification) {
  HostPipeline<SimdLevel> pipeline;
  for (const SystemOptions& options : {wide_cutoff(), narrow_cutoff(), few_molecules()}) {
    const TestSystem system = make_system(options);
    const auto reference = run_chain<double>(pipeline, system, {.windows = 3});
    const auto disturbed = run_chain<double>(pipeline, system, {.windows = 3, .disturbance = 1});
    EXPECT_NE(disturbed.accepted, reference.accepted);
  }
}

TEST(CertifiedDecisions, ExactChangesAreTheApproximateOnes) {
  const TestSystem system = make_system(wide_cutoff());
  HostPipeline<SimdLevel> pipeline;
  const auto outcome = run_chain<double>(pipeline, system, {.bound = 1e6});
  EXPECT_EQ(outcome.chain_state[STATE_CERTIFIED], outcome.chain_state[STATE_PROPOSED]);
  EXPECT_GT(outcome.chain_state[STATE_LARGEST_ERROR], 0);
  EXPECT_LT(outcome.chain_state[STATE_LARGEST_ERROR] * 1e6, 1e-8);
}

/// A molecule exactly on a grid point and on a nucleus, and two molecules at one place.
TestSystem system_with_contacts() {
  TestSystem system = make_system(wide_cutoff());
  const auto padded = static_cast<std::size_t>(system.padded);
  const auto put = [&](std::size_t molecule, const Vector& where) {
    for (std::size_t k = 0; k < 3; ++k) system.lattice[k * padded + molecule] = where[k];
  };
  const double* const point = &system.point_position[4 * 100];
  put(3, {point[0], point[1], point[2]});  // a particle: its site is its centre
  put(10, {system.solute[0], system.solute[2], system.solute[4]});
  for (std::size_t k = 0; k < POSE_FIELDS; ++k) {
    system.lattice[k * padded + 1] = system.lattice[k * padded + 0];
  }
  return system;
}

template <class Real, class Level>
void expect_finite_in_contact() {
  const TestSystem system = system_with_contacts();
  Buffers<Real> b(system, 64, 132);
  b.chain_state[STATE_MAXIMUM_TRANSLATION] = 0;  // candidates stay where they touch
  b.chain_state[STATE_MAXIMUM_HALF_TURNS] = 0;
  HostPipeline<Level> pipeline;
  pipeline.propose(b, step_range(5, 64));
  pipeline.evaluate(b);
  const Window window = b.window();
  const auto rows = static_cast<std::size_t>(entry_capacity(b.layout));
  for (const int entry : active_entries(window)) {
    const auto e = static_cast<std::size_t>(entry);
    if (entry < b.layout.candidates) {
      ASSERT_TRUE(std::isfinite(b.grid_energies[e]));
      ASSERT_TRUE(std::isfinite(b.nuclei_energies[e]));
      ASSERT_TRUE(
          std::isfinite(b.nuclei_energies[static_cast<std::size_t>(b.layout.candidates) + e]));
    }
    ASSERT_TRUE(std::isfinite(b.mm_energies[e]));
    ASSERT_TRUE(std::isfinite(b.mm_energies[rows + e]));
  }
  pipeline.decide(b, no_tuning());
  EXPECT_EQ(b.chain_state[STATE_NOT_FINITE], 0);
}

TEST(Contacts, EnergiesStayFinite) {
  expect_finite_in_contact<double, ScalarLevel>();
  expect_finite_in_contact<float, ScalarLevel>();
  expect_finite_in_contact<double, SimdLevel>();
  expect_finite_in_contact<float, SimdLevel>();
}

TEST(Contacts, EnergiesThatAreNotFiniteAreReported) {
  HostPipeline<ScalarLevel> scalar_pipeline;
  HostPipeline<SimdLevel> simd_pipeline;
  const TestSystem system = make_system(wide_cutoff());
  expect_not_finite_reported<double>(scalar_pipeline, system);
  expect_not_finite_reported<float>(scalar_pipeline, system);
  expect_not_finite_reported<double>(simd_pipeline, system);
  expect_not_finite_reported<float>(simd_pipeline, system);
}

}  // namespace
}  // namespace starpmc::test
