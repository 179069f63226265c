#include <gtest/gtest.h>

#include "device_pipeline.hpp"
#include "mm_case.hpp"

namespace starpmc::test {
namespace {

/// On a CPU device (PoCL) with the kernels for CPUs and with those for GPUs, and on a GPU.
struct MmDevice {
  const char* name;
  cl_device_type type;
  std::optional<opencl::LaunchShape> shape;
};

std::vector<MmDevice> mm_devices() {
  opencl::LaunchShape small_groups = opencl::LaunchShape::for_gpu();
  small_groups.pair_group = 8;
  return {{"Cpu", CL_DEVICE_TYPE_CPU, std::nullopt},
          {"CpuAsGpu", CL_DEVICE_TYPE_CPU, small_groups},
          {"Gpu", CL_DEVICE_TYPE_GPU, std::nullopt}};
}

class OpenClMmTerms : public testing::TestWithParam<MmDevice> {
 protected:
  template <class Real>
  void expect_naive(double tolerance) {
    const auto device = find_device(GetParam().type);
    if (!device) GTEST_SKIP() << "no OpenCL device of this type with double precision";
    DevicePipeline pipeline(*device, kPrecisionOf<Real>, GetParam().shape);
    for (const MmCase& mm : mm_cases()) {
      SCOPED_TRACE(mm.name);
      const TestSystem system = make_mm_system(mm);
      expect_naive_mm(evaluate_mm<Real>(pipeline, system, mm), tolerance);
    }
  }
};

TEST_P(OpenClMmTerms, Fp64) { expect_naive<double>(2e-12); }
TEST_P(OpenClMmTerms, Mixed) { expect_naive<float>(5e-6); }
TEST_P(OpenClMmTerms, Fixed) { expect_naive<FixedCoordinate>(5e-6); }

INSTANTIATE_TEST_SUITE_P(Devices, OpenClMmTerms, testing::ValuesIn(mm_devices()),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace starpmc::test
