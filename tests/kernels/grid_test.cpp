#include "device_pipeline.hpp"
#include "grid_case.hpp"

namespace starpmc::test {
namespace {

/// Errors relative to the sum of the pair energies' magnitudes.
template <class Real>
double tolerance() {
  switch (kPrecisionOf<Real>) {
    case Precision::fp64:
      return 1e-13;
    case Precision::mixed:
      return 1e-6;
    case Precision::fixed:
      return 5e-7;
  }
  return 0;
}

template <class Level, class Real>
void expect_naive_on_host() {
  for (const GridCase& grid : GridCases().all()) {
    const GridWindow window(grid);
    const CompactBlocks<Real> blocks = blocks_of<Real>(grid);
    std::vector<double> energies(grid.molecules.size(), -1.0);
    Level::qmmm_coulomb_grid(
        CoulombGridArguments<Real>{window.window(), blocks.blocks, blocks.points, energies});
    expect_naive(grid, energies, tolerance<Real>());
  }
}

TEST(GridTerm, ScalarIsTheNaiveLoop) {
  expect_naive_on_host<ScalarLevel, double>();
  expect_naive_on_host<ScalarLevel, float>();
  expect_naive_on_host<ScalarLevel, FixedCoordinate>();
}

TEST(GridTerm, SimdIsTheNaiveLoop) {
  expect_naive_on_host<SimdLevel, double>();
  expect_naive_on_host<SimdLevel, float>();
  expect_naive_on_host<SimdLevel, FixedCoordinate>();
}

struct OpenClCase {
  const char* name;
  cl_device_type type;
  opencl::LaunchShape shape;
};

void PrintTo(const OpenClCase& shape, std::ostream* out) { *out << shape.name; }

/// Every kernel on every device, the GPU's on a CPU, too.
class OpenClGrid : public testing::TestWithParam<OpenClCase> {
 protected:
  template <class Real>
  void expect_naive_on_device() {
    const std::optional<Device> device = find_device(GetParam().type);
    if (!device) GTEST_SKIP() << "no OpenCL device of this type with double precision";
    DevicePipeline pipeline(*device, kPrecisionOf<Real>, GetParam().shape);
    for (const GridCase& grid : GridCases().all()) {
      const auto energies = pipeline.grid_energies(GridWindow(grid), blocks_of<Real>(grid));
      expect_naive(grid, energies, tolerance<Real>());
    }
  }
};

TEST_P(OpenClGrid, Fp64IsTheNaiveLoop) { expect_naive_on_device<double>(); }
TEST_P(OpenClGrid, MixedIsTheNaiveLoop) { expect_naive_on_device<float>(); }
TEST_P(OpenClGrid, FixedIsTheNaiveLoop) { expect_naive_on_device<FixedCoordinate>(); }

opencl::LaunchShape gpu() {
  opencl::LaunchShape shape = opencl::LaunchShape::for_gpu();
  shape.points_unrolled = 1;
  return shape;
}

opencl::LaunchShape sliced() {
  opencl::LaunchShape shape = gpu();
  shape.least_groups_per_unit = 100;
  shape.grid_group = 96;
  shape.list_capacity = 100;
  return shape;
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, OpenClGrid,
    testing::Values(OpenClCase{"CpuKernel", CL_DEVICE_TYPE_CPU, opencl::LaunchShape::for_cpu()},
                    OpenClCase{"GpuKernelOnCpu", CL_DEVICE_TYPE_CPU, gpu()},
                    OpenClCase{"SlicedGpuKernelOnCpu", CL_DEVICE_TYPE_CPU, sliced()},
                    OpenClCase{"GpuKernel", CL_DEVICE_TYPE_GPU, opencl::LaunchShape::for_gpu()},
                    OpenClCase{"SlicedGpuKernel", CL_DEVICE_TYPE_GPU, sliced()}),
    [](const auto& shape) { return shape.param.name; });

TEST(CompactBlocks, AreNoWiderThanHalfTheBox) {
  for (const GridCase& grid : GridCases().all()) {
    const CompactBlocks<double> blocks = blocks_of<double>(grid);
    const double half = *std::min_element(grid.box(), grid.box() + 3) / 2;
    std::vector<int> taken(blocks.points.size() / 5, 0);
    for (std::size_t i = 0; i < grid.points.size(); ++i) {
      const std::size_t slot = blocks.slot_of_point[i];
      ++taken.at(slot);
      const std::size_t block = slot / STARPMC_BLOCK_POINTS;
      const double* const header = &blocks.blocks[block * BLOCK_FIELDS];
      const double* const point =
          &blocks.points[block * STARPMC_BLOCK_VALUES + slot % STARPMC_BLOCK_POINTS];
      EXPECT_LE(header[BLOCK_RADIUS], half);
      for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_NEAR(header[k] + point[k * STARPMC_BLOCK_POINTS], grid.points[i].position[k], 1e-12);
      }
      EXPECT_LE(std::hypot(point[0], point[STARPMC_BLOCK_POINTS], point[2 * STARPMC_BLOCK_POINTS]),
                header[BLOCK_RADIUS] + 1e-12);
      EXPECT_EQ(point[3 * STARPMC_BLOCK_POINTS], grid.points[i].charge);
      EXPECT_EQ(point[4 * STARPMC_BLOCK_POINTS], inverse_square_extent(grid.points[i].extent));
      EXPECT_GE(header[BLOCK_EXTENT], grid.points[i].extent);
    }
    EXPECT_LE(*std::ranges::max_element(taken), 1);
  }
}

}  // namespace
}  // namespace starpmc::test
