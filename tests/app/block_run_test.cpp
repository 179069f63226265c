#include "app/block_run.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "app/block_test.hpp"
#include "base/constants.hpp"
#include "kernels/base/logging.hpp"
#include "kernels/scalar/moves.hpp"
#include "qm/errors.hpp"
#include "tests/io/temporary_folder.hpp"

namespace starpmc {
namespace {

constexpr double kTemperature = 298.15;
constexpr double kKt = kGasConstant * kTemperature;
constexpr std::uint64_t kSeed = 5;

double sampled(double x) { return 2 * x * x; }
/// As far from the sampled one as makes a third of the blocks be rejected.
double correct(double x) { return sampled(x) + 1.5 * x + 0.8 * x * x * x * x; }
/// Nearly right.
double nearly(double x) { return sampled(x) + 0.03 * (correct(x) - sampled(x)); }

/// Of exp(-energy/kT), by quadrature.
double exact_mean(double (*quantity)(double), double (*energy)(double) = correct) {
  double sum = 0;
  double weights = 0;
  for (double x = -8; x < 8; x += 1e-3) {
    const double weight = std::exp(-energy(x) / kKt);
    sum += weight * quantity(x);
    weights += weight;
  }
  return sum / weights;
}

/// A coordinate that moves in the sampled energy.
class Coordinate final : public Chain {
 public:
  void set_density(const DensityGrid&) override {}
  void set_reference(std::shared_ptr<const ReferenceTables>) override {}
  ReferenceEnergy reference_energy() override { return {sampled(x), 0}; }
  EnergyTerms evaluate() override { return terms(); }
  VirialTerms virial() override { return {}; }
  EnergyTerms reproducible_energies() override { return terms(); }
  std::uint64_t run(const ChainSegment& segment, ChainObserver& observer,
                    const std::function<bool()>& pause) override {
    std::uint64_t step = segment.first_step;
    for (; step < segment.first_step + segment.steps && !pause(); ++step) {
      double displacement = 0;
      double threshold = 0;
      scalar::draw_pair(step, 0, 0, kSeed, &displacement, &threshold);
      const double proposed = x + 3 * (displacement - 0.5);
      const bool accepted = threshold < std::exp(-(sampled(proposed) - sampled(x)) / kKt);
      if (accepted) x = proposed;
      observer.on_step(step + 1, accepted, terms());
    }
    return step;
  }
  using Chain::run;
  QmResult update_density(QmEngine& engine) override {
    return engine.update(std::span(&x, 1), {}, {});
  }
  std::vector<Molecule> molecules() override { return {}; }
  StepSizes step_sizes() override { return {}; }
  CertificationReport certification() override { return {}; }
  nlohmann::json state() override { return x; }
  void restore(const nlohmann::json& state) override { x = state; }

  double x = 0;

 private:
  EnergyTerms terms() const {
    EnergyTerms terms;
    terms.qmmm_grid = sampled(x);
    return terms;
  }
};

class KnownEngine final : public QmEngine {
 public:
  const DensityGrid& quadrature_points() const override { return points_; }
  QmResult update(std::span<const double> potential, std::span<const double>,
                  const PointCharges&) override {
    if (cancelled) throw Cancelled();
    QmResult result;
    result.energy_kj_per_mol = energy(potential[0]) + offset;
    result.dipole_debye[0] = potential[0];
    return result;
  }
  std::string name() const override { return "known"; }
  std::string version() const override { return "1"; }

  double (*energy)(double) = correct;
  double offset = 0;
  bool cancelled = false;

 private:
  DensityGrid points_;
};

/// A chain's run with its files.
struct ToyRun {
  test::TemporaryFolder folder;
  Interruption interruption{false, ""};
  Inputs inputs;
  SoluteReference reference;
  Coordinate chain;
  KnownEngine engine;
  std::unique_ptr<RunOutput> output;
  std::unique_ptr<BlockRun> blocks;

