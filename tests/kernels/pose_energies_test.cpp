#include <cmath>
#include <limits>
#include <optional>

#include "device_pipeline.hpp"
#include "pose_case.hpp"

namespace starpmc::test {
namespace {

/// One block; blocks with a last one that is not full; a ligand larger than what kernels hold at a
/// time.
std::vector<PoseCase> pose_cases() {
  std::vector<PoseCase> cases;
  cases.emplace_back(1, 1, 3);
  cases.emplace_back(100, 7, 5);
  cases.emplace_back(1700, 30, 6);
  cases.emplace_back(600, 150, 3);
  return cases;
}

struct ScalarPoses {
  template <class Real>
  static void run(const PoseEnergiesArguments<Real>& a) {
    scalar::pose_energies(a);
  }
};
struct SimdPoses {
  template <class Real>
  static void run(const PoseEnergiesArguments<Real>& a) {
    simd::pose_energies(a);
  }
};

template <class Level, class Real>
std::vector<double> energies_on_host(const PoseCase& poses, const PoseInteraction& interaction,
                                     std::size_t first_block = 0,
                                     std::size_t most_blocks = 1 << 20) {
  const auto blocks = make_receptor_blocks<Real>(poses.receptor, interaction);
  const std::size_t count = std::min(most_blocks, blocks.block_count() - first_block);
  const auto values = static_cast<std::size_t>(receptor_fields(interaction)) * STARPMC_BLOCK_POINTS;
  const std::vector<double> positions = poses.pose_buffer();
  std::vector<double> energies(static_cast<std::size_t>(POSE_TERMS * poses.pose_count), -1.0);
  Level::run(PoseEnergiesArguments<Real>{
      interaction, poses.sites, poses.pose_count, poses.ligand, positions,
      std::span(blocks.blocks)
          .subspan(first_block * RECEPTOR_BLOCK_FIELDS, count * RECEPTOR_BLOCK_FIELDS),
      std::span(blocks.sites).subspan(first_block * values, count * values), energies});
  return energies;
}

template <class Level, class Real>
void expect_naive_on_host() {
  for (const PoseCase& poses : pose_cases()) {
    for (const PoseInteraction& interaction : pose_interactions()) {
      expect_naive(poses, interaction, energies_on_host<Level, Real>(poses, interaction),
                   pose_tolerance<Real>());
    }
  }
}

TEST(PoseEnergies, ScalarIsTheNaiveLoop) {
  expect_naive_on_host<ScalarPoses, double>();
  expect_naive_on_host<ScalarPoses, float>();
  expect_naive_on_host<ScalarPoses, FixedCoordinate>();
}

TEST(PoseEnergies, SimdIsTheNaiveLoopWithEveryInstructionSet) {
  const auto sets = simd::instruction_sets();
  ASSERT_FALSE(sets.empty());
  EXPECT_EQ(sets.front().name, simd::instruction_set());
  for (const auto& set : sets) {
    SCOPED_TRACE(set.name);
    const simd::InstructionSetForced forced(set);
    EXPECT_EQ(simd::instruction_set(), set.name);
    expect_naive_on_host<SimdPoses, double>();
    expect_naive_on_host<SimdPoses, float>();
    expect_naive_on_host<SimdPoses, FixedCoordinate>();
  }
}

/// Two charges: k q q' / r, and with eps = r k q q' / r^2; a pair of argon atoms at the distance of
/// least energy.
TEST(PoseEnergies, TwoSitesAreTheTextbooks) {
  PoseCase pair(1, 1, 1);
  pair.receptor = {{1}, {2}, {3}, {1}, {1.908}, {0.5}};
  pair.ligand = {-STARPMC_COULOMB_CONSTANT, 1.908, 0.5};
  pair.positions = {1, 2, 3 + 3.816};
  const PoseInteraction constant{0, 0, 1, COMBINATION_SUM, 1};
  const auto energies = energies_on_host<SimdPoses, double>(pair, constant);
  EXPECT_NEAR(energies[POSE_COULOMB], -1389.35457644 / 3.816, 1e-9);
  EXPECT_NEAR(energies[POSE_VDW], -0.25, 1e-13);
  EXPECT_NEAR(energies[POSE_CLOSEST], 3.816 * 3.816, 1e-12);
  const PoseInteraction distance{0, 1, 0, COMBINATION_SUM, 1};
  EXPECT_NEAR((energies_on_host<SimdPoses, double>(pair, distance))[POSE_COULOMB],
              -1389.35457644 / (3.816 * 3.816), 1e-9);
}

/// Sites on one another, of the largest radius, well depth and charge.
template <class Level, class Real>
void expect_finite_overlap() {
  PoseCase pair(1, 5, 1);
  pair.receptor.radius = {STARPMC_LARGEST_RADIUS};
  pair.receptor.root = {std::sqrt(STARPMC_LARGEST_WELL_DEPTH)};
  pair.receptor.charge = {STARPMC_LARGEST_SITE_CHARGE};
  for (auto* values : {&pair.receptor.x, &pair.receptor.y, &pair.receptor.z, &pair.receptor.charge,
                       &pair.receptor.radius, &pair.receptor.root}) {
    values->assign(600, values->front());
  }
  for (int i = 0; i < 5; ++i) {
    const auto k = static_cast<std::size_t>(i);
    pair.positions[k] = pair.receptor.x[0];
    pair.positions[5 + k] = pair.receptor.y[0];
    pair.positions[10 + k] = pair.receptor.z[0];
    pair.ligand[k] = STARPMC_COULOMB_CONSTANT * STARPMC_LARGEST_SITE_CHARGE;
    pair.ligand[5 + k] = STARPMC_LARGEST_RADIUS;
    pair.ligand[10 + k] = std::sqrt(STARPMC_LARGEST_WELL_DEPTH);
  }
  const PoseCase largest = pair;
  for (const PoseInteraction& interaction : pose_interactions()) {
    pair = largest;
    if (interaction.combination == COMBINATION_PRODUCT) {
      const double root = std::sqrt(2 * STARPMC_LARGEST_RADIUS);
      pair.receptor.radius.assign(600, root);
      std::fill_n(&pair.ligand[5], 5, root);
    }
    const auto energies = energies_on_host<Level, Real>(pair, interaction);
    EXPECT_EQ(energies[POSE_CLOSEST], 0);
    expect_naive(pair, interaction, energies, pose_tolerance<Real>());
  }
}

TEST(PoseEnergies, OverlapsAreFinite) {
  expect_finite_overlap<ScalarPoses, double>();
  expect_finite_overlap<ScalarPoses, float>();
  expect_finite_overlap<SimdPoses, double>();
  expect_finite_overlap<SimdPoses, float>();
  expect_finite_overlap<ScalarPoses, FixedCoordinate>();
  expect_finite_overlap<SimdPoses, FixedCoordinate>();
}

/// Tiles of 2^k blocks, their partial energies reduced: the same bits as all blocks in one.
template <class Level, class Real>
void expect_any_tile_gives_the_same_bits() {
  const PoseCase poses(2900, 11, 4);
  for (const PoseInteraction& interaction : pose_interactions()) {
    const auto whole = energies_on_host<Level, Real>(poses, interaction);
    const std::size_t blocks = (2900 + STARPMC_BLOCK_POINTS - 1) / STARPMC_BLOCK_POINTS;
    for (const std::size_t tile : {2U, 4U, 8U}) {
      std::vector<std::vector<double>> partials;
      for (std::size_t first = 0; first < blocks; first += tile) {
        partials.push_back(energies_on_host<Level, Real>(poses, interaction, first, tile));
      }
      std::vector<std::span<const double>> views(partials.begin(), partials.end());
      std::vector<double> sum(whole.size());
      simd::pose_energies_reduce({poses.pose_count, views, sum});
      EXPECT_EQ(sum, whole) << "tiles of " << tile << " blocks";
    }
  }
}

TEST(PoseEnergies, AnyTileGivesTheSameBits) {
  expect_any_tile_gives_the_same_bits<ScalarPoses, float>();
  expect_any_tile_gives_the_same_bits<SimdPoses, float>();
  expect_any_tile_gives_the_same_bits<SimdPoses, FixedCoordinate>();
  expect_any_tile_gives_the_same_bits<SimdPoses, double>();
}

/// The estimate alone is good for four digits at most, one Newton step is enough for 1e-6.
TEST(PoseEnergies, NewtonStepsRefineTheEstimate) {
  const PoseCase poses(600, 20, 8);
  for (const auto& set : simd::instruction_sets()) {
    const simd::InstructionSetForced forced(set);
    std::vector<double> errors;
    for (const int steps : {0, 1, 2}) {
      const PoseInteraction interaction{0, 0, 0, COMBINATION_SUM, steps};
      const auto energies = energies_on_host<SimdPoses, float>(poses, interaction);
      double largest = 0;
      for (int pose = 0; pose < poses.pose_count; ++pose) {
        const NaivePose naive = poses.naive(pose, interaction);
        largest =
            std::max(largest, std::abs(energies[static_cast<std::size_t>(pose)] - naive.coulomb) /
                                  naive.coulomb_magnitude);
      }
      errors.push_back(largest);
    }
    EXPECT_GT(errors[0], 3 * errors[1]) << set.name;
    EXPECT_LT(errors[0], 1e-4) << set.name;
    EXPECT_LT(errors[1], 1e-7) << set.name;
    EXPECT_LT(errors[2], 1e-7) << set.name;
  }
}

opencl::LaunchShape for_gpu() {
  opencl::LaunchShape shape = opencl::LaunchShape::for_gpu();
  shape.points_unrolled = 1;
  return shape;
}

struct DeviceCase {
  const char* name;
  cl_device_type type;
  opencl::LaunchShape shape;
};
void PrintTo(const DeviceCase& device, std::ostream* out) { *out << device.name; }

class OpenClPoses : public testing::TestWithParam<DeviceCase> {
 protected:
  template <class Real>
  void expect_naive_on_device() {
    const std::optional<Device> device = find_device(GetParam().type);
    if (!device) GTEST_SKIP() << "no OpenCL device of this type with double precision";
    DevicePipeline pipeline(*device, kPrecisionOf<Real>, GetParam().shape);
    for (const PoseCase& poses : pose_cases()) {
      for (const PoseInteraction& interaction : pose_interactions()) {
        const auto blocks = make_receptor_blocks<Real>(poses.receptor, interaction);
        expect_naive(poses, interaction,
                     pipeline.pose_energies(poses, interaction, blocks, 1 << 20),
                     pose_tolerance<Real>());
      }
    }
    const PoseCase poses(1700, 30, 6);
    for (const PoseInteraction& interaction : pose_interactions()) {
      const auto blocks = make_receptor_blocks<Real>(poses.receptor, interaction);
      const auto whole = pipeline.pose_energies(poses, interaction, blocks, 1 << 20);
      for (const std::size_t tile : {1U, 2U, 4U}) {
        EXPECT_EQ(pipeline.pose_energies(poses, interaction, blocks, tile), whole);
      }
    }
  }
};

TEST_P(OpenClPoses, Fp64IsTheNaiveLoop) { expect_naive_on_device<double>(); }
TEST_P(OpenClPoses, MixedIsTheNaiveLoop) { expect_naive_on_device<float>(); }
TEST_P(OpenClPoses, FixedIsTheNaiveLoop) { expect_naive_on_device<FixedCoordinate>(); }

INSTANTIATE_TEST_SUITE_P(
    Shapes, OpenClPoses,
    testing::Values(DeviceCase{"CpuKernel", CL_DEVICE_TYPE_CPU, opencl::LaunchShape::for_cpu()},
                    DeviceCase{"GpuKernelOnCpu", CL_DEVICE_TYPE_CPU, for_gpu()},
                    DeviceCase{"GpuKernel", CL_DEVICE_TYPE_GPU, opencl::LaunchShape::for_gpu()}),
    [](const auto& device) { return device.param.name; });

}  // namespace
}  // namespace starpmc::test
