#include "kernels/opencl/host/device_check.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "device_pipeline.hpp"
#include "kernels/base/error.hpp"
#include "tests/test_folders.hpp"

namespace starpmc::test {
namespace {

/// Roots by each of three functions, right but for `wrong`, which is off by a share of its value.
std::string fault(Precision precision, std::size_t wrong, double share) {
  const std::vector<double> squares{0.01, 3, 17.25, 1e6};
  std::vector<double> roots;
  for (int function = 0; function < 3; ++function) {
    for (const double square : squares) {
      const bool single = precision != Precision::fp64 && function < 2;
      roots.push_back(1 /
                      std::sqrt(single ? static_cast<double>(static_cast<float>(square)) : square));
    }
  }
  roots[wrong] *= 1 + share;
  return opencl::fault_of_roots(precision, squares, roots);
}

TEST(DeviceCheck, TakesRootsThatAreWithinTheBound) {
  EXPECT_EQ(fault(Precision::mixed, 2, std::ldexp(3.9, -24)), "");
  EXPECT_EQ(fault(Precision::fixed, 5, -std::ldexp(3.9, -24)), "");
  EXPECT_EQ(fault(Precision::fp64, 5, std::ldexp(2, -53)), "");
  EXPECT_EQ(fault(Precision::mixed, 9, 1.9e-11), "");
}

TEST(DeviceCheck, SaysWhichRootIsWrong) {
  EXPECT_THAT(fault(Precision::mixed, 2, std::ldexp(4.1, -24)),
              testing::HasSubstr("1/sqrt(17.25)"));
  EXPECT_THAT(fault(Precision::fixed, 5, -std::ldexp(4.1, -24)), testing::HasSubstr("one by one"));
  EXPECT_THAT(fault(Precision::fp64, 2, 1e-12), testing::HasSubstr("in vectors"));
  EXPECT_THAT(fault(Precision::mixed, 9, 3e-11), testing::HasSubstr("in fp64"));
  EXPECT_NE(fault(Precision::mixed, 2, std::numeric_limits<double>::quiet_NaN()), "");
  EXPECT_NE(fault(Precision::mixed, 2, std::numeric_limits<double>::infinity()), "");
}

TEST(DeviceCheck, TakesTheDevicesHere) {
  const std::optional<Device> device = find_device(CL_DEVICE_TYPE_ALL);
  if (!device) GTEST_SKIP() << "no OpenCL device with double precision";
  for (const Precision precision : {Precision::fp64, Precision::mixed, Precision::fixed}) {
    opencl::DeviceProgram program(device->context.get(), device->id, precision,
                                  source_folder() / "kernels");
    EXPECT_NO_THROW(opencl::check_device(program, device->queue.get()));
  }
}

}  // namespace
}  // namespace starpmc::test