  explicit ToyRun(std::uint64_t interval, std::uint64_t steps) {
    inputs.settings.sampling.temperature_kelvin = kTemperature;
    inputs.settings.sampling.seed = kSeed;
    inputs.settings.sampling.equilibration_steps = 0;
    inputs.settings.sampling.steps = steps;
    inputs.settings.output.energy_interval = 1000000;
    inputs.settings.output.trajectory_interval = 0;
    inputs.system.box = Box{{20, 20, 20}};
    output = std::make_unique<RunOutput>(
        inputs, ChainFolder(folder.path()), [](const ProgressState&) {}, nullptr);
    spdlog::set_level(spdlog::level::warn);  // not a line for each block
    begin(interval, nullptr);
  }
  void begin(std::uint64_t interval, const nlohmann::json* state) {
    blocks = std::make_unique<BlockRun>(
        BlockRun::Parts{inputs, interruption, reference, chain, engine, *output, 0, interval,
                        inputs.settings.sampling.steps},
        ChainFolder(folder.path()), state);
  }
  std::uint64_t go(std::uint64_t step, std::uint64_t end) {
    while (step < end) {
      step = blocks->take_ahead(step);
      step = blocks->advance(step, [] { return false; });
    }
    return step;
  }
};

TEST(BlockRun, BlockEndsAreOfTheTrueHamiltonian) {
  constexpr std::uint64_t kBlocks = 40000;
  constexpr std::uint64_t kInterval = 7;
  ToyRun run(kInterval, kBlocks * kInterval);
  run.go(0, kBlocks * kInterval);
  ASSERT_EQ(run.blocks->blocks().size(), kBlocks + 1);
  const BlockAverages averages = average_blocks(run.blocks->blocks(), kKt);
  const double acceptance = static_cast<double>(averages.accepted) / kBlocks;
  EXPECT_GT(acceptance, 0.3);
  EXPECT_LT(acceptance, 0.9);
  const auto agrees = [](const AverageEstimate& found, double expected) {
    EXPECT_LT(std::abs(found.mean - expected), 4 * found.standard_error)
        << found.mean << " +- " << found.standard_error << ", expected " << expected;
  };
  agrees(averages.energy, exact_mean(correct));
  agrees(averages.terms[static_cast<std::size_t>(TERM_QMMM_GRID)], exact_mean(sampled));
  agrees(averages.dipole_components_debye[0], exact_mean([](double x) { return x; }));
  agrees(run.blocks->statistics().estimate(), exact_mean(correct));
  // The sampled Hamiltonian's own mean would be kT/2: these samples tell it apart.
  EXPECT_GT(std::abs(averages.terms[static_cast<std::size_t>(TERM_QMMM_GRID)].mean - kKt / 2),
            10 * averages.terms[static_cast<std::size_t>(TERM_QMMM_GRID)].standard_error);
}

TEST(BlockRun, StepsAreCorrectedToFirstOrder) {
  for (const std::uint64_t interval : {3, 100}) {
    const std::uint64_t steps = interval == 3 ? 300000 : 3000000;
    ToyRun run(interval, steps);
    run.engine.energy = nearly;
    run.go(0, steps);
    const BlockAverages averages = average_blocks(run.blocks->blocks(), kKt);
    const AverageEstimate& corrected =
        averages.terms_of_steps[static_cast<std::size_t>(TERM_QMMM_GRID)];
    const double expected = exact_mean(sampled, nearly);
    EXPECT_LT(std::abs(corrected.mean - expected), 0.006 + 4 * corrected.standard_error)
        << interval << ": " << corrected.mean << " +- " << corrected.standard_error << ", "
        << expected;
    EXPECT_LT(std::abs(averages.energy_of_steps.mean - exact_mean(nearly, nearly)),
              0.006 + 4 * averages.energy_of_steps.standard_error);
    // What is corrected: the sampled Hamiltonian's own mean.
    EXPECT_GT(std::abs(expected - kKt / 2), 0.04);
    EXPECT_LT(corrected.standard_error, 0.01);
  }
}

/// A coordinate x whose blocks keep some of it and whose true energy is kTilt kT x above the
/// sampled one: its mean is 0 in the sampled ensemble, where production begins, and -kTilt in the
/// true one.
std::vector<QmBlock> tilted_blocks(std::uint64_t count, double tilt, std::mt19937_64& random) {
  constexpr double kKept = 0.6;  // over half a block
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  const auto moved = [&](double x) {
    return kKept * x + std::sqrt(1 - kKept * kKept) * normal(random);
  };
  const auto block = [&](double middle, double end, bool accepted) {
    QmBlock made;
    made.mean_terms.qmmm_grid = middle;
    made.end.terms.qmmm_grid = end;
    made.end.sampled_energy_kj_per_mol = end;
    made.end.difference_kj_per_mol = tilt * kKt * end;
    made.accepted = accepted;
    return made;
  };
  double x = normal(random);
  std::vector<QmBlock> blocks{block(x, x, true)};
  for (std::uint64_t i = 0; i < count; ++i) {
    const double middle = moved(x);
    const double end = moved(middle);
    const bool accepted = uniform(random) < std::exp(-tilt * (end - x));
    blocks.push_back(block(middle, end, accepted));
    if (accepted) x = end;
  }
  return blocks;
}

TEST(BlockRun, TheFirstBlocksAreLeftOut) {
  constexpr double kTilt = 0.35;
  constexpr std::uint64_t kBlocks = 12;
  std::mt19937_64 random(4);
  BlockAverage ends;
  BlockAverage steps;
  BlockAverage energies;
  for (int chain = 0; chain < 20000; ++chain) {
    const std::vector<QmBlock> blocks = tilted_blocks(kBlocks, kTilt, random);
    const BlockAverages averages = average_blocks(blocks, kKt);
    EXPECT_EQ(averages.blocks, kBlocks);
    ends.add(averages.terms[static_cast<std::size_t>(TERM_QMMM_GRID)].mean);
    steps.add(averages.terms_of_steps[static_cast<std::size_t>(TERM_QMMM_GRID)].mean);
    energies.add(energies_of(blocks, kKt).estimate().mean / (1 + kTilt * kKt));
  }
  // With all blocks they would be 0.03 too large.
  EXPECT_NEAR(ends.estimate().mean, -kTilt, 0.018);
  EXPECT_NEAR(energies.estimate().mean, -kTilt, 0.018);
  EXPECT_NEAR(steps.estimate().mean, -kTilt, 0.018);
  EXPECT_LT(ends.estimate().standard_error, 0.005);
}

TEST(BlockRun, ARejectedBlockIsPutBack) {
  ToyRun run(10, 1000);
  EXPECT_EQ(run.go(0, 0), 0U);
  run.blocks->advance(0, [] { return false; });  // the start
  const double start = run.chain.x;
  const EnergyTerms totals = run.output->totals();
  run.engine.offset = 1e6;
  for (std::uint64_t step = 0; step < 50; step += 10) {
    EXPECT_EQ(run.blocks->advance(step, [] { return false; }), step + 10);
    EXPECT_EQ(run.chain.x, start);
    EXPECT_EQ(run.output->totals().total(), totals.total());
    EXPECT_FALSE(run.blocks->blocks().back().accepted);
    EXPECT_LT(run.blocks->blocks().back().probability, 1e-9);
  }
  EXPECT_EQ(run.blocks->statistics().estimate().mean, correct(start));
  run.engine.offset = 0;
  run.go(50, 1000);
  EXPECT_NE(run.chain.x, start);
  const std::string table = test::read_all(run.folder.path() / "blocks.csv");
  EXPECT_EQ(std::ranges::count(table, '\n'), 2 + 1 + 100);
}

TEST(BlockRun, ARunThatGoesOnMakesTheSameBlocks) {
  constexpr std::uint64_t kSteps = 600;
  ToyRun whole(20, kSteps);
  whole.go(0, kSteps);
  for (const std::uint64_t stop : {0, 13, 20, 333}) {
    ToyRun part(20, kSteps);
    std::uint64_t step = part.go(0, stop - stop % 20);
    if (stop % 20 != 0) {
      std::uint64_t left = stop % 20;
      EXPECT_EQ(step % 20, 0U);
      if (part.blocks->blocks().empty()) step = part.blocks->advance(step, [] { return false; });
      step = part.blocks->advance(step, [&] { return left-- == 0; });
      EXPECT_EQ(step, stop);
    }
    const nlohmann::json state = nlohmann::json::from_cbor(nlohmann::json::to_cbor(
        nlohmann::json{{"blocks", part.blocks->state(step)}, {"chain", part.chain.state()}}));
    part.chain.x = 99;
    part.chain.restore(state.at("chain"));
    part.begin(20, &state.at("blocks"));
    part.go(step, kSteps);
    EXPECT_EQ(blocks_state(part.blocks->blocks()), blocks_state(whole.blocks->blocks())) << stop;
    EXPECT_EQ(part.blocks->statistics().state(), whole.blocks->statistics().state()) << stop;
    EXPECT_EQ(part.blocks->statistics().state(), energies_of(part.blocks->blocks(), kKt).state());
    EXPECT_EQ(test::read_all(part.folder.path() / "blocks.csv"),
              test::read_all(whole.folder.path() / "blocks.csv"));
  }
}

/// Steps near the solute are laid out over a block as it was begun, so that it reads the same
/// backwards: more steps for the run do not make it longer.
TEST(BlockRun, ABlockThatWasBegunStaysAsLong) {
  for (const double near_share : {0.0, 0.5}) {
    ToyRun run(20, 130);
    run.inputs.settings.sampling.near_share = near_share;
    std::uint64_t step = run.go(0, 120);
    std::uint64_t left = 5;
    step = run.blocks->take_ahead(step);
    if (step == 120) step = run.blocks->advance(step, [&] { return left-- == 0; });
    ASSERT_GT(step, 120U);
    ASSERT_LT(step, 130U);
    const nlohmann::json state = run.blocks->state(step);
    run.inputs.settings.sampling.steps = 200;
    run.begin(20, &state);
    std::vector<std::uint64_t> ends;
    run.go(step, 200);
    for (const QmBlock& block : run.blocks->blocks()) ends.push_back(block.end.step);
    ends.erase(ends.begin(), ends.begin() + 7);
    if (near_share > 0) {
      EXPECT_THAT(ends, testing::ElementsAre(130, 150, 170, 190, 200));
    } else {
      EXPECT_THAT(ends, testing::ElementsAre(140, 160, 180, 200));
    }
  }
}

TEST(BlockRun, AnInterruptedTestIsMadeLater) {
  ToyRun whole(20, 200);
  whole.go(0, 200);
  ToyRun run(20, 200);
  const std::uint64_t step = run.go(0, 100);
  run.engine.cancelled = true;
  EXPECT_THROW(run.go(step, 200), Cancelled);
  EXPECT_EQ(run.blocks->resting_step(), 120U);
  const nlohmann::json state = run.blocks->state(120);
  run.engine.cancelled = false;
  run.begin(20, &state);
  run.go(120, 200);
  EXPECT_EQ(blocks_state(run.blocks->blocks()), blocks_state(whole.blocks->blocks()));
}

TEST(BlockTest, AcceptsAsOftenAsItSays) {
  constexpr std::uint64_t kTests = 100000;
  std::uint64_t accepted = 0;
  for (std::uint64_t step = 0; step < kTests; ++step) {
    const BlockDecision decision = test_block(1, 1 + kKt, kKt, kSeed, 3, step);
    EXPECT_DOUBLE_EQ(decision.probability, std::exp(-1.0));
    accepted += decision.accepted ? 1 : 0;
  }
  const double p = std::exp(-1.0);
  EXPECT_NEAR(static_cast<double>(accepted), kTests * p, 4 * std::sqrt(kTests * p * (1 - p)));
  EXPECT_TRUE(test_block(5, 1, kKt, kSeed, 0, 1).accepted);
  EXPECT_EQ(test_block(5, 1, kKt, kSeed, 0, 1).probability, 1);
}

TEST(AutomaticBlock, IsAsLongAsTheMemoryOfTheSeries) {
  // x' = r x + noise forgets with (1 + r) / (1 - r) = 19 samples.
  std::vector<double> series{0};
  for (std::uint64_t i = 1; i < 20000; ++i) {
    double u = 0;
    double v = 0;
    scalar::draw_pair(i, 0, 0, kSeed, &u, &v);
    series.push_back(0.9 * series.back() + u + v - 1);
  }
  const auto steps = static_cast<double>(automatic_block(series, 100, 1000000));
  EXPECT_NEAR(steps, 1900, 300);
  EXPECT_EQ(automatic_block(series, 100, 700), 700U);
  EXPECT_EQ(automatic_block({}, 500, 700), 500U);
}

}  // namespace
}  // namespace starpmc
