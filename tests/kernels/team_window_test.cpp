#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "device_pipeline.hpp"

namespace starpmc::test {
namespace {

/// Windows of two members with a device's queue each, on threads of their own.
class DeviceTeam {
 public:
  DeviceTeam(const std::array<Device, 2>& devices, Precision precision,
             const opencl::LaunchShape& shape)
      : first_(devices[0], precision, shape), second_(devices[1], precision, shape) {}

  template <class Real>
  void propose(Buffers<Real>& b, const StepRange& range) {
    b.plan_ahead(range);  // the test asks for the number of steps
    range_ = range;
  }
  template <class Real>
  void evaluate(Buffers<Real>&) {}
  template <class Real>
  void decide(Buffers<Real>& b, const StepTuning& tuning) {
    sample(b, range_, 1, tuning);
  }

  template <class Real>
  void sample(Buffers<Real>& b, const StepRange& range, int windows, const StepTuning& tuning) {
    const auto blocks = static_cast<int>(b.system->blocks.size() / BLOCK_FIELDS);
    EnergyExchange exchange(2, static_cast<std::size_t>(b.layout.candidates));
    Buffers<Real> other = b;
    const auto part = [&](DevicePipeline& pipeline, Buffers<Real>& of, std::size_t member,
                          int first, int last) {
      try {
        pipeline.sample_part(of, range, windows, tuning, first, last, {&exchange, member});
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
        exchange.abandon(member);
      }
    };
    {
      const std::jthread thread([&] { part(second_, other, 1, blocks / 3, blocks); });
      part(first_, b, 0, 0, blocks / 3);
    }
    EXPECT_EQ(b.lattice, other.lattice);
    EXPECT_EQ(b.lattice_sites, other.lattice_sites);
    EXPECT_EQ(b.chain_state, other.chain_state);
    EXPECT_EQ(b.field_cache, other.field_cache);
  }

 private:
  DevicePipeline first_;
  DevicePipeline second_;
  StepRange range_{};
};

struct TeamCase {
  const char* name;
  cl_device_type type;
  opencl::LaunchShape shape;
};

class TeamOnDevice : public testing::TestWithParam<TeamCase> {
 protected:
  void SetUp() override {
    for (Device& device : devices_) {
      std::optional<Device> found = find_device(GetParam().type);
      if (!found) GTEST_SKIP() << "no OpenCL device of this type with double precision";
      device = std::move(*found);
    }
  }

  std::array<Device, 2> devices_;
};

TEST_P(TeamOnDevice, DecidesAsOneAlone) {
  DeviceTeam mixed(devices_, Precision::mixed, GetParam().shape);
  expect_certified_chain<float>(mixed, make_system(few_molecules()), 3, false);
  expect_scalar_kernels_in_long_windows(mixed, true);
}

TEST_P(TeamOnDevice, SeveralWindowsInARow) {
  const TestSystem system = make_system(many_molecules());
  const ChainOptions chain{.steps = 60, .candidates = 122, .windows = 3, .bound = 0.5};
  HostPipeline<ScalarLevel> reference;
  const auto a = run_chain<double>(reference, system, chain);
  Buffers<float> b(system, chain.steps, chain.candidates);
  b.field_cache = naive_field_cache(system, system.lattice);
  b.certified = true;
  b.bound = {chain.bound, 0, chain.bound};
  DeviceTeam mixed(devices_, Precision::mixed, GetParam().shape);
  mixed.sample(b, step_range(40, chain.steps), chain.windows, no_tuning());
  EXPECT_EQ(a.lattice, b.lattice);
  EXPECT_EQ(a.chain_state[STATE_ACCEPTED], b.chain_state[STATE_ACCEPTED]);
}

INSTANTIATE_TEST_SUITE_P(
    Devices, TeamOnDevice,
    testing::Values(TeamCase{"Cpu", CL_DEVICE_TYPE_CPU, opencl::LaunchShape::for_cpu()},
                    TeamCase{"GpuKernelsOnCpu", CL_DEVICE_TYPE_CPU,
                             opencl::LaunchShape::for_gpu_on_cpu()},
                    TeamCase{"Gpu", CL_DEVICE_TYPE_GPU, opencl::LaunchShape::for_gpu()}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace starpmc::test
