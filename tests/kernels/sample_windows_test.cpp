#include <gtest/gtest.h>

#include "device_pipeline.hpp"
#include "tests/test_folders.hpp"

namespace starpmc::test {
namespace {

/// Whole windows in the place of single operations.
class WholeWindows {
 public:
  WholeWindows(const Device& device, Precision precision, const opencl::LaunchShape& shape)
      : pipeline_(device, precision, shape) {}

  template <class Real>
  void propose(Buffers<Real>& b, const StepRange& range) {
    b.plan_ahead(range);  // the test asks for the number of steps
    range_ = range;
  }
  template <class Real>
  void evaluate(Buffers<Real>&) {}
  template <class Real>
  void decide(Buffers<Real>& b, const StepTuning& tuning) {
    pipeline_.sample(b, range_, tuning);
  }

 private:
  DevicePipeline pipeline_;
  StepRange range_{};
};

/// What a device with smaller groups and without fused multiply-add in fp32 gets.
opencl::LaunchShape groups_of_256_unfused() {
  opencl::LaunchShape shape = opencl::LaunchShape::for_gpu().limited_to(256);
  shape.fused = false;
  return shape;
}

struct SampleWindowsCase {
  const char* name;
  cl_device_type type;
  opencl::LaunchShape shape;
};

class SampleWindows : public testing::TestWithParam<SampleWindowsCase> {
 protected:
  void SetUp() override {
    device_ = find_device(GetParam().type);
    if (!device_) GTEST_SKIP() << "no OpenCL device of this type with double precision";
  }
  WholeWindows windows(Precision precision) const {
    return WholeWindows(*device_, precision, GetParam().shape);
  }

