#include "bench/contestant.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <memory>

#include "bench/measurement.hpp"
#include "bench/operations.hpp"
#include "config/value_names.hpp"
#include "kernels/base/error.hpp"
#include "kernels/with_precision.hpp"
#include "potential/pair_potential.hpp"

namespace starpmc {
namespace {

BenchSystem small_system() {
  BenchOverrides few;
  few.waters = 64;
  few.points = 2000;
  for (const BenchPreset& preset : bench_presets()) {
    if (preset.key == "quick") return make_bench_system(preset, few);
  }
  throw std::logic_error("no such preset");
}

/// Energies of a contestant's first window, and what ran meanwhile.
template <class Real>
struct Evaluation {
  std::vector<double> energies;
  TaskTimes tasks;

  explicit Evaluation(const Contestant& contestant) {
    contestant.use();
    const TaskTimes before = TaskTimes::take();
    BenchData<Real> data(contestant.bench);
    const BenchWindows<Real> windows(data, {10, 1e5}, 1);
    energies = windows.energies();
    tasks = TaskTimes::take().since(before);
  }

  /// Tasks of the codelets whose names end so.
  std::uint64_t count(const std::string& ending) const {
    std::uint64_t tasks_so = 0;
    for (const auto& [codelet, entry] : tasks.codelets) {
      if (codelet.ends_with(ending)) tasks_so += entry.tasks;
    }
    return tasks_so;
  }
};

/// With kernels of their own; a device's compiler takes its time.
constexpr std::array kPrecisions{Precision::fp64, Precision::mixed};
constexpr std::array kBoth{Functions::built_in, Functions::expressions};

class Contestants : public testing::TestWithParam<Implementation> {
 protected:
  /// Skips the test where there is no OpenCL device. StarPU looks for them once in a process, and
  /// finds PoCL's only if that is for the OpenCL implementation.
  void start(std::span<const Precision> precisions) {
    try {
      runtime_ = std::make_unique<StarpuRuntime>(precisions, GetParam());
    } catch (const RunError& error) {
      if (!std::string_view(error.what()).ends_with("can be used: there is none")) throw;
      GTEST_SKIP() << error.what();
    }
  }

  const BenchSystem bench_ = small_system();
  std::unique_ptr<StarpuRuntime> runtime_;
};

TEST_P(Contestants, ComputeTheSameByFunctionsOfTheirOwn) {
  start(kPrecisions);
  if (IsSkipped()) return;
  const std::vector<Contestant> contestants = make_contestants(bench_, kBoth, *runtime_);
  const std::string& hash = contestants[1].potential;
  ASSERT_EQ(hash.size(), 8U);
  EXPECT_EQ(contestants[0].potential, "");
  for (const Precision precision : kPrecisions) {
    with_precision(precision, [&]<class Real>() {
      // In turn, twice: the way back leads to the same kernels.
      const Evaluation<Real> built_in(contestants[0]);
      const Evaluation<Real> expressions(contestants[1]);
      const Evaluation<Real> again(contestants[0]);
      EXPECT_EQ(built_in.count("_" + hash), 0U);
      EXPECT_GT(expressions.count("_" + hash), 0U);
      EXPECT_EQ(expressions.count("_" + hash), expressions.count(""));
      EXPECT_GT(expressions.tasks.operation("mm_pair").tasks, 0U);
      EXPECT_EQ(expressions.tasks.operation("mm_pair").tasks,
                built_in.tasks.operation("mm_pair").tasks);
      EXPECT_EQ(again.energies, built_in.energies);
      EXPECT_NE(expressions.energies, built_in.energies);  // to the last digit
      EXPECT_NO_THROW(energy_difference(expressions.energies, built_in.energies, precision));
    });
  }
}

class OtherContestants : public Contestants {};

/// What is compared depends on each of the expressions.
TEST_P(OtherContestants, OtherFunctionsAreFoundOut) {
  start(std::array{Precision::fp64});
  if (IsSkipped()) return;
  const std::vector<Contestant> contestants = make_contestants(bench_, kBoth, *runtime_);
  const Evaluation<double> built_in(contestants[0]);
  EXPECT_NO_THROW(energy_difference(Evaluation<double>(contestants[1]).energies, built_in.energies,
                                    Precision::fp64));
  using Option = std::string Settings::PotentialSection::*;
  for (const Option option :
       {&Settings::PotentialSection::coulomb, &Settings::PotentialSection::mm_vdw,
        &Settings::PotentialSection::qmmm_vdw}) {
    Contestant other = contestants[1];
    std::string& text = other.bench.settings.potential.*option;
    text.insert(0, "1.0001*");
    const PairPotential pairs = make_pair_potential(other.bench.system, other.bench.settings);
    other.potential = runtime_->add_potential(pairs.functions);
    const Evaluation<double> found(other);
    EXPECT_THROW(energy_difference(found.energies, built_in.energies, Precision::fp64), RunError)
        << text;
  }
}

std::string name_of(const testing::TestParamInfo<Implementation>& tested) {
  return value_name(tested.param);
}
INSTANTIATE_TEST_SUITE_P(, Contestants,
                         testing::Values(Implementation::scalar, Implementation::simd,
                                         Implementation::opencl),
                         name_of);
INSTANTIATE_TEST_SUITE_P(, OtherContestants,
                         testing::Values(Implementation::scalar, Implementation::simd), name_of);

TEST(EnergyDifference, IsInUnitsOfLargeEnergies) {
  const std::array built_in{0.5, 1e12};
  EXPECT_NEAR(energy_difference(std::array{0.5004, 1e12}, built_in, Precision::mixed), 4e-4, 1e-15);
  EXPECT_NEAR(energy_difference(std::array{0.5, 1.0002e12}, built_in, Precision::mixed), 2e-4,
              1e-15);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::array<double, 2> wrong : {std::array{0.502, 1e12}, std::array{nan, 1e12}}) {
    EXPECT_THROW(energy_difference(wrong, built_in, Precision::mixed), RunError);
  }
  EXPECT_THROW(energy_difference(std::array{0.50001, 1e12}, built_in, Precision::fp64), RunError);
  EXPECT_THROW(energy_difference(std::array{0.5}, built_in, Precision::mixed), RunError);
}

TEST(Ratios, AreOfTheTimesOfOneOperation) {
  const auto entry = [](const char* functions, std::vector<Figure> figures) {
    return BenchCase{"mm_pair", "quick", "simd", "fp64", "1 core", std::move(figures), functions};
  };
  std::vector<BenchCase> both{
      entry("built-in", {{"microseconds_per_step", 4}, {"kernel_microseconds_per_task", 2}}),
      entry("expressions", {{"microseconds_per_step", 5}, {"kernel_microseconds_per_task", 3}})};
  add_ratios(both);
  EXPECT_EQ(both[0].figures.size(), 2U);
  EXPECT_DOUBLE_EQ(both[1].figure("time_over_built_in")->value, 1.25);
  EXPECT_DOUBLE_EQ(both[1].figure("kernel_time_over_built_in")->value, 1.5);
  std::vector<BenchCase> alone{entry("expressions", {{"microseconds_per_step", 5}})};
  add_ratios(alone);
  EXPECT_EQ(alone[0].figures.size(), 1U);
}

}  // namespace
}  // namespace starpmc
