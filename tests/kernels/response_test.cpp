#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <string>

#include "device_pipeline.hpp"
#include "response_case.hpp"

namespace starpmc::test {
namespace {

constexpr std::uint64_t kFirst = 500;
constexpr int kSteps = 600;
constexpr int kComponents = 24;

TestSystem small_system() {
  SystemOptions options;
  options.waters = 30;
  options.particles = 4;
  options.grid_points = 10;
  options.edge = 14;
  options.coulomb_cutoff = 6.5;
  options.vdw_cutoff = 6;
  return without_density(make_system(options));
}

const ReferenceOutcome& naive() {
  static const ReferenceOutcome outcome =
      naive_reference_chain(small_system(), SmoothReference(kComponents), kFirst, kSteps);
  return outcome;
}

/// The same decisions, places and responses bit for bit, whatever the window and the precision.
void expect_outcome(const ReferenceOutcome& found, const ReferenceOutcome& scalar) {
  EXPECT_EQ(found.accepted, naive().accepted);
  EXPECT_EQ(found.lattice, naive().lattice);
  EXPECT_EQ(found.response_total, scalar.response_total);
  EXPECT_EQ(found.molecule_response, scalar.molecule_response);
  EXPECT_EQ(found.polarisation, scalar.polarisation);
  EXPECT_EQ(found.field, scalar.field);
}

const ReferenceOutcome& scalar_outcome() {
  static const ReferenceOutcome outcome = [] {
    HostPipeline<ScalarLevel> pipeline;
    return reference_chain<double>(pipeline, small_system(), SmoothReference(kComponents), kFirst,
                                   kSteps, 20, 0);
  }();
  return outcome;
}

/// fp64 alone, then each precision with certified decisions.
template <class Make>
void expect_naive_chain(Make make, std::initializer_list<int> windows) {
  const TestSystem system = small_system();
  const SmoothReference reference(kComponents);
  auto fp64 = make(Precision::fp64);
  auto mixed = make(Precision::mixed);
  auto fixed = make(Precision::fixed);
  for (const int window : windows) {
    SCOPED_TRACE(window);
    const auto run = [&]<class Real>(auto& pipeline, double bound) {
      const auto found =
          reference_chain<Real>(pipeline, system, reference, kFirst, kSteps, window, bound);
      expect_outcome(found, scalar_outcome());
      EXPECT_EQ(found.certified > 0, bound > 0);
    };
    run.template operator()<double>(fp64, 0);
    run.template operator()<double>(fp64, 1e6);
    run.template operator()<float>(mixed, 0.5);
    run.template operator()<FixedCoordinate>(fixed, 0.5);
  }
}

TEST(Response, ChainOfTheScalarKernelsIsThatOfPlainLoops) {
  EXPECT_EQ(scalar_outcome().accepted, naive().accepted);
  EXPECT_EQ(scalar_outcome().lattice, naive().lattice);
  const auto accepted = std::accumulate(naive().accepted.begin(), naive().accepted.end(), 0);
  EXPECT_GT(accepted, kSteps / 10);
  EXPECT_LT(accepted, kSteps * 9 / 10);
  for (std::size_t i = 0; i < naive().polarisation.size(); ++i) {
    ASSERT_NEAR(scalar_outcome().polarisation[i], naive().polarisation[i], 1e-8) << i;
  }
}

TEST(Response, ChangesDecisions) {
  HostPipeline<ScalarLevel> pipeline;
  const auto none =
      reference_chain<double>(pipeline, small_system(), SmoothReference(0), kFirst, kSteps, 20, 0);
  EXPECT_NE(none.accepted, naive().accepted);
  for (const double energy : none.polarisation) ASSERT_EQ(energy, 0);
}

TEST(Response, TotalIsTheSumOfAllMolecules) {
  const TestSystem system = small_system();
  const SmoothReference reference(40);
  HostPipeline<ScalarLevel> pipeline;
  const auto found = reference_chain<double>(pipeline, system, reference, kFirst, 200, 20, 0);
  const std::vector<double> total = reference.total_response(system, found.lattice);
  for (std::size_t k = 0; k < total.size(); ++k) {
    EXPECT_EQ(static_cast<double>(found.response_total[k]), total[k] * STARPMC_RESPONSE_UNITS);
  }
}

TEST(Response, ScalarChainsAreThoseOfPlainLoops) {
  expect_naive_chain([](Precision) { return HostPipeline<ScalarLevel>(); }, {1, 7, 50, 200});
}

TEST(Response, SimdChainsAreThoseOfPlainLoops) {
  expect_naive_chain([](Precision) { return HostPipeline<SimdLevel>(); }, {1, 7, 50, 200});
}

class ResponseOnDevice : public testing::TestWithParam<cl_device_type> {
 protected:
  void SetUp() override {
    device_ = find_device(GetParam());
    if (!device_) GTEST_SKIP() << "no OpenCL device of this type with double precision";
  }
  std::optional<Device> device_;
};

TEST_P(ResponseOnDevice, ChainsAreThoseOfPlainLoops) {
  expect_naive_chain([&](Precision p) { return DevicePipeline(*device_, p); }, {1, 7, 200});
}

/// PoCL 3 compiles the rounds of metropolis_settle wrongly: what items read of one another's steps
/// in local memory is from elsewhere, in some runs only. Oclgrind finds neither races nor addresses
/// out of bounds in this test's kernels, and the test passes there.
bool is_pocl_3(const Device& device) {
  const auto text = [&](cl_device_info what) {
    std::array<char, 256> value{};
    EXPECT_EQ(clGetDeviceInfo(device.id, what, value.size(), value.data(), nullptr), CL_SUCCESS);
    return std::string(value.data());
  };
  return text(CL_DEVICE_VERSION).find("PoCL") != std::string::npos &&
         text(CL_DRIVER_VERSION).starts_with("3.");
}

/// The kernels of a GPU. PoCL takes a minute to compile them, for each precision.
TEST(ResponseOnCpu, ChainsOfAGpusKernelsAreThoseOfPlainLoops) {
  const std::optional<Device> device = find_device(CL_DEVICE_TYPE_CPU);
  if (!device) GTEST_SKIP() << "no OpenCL device of this type with double precision";
  if (is_pocl_3(*device)) GTEST_SKIP() << "PoCL 3 compiles these kernels wrongly";
  DevicePipeline pipeline(*device, Precision::mixed, opencl::LaunchShape::for_gpu_on_cpu());
  for (const int window : {1, 7, 200}) {
    SCOPED_TRACE(window);
    const auto found = reference_chain<float>(
        pipeline, small_system(), SmoothReference(kComponents), kFirst, kSteps, window, 0.5);
    expect_outcome(found, scalar_outcome());
    EXPECT_GT(found.certified, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, ResponseOnDevice,
                         testing::Values(CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU),
                         [](const auto& test) {
                           return test.param == CL_DEVICE_TYPE_CPU ? "Cpu" : "Gpu";
                         });

}  // namespace
}  // namespace starpmc::test