  std::optional<Device> device_;
};

TEST_P(SampleWindows, ChainIsTheScalarKernels) {
  WholeWindows whole = windows(Precision::fp64);
  for (const SystemOptions& options : {wide_cutoff(), narrow_cutoff(), few_molecules()}) {
    const TestSystem system = make_system(options);
    const ChainOptions chain{.windows = 6, .tuning = true};
    HostPipeline<ScalarLevel> reference;
    const auto a = run_chain<double>(reference, system, chain);
    const auto b = run_chain<double>(whole, system, chain);
    expect_same_chain(a, b, 1e-8);
    EXPECT_EQ(a.lattice_sites, b.lattice_sites);
  }
}

TEST_P(SampleWindows, CertifiedDecisionsAreThoseOfExactEnergies) {
  const TestSystem system = make_system(few_molecules());
  WholeWindows mixed = windows(Precision::mixed);
  expect_certified_chain<float>(mixed, system, 3, false);
  WholeWindows fixed = windows(Precision::fixed);
  expect_certified_chain<FixedCoordinate>(fixed, system, 3, false);
}

/// More steps than items of a group, more candidates than places of a list.
TEST_P(SampleWindows, LongWindowsAreTheScalarKernels) {
  WholeWindows mixed = windows(Precision::mixed);
  expect_scalar_kernels_in_long_windows(mixed);
}

TEST(SampleWindowsOnCpu, GpuKernelsAreTheScalarKernels) {
  const std::optional<Device> device = find_device(CL_DEVICE_TYPE_CPU);
  if (!device) GTEST_SKIP() << "no OpenCL device of this type with double precision";
  WholeWindows mixed(*device, Precision::mixed, opencl::LaunchShape::for_gpu_on_cpu());
  expect_scalar_kernels_in_long_windows(mixed);
}

TEST(SampleWindowsOnCpu, CpuKernelsWithoutFusedMultiplyAddAreTheScalarKernels) {
  const std::optional<Device> device = find_device(CL_DEVICE_TYPE_CPU);
  if (!device) GTEST_SKIP() << "no OpenCL device of this type with double precision";
  opencl::LaunchShape shape = opencl::LaunchShape::for_cpu();
  shape.fused = false;
  WholeWindows mixed(*device, Precision::mixed, shape);
  expect_scalar_kernels_in_long_windows(mixed);
}

/// Groups of 256 items are for GPUs only (GpuOf256Unfused): PoCL 3.1 ends with a segmentation
/// fault.
TEST(SampleWindowsOnCpu, GpuKernelsWithoutFusedMultiplyAddAreTheScalarKernels) {
  const std::optional<Device> device = find_device(CL_DEVICE_TYPE_CPU);
  if (!device) GTEST_SKIP() << "no OpenCL device of this type with double precision";
  opencl::LaunchShape shape = opencl::LaunchShape::for_gpu_on_cpu();
  shape.fused = false;
  WholeWindows mixed(*device, Precision::mixed, shape);
  expect_scalar_kernels_in_long_windows(mixed);
}

/// A chain in which many steps are in doubt; what responds to its molecules is made up.
Buffers<float> chain_with_response(const TestSystem& system, int components) {
  constexpr int kSteps = 40;
  Buffers<float> b(system, kSteps, 2 * kSteps + 2);
  std::mt19937 random(7);
  std::uniform_int_distribution<int> response(-1000, 1000);
  const auto count = static_cast<std::size_t>(components);
  b.certified = true;
  b.bound = {0.4, 0, 0};
  b.components = components;
  b.field_cache = naive_field_cache(system, system.lattice);
  b.responses.assign(count * static_cast<std::size_t>(b.layout.candidates), 0);
  b.molecule_response.assign(count * static_cast<std::size_t>(system.padded), 0);
  for (int& value : b.molecule_response) value = response(random);
  for (int k = 0; k < components; ++k) b.response_total.push_back(20 * response(random));
  return b;
}

/// Two tasks, of windows that differ in size.
Buffers<float> sampled_with_reference(const Device& device, opencl::LaunchShape shape,
                                      const TestSystem& system,
                                      opencl::Settling settling = opencl::Settling::at_once,
                                      bool alone = false) {
  constexpr int kComponents = 3 * STARPMC_COMPONENT_GRAIN;  // more than are multiplied at a time
  DevicePipeline pipeline(device, Precision::mixed, shape);
  pipeline.set_alone(alone);
  const double* const box = system.interaction.box;
  const double half = *std::max_element(box, box + 3) / 2;
  const MadeLattice potential(box, {{4.0, 0.8}, {half, 1.6}}, 1, 30, 5);
  const MadeLattice response(box, {{half, 1.6}}, kComponents, 3, 6);
  Buffers<float> chain = chain_with_response(system, kComponents);
  std::uint64_t step = 1000;
  for (const int windows : {3, 2}) {
    pipeline.sample_with_reference(chain, step_range(step, chain.layout.steps), windows,
                                   {0.4, 0.5, 0.1, 1, 0}, potential, response, settling);
    step += 200;
  }
  return chain;
}

bool is_pocl(const Device& device) {
  cl_platform_id platform = nullptr;
  char name[256] = "";
  opencl::check(clGetDeviceInfo(device.id, CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr),
                "clGetDeviceInfo");
  opencl::check(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name, nullptr),
                "clGetPlatformInfo");
  return std::string(name) == "Portable Computing Language";
}

bool is_nvidia(const Device& device) {
  cl_uint vendor = 0;
  opencl::check(clGetDeviceInfo(device.id, CL_DEVICE_VENDOR_ID, sizeof vendor, &vendor, nullptr),
                "clGetDeviceInfo");
  return vendor == 0x10DE;
}

/// Of the steps that were made.
std::vector<double> accepted_of(const Buffers<float>& b) {
  const auto row = static_cast<std::size_t>(b.layout.steps);
  std::vector<double> found;
  for (std::size_t at = 0; at < b.record.size(); at += RECORD_FIELDS * row) {
    for (std::size_t i = 0; i < row; ++i) {
      found.push_back(b.record[at + RECORD_ACCEPTED * row + i]);
    }
  }
  return found;
}

/// Needs a device whose groups see what others wrote: an NVIDIA GPU, or a CPU (Intel's OpenCL).
TEST(SampleWindows, OfFewLaunchesAreThoseOfALaunchPerOperation) {
  std::optional<Device> device = find_device(CL_DEVICE_TYPE_GPU);
  opencl::LaunchShape shape = opencl::LaunchShape::for_gpu();
  if (device && !is_nvidia(*device)) GTEST_SKIP() << "a GPU that is not NVIDIA's";
  if (!device) {
    device = find_device(CL_DEVICE_TYPE_CPU);
    if (!device || is_pocl(*device)) {
      GTEST_SKIP() << "PoCL 3.1's compiler ends with a segmentation fault: tests/app/"
                      "test_intel_opencl.py says how to have Intel's";
    }
    shape = opencl::LaunchShape::for_nvidia_on_cpu();
  }
  TestSystem system = make_system(few_molecules());
  system.blocks.clear();
  system.points.clear();
  opencl::LaunchShape separate = shape;
  separate.last_group_goes_on = false;
  const Buffers<float> each = sampled_with_reference(*device, separate, system);
  EXPECT_NE(each.lattice, system.lattice);
  EXPECT_GT(each.chain_state[STATE_CERTIFIED], 0);
  using opencl::Settling;
  for (const auto& [settling, alone] :
       {std::pair(Settling::at_once, false), std::pair(Settling::at_once, true),
        std::pair(Settling::apart, true)}) {
    const Buffers<float> few = sampled_with_reference(*device, shape, system, settling, alone);
    EXPECT_EQ(accepted_of(few), accepted_of(each));
    EXPECT_EQ(few.lattice, each.lattice);
    EXPECT_EQ(few.lattice_sites, each.lattice_sites);
    EXPECT_EQ(few.field_cache, each.field_cache);
    EXPECT_EQ(few.molecule_response, each.molecule_response);
    EXPECT_EQ(few.response_total, each.response_total);
    for (const int value : {STATE_PROPOSED, STATE_ACCEPTED, STATE_CERTIFIED}) {
      EXPECT_EQ(few.chain_state[static_cast<std::size_t>(value)],
                each.chain_state[static_cast<std::size_t>(value)]);
    }
  }
}

/// As on NVIDIA's devices: PoCL compiles a minute.
TEST(SampleWindowsOnCpu, DISABLED_DoubtsOfALaunchOfTheirOwnAreTheScalarKernels) {
  const std::optional<Device> device = find_device(CL_DEVICE_TYPE_CPU);
  if (!device) GTEST_SKIP() << "no OpenCL device of this type with double precision";
  WholeWindows whole(*device, Precision::mixed, opencl::LaunchShape::for_nvidia_on_cpu());
  expect_certified_chain<float>(whole, make_system(few_molecules()), 3, false);
  expect_scalar_kernels_in_long_windows(whole, true);
}

TEST(LaunchShape, IsLimitedToWhatADeviceTakes) {
  for (const std::size_t most : {1024, 512, 256, 128, 64, 1}) {
    const opencl::LaunchShape shape = opencl::LaunchShape::for_gpu().limited_to(most);
    EXPECT_EQ(shape.largest_group(), std::min(512, static_cast<int>(most)));
    EXPECT_EQ(shape.pose_group, std::min(64, static_cast<int>(most)));
  }
}

TEST(LaunchShape, ProgramsAreBuiltForWhatTheDeviceTakes) {
  const std::optional<Device> device = find_device(CL_DEVICE_TYPE_ALL);
  if (!device) GTEST_SKIP() << "no OpenCL device with double precision";
  std::size_t most = 0;
  opencl::check(
      clGetDeviceInfo(device->id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most, &most, nullptr),
      "clGetDeviceInfo");
  opencl::LaunchShape shape = opencl::LaunchShape::for_cpu();
  while (static_cast<std::size_t>(shape.difference_group) <= most) shape.difference_group *= 2;
  const opencl::DeviceProgram program(device->context.get(), device->id, Precision::mixed,
                                      source_folder() / "kernels", shape);
  EXPECT_GT(shape.largest_group(), static_cast<int>(most));
  EXPECT_LE(program.shape().largest_group(), static_cast<int>(most));
}

INSTANTIATE_TEST_SUITE_P(
    Devices, SampleWindows,
    testing::Values(SampleWindowsCase{"Cpu", CL_DEVICE_TYPE_CPU, opencl::LaunchShape::for_cpu()},
                    SampleWindowsCase{"Gpu", CL_DEVICE_TYPE_GPU, opencl::LaunchShape::for_gpu()},
                    SampleWindowsCase{"GpuOf256Unfused", CL_DEVICE_TYPE_GPU,
                                      groups_of_256_unfused()}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace starpmc::test
