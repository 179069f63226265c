#include <gtest/gtest.h>

#include <fstream>

#include "device_pipeline.hpp"
#include "tests/test_folders.hpp"

namespace starpmc::test {
namespace {

/// Every test runs on a CPU device (PoCL) and on a GPU, where there is one.
class OpenCl : public testing::TestWithParam<cl_device_type> {
 protected:
  void SetUp() override {
    device_ = find_device(GetParam());
    if (!device_) GTEST_SKIP() << "no OpenCL device of this type with double precision";
  }
  DevicePipeline pipeline(Precision precision) const { return DevicePipeline(*device_, precision); }

  std::optional<Device> device_;
};

template <class Real>
Buffers<Real> evaluated(DevicePipeline& pipeline, const TestSystem& system, int steps) {
  Buffers<Real> b(system, steps, steps + steps / 2 + 4);
  pipeline.propose(b, step_range(17, steps));
  pipeline.evaluate(b);
  return b;
}

TEST_P(OpenCl, Fp64EnergiesAreTheNaiveLoops) {
  DevicePipeline device = pipeline(Precision::fp64);
  for (const SystemOptions& options : {wide_cutoff(), narrow_cutoff()}) {
    const TestSystem system = make_system(options);
    expect_naive_energies(evaluated<double>(device, system, 30), 1e-12);
  }
}

TEST_P(OpenCl, MixedEnergiesAreWithinTheirBound) {
  DevicePipeline device = pipeline(Precision::mixed);
  for (const SystemOptions& options : {wide_cutoff(), narrow_cutoff()}) {
    const TestSystem system = make_system(options);
    expect_naive_energies(evaluated<float>(device, system, 30), 5e-6);
  }
}

TEST_P(OpenCl, PairTableIsSymmetric) {
  DevicePipeline device = pipeline(Precision::mixed);
  const TestSystem system = make_system(narrow_cutoff());
  const auto b = evaluated<float>(device, system, 30);
  const auto rows = static_cast<std::size_t>(entry_capacity(b.layout));
  for (const int i : active_entries(b.window())) {
    for (const int j : active_entries(b.window())) {
      const auto row = static_cast<std::size_t>(i);
      const auto column = static_cast<std::size_t>(j);
      ASSERT_EQ(b.table[row * rows + column], b.table[column * rows + row]);
      ASSERT_EQ(b.table[(rows + row) * rows + column], b.table[(rows + column) * rows + row]);
    }
  }
}

TEST_P(OpenCl, ProposalHasTheBitsOfTheScalarKernel) {
  DevicePipeline device = pipeline(Precision::mixed);
  for (const SystemOptions& options : {wide_cutoff(), few_molecules()}) {
    const TestSystem system = make_system(options);
    for (const int steps : {1, 7, 24, 64}) {
      for (const std::uint64_t first : {0ULL, 1000ULL, 0x1FFFFFFFEULL}) {
        Buffers<float> a(system, steps, 2 * steps + 4);
        Buffers<float> b = a;
        HostPipeline<ScalarLevel>().propose(a, step_range(first, steps));
        device.propose(b, step_range(first, steps));
        expect_same_proposal(a, b);
      }
    }
  }
}

TEST_P(OpenCl, ConfinedProposalHasTheBitsOfTheScalarKernel) {
  DevicePipeline device = pipeline(Precision::mixed);
  const TestSystem system = make_system(wide_cutoff());
  for (const std::uint64_t first : {0ULL, 1001ULL, 0x1FFFFFFFEULL}) {
    Buffers<float> a(system, 21, 50);
    a.confine(std::array{7, 2, 11, 3, 0, 5, 9});
    Buffers<float> b = a;
    HostPipeline<ScalarLevel>().propose(a, step_range(first, 21));
    device.propose(b, step_range(first, 21));
    expect_same_proposal(a, b);
  }
}

TEST_P(OpenCl, ChainIsTheScalarKernels) {
  DevicePipeline device = pipeline(Precision::fp64);
  for (const SystemOptions& options : {wide_cutoff(), narrow_cutoff(), few_molecules()}) {
    const TestSystem system = make_system(options);
    const ChainOptions chain{.tuning = true};
    HostPipeline<ScalarLevel> reference;
    const auto a = run_chain<double>(reference, system, chain);
    const auto b = run_chain<double>(device, system, chain);
    expect_same_chain(a, b, 1e-8);
    EXPECT_EQ(a.lattice_sites, b.lattice_sites);
  }
}

TEST_P(OpenCl, MixedChainFollowsFp64) {
  DevicePipeline device = pipeline(Precision::mixed);
  const TestSystem system = make_system(wide_cutoff());
  HostPipeline<SimdLevel> reference;
  const auto exact = run_chain<double>(reference, system, {});
  expect_same_chain(exact, run_chain<float>(device, system, {}), 0.02);
  DevicePipeline fixed = pipeline(Precision::fixed);
  expect_same_chain(exact, run_chain<FixedCoordinate>(fixed, system, {}), 0.02);
}

TEST_P(OpenCl, CertifiedDecisionsAreThoseOfExactEnergies) {
  DevicePipeline exact = pipeline(Precision::fp64);
  DevicePipeline mixed = pipeline(Precision::mixed);
  DevicePipeline fixed = pipeline(Precision::fixed);
  for (const SystemOptions& options : {wide_cutoff(), narrow_cutoff(), few_molecules()}) {
    const TestSystem system = make_system(options);
    expect_certified_chain<double>(exact, system, 3);
    expect_certified_chain<float>(mixed, system, 3);
    expect_certified_chain<FixedCoordinate>(fixed, system, 3);
  }
}

template <class Real>
void expect_same_potential(DevicePipeline& device, const TestSystem& system) {
  Buffers<double> a(system, 4, 8);
  Buffers<Real> b(system, 4, 8);
  HostPipeline<ScalarLevel>().potential(a);
  device.potential(b);
  ASSERT_EQ(a.potential, b.potential);
}

TEST_P(OpenCl, PotentialHasTheBitsOfTheScalarKernel) {
  for (const SystemOptions& options : {wide_cutoff(), narrow_cutoff()}) {
    const TestSystem system = make_system(options);
    DevicePipeline exact = pipeline(Precision::fp64);
    DevicePipeline mixed = pipeline(Precision::mixed);
    expect_same_potential<double>(exact, system);
    expect_same_potential<float>(mixed, system);
  }
}

TEST_P(OpenCl, EnergiesInContactStayFinite) {
  TestSystem system = make_system(wide_cutoff());
  const auto padded = static_cast<std::size_t>(system.padded);
  for (std::size_t k = 0; k < POSE_FIELDS; ++k) {
    system.lattice[k * padded + 1] = system.lattice[k * padded];
  }
  for (std::size_t k = 0; k < 3; ++k) {
    system.lattice[k * padded + 3] = system.point_position[4 * 100 + k];
    system.lattice[k * padded + 10] = system.solute[2 * k];
  }
  DevicePipeline device = pipeline(Precision::mixed);
  Buffers<float> b(system, 64, 132);
  b.chain_state[STATE_MAXIMUM_TRANSLATION] = 0;
  b.chain_state[STATE_MAXIMUM_HALF_TURNS] = 0;
  device.propose(b, step_range(5, 64));
  device.evaluate(b);
  device.decide(b, no_tuning());
  EXPECT_EQ(b.chain_state[STATE_NOT_FINITE], 0);
}

TEST_P(OpenCl, EnergiesThatAreNotFiniteAreReported) {
  const TestSystem system = make_system(wide_cutoff());
  DevicePipeline exact = pipeline(Precision::fp64);
  DevicePipeline mixed = pipeline(Precision::mixed);
  expect_not_finite_reported<double>(exact, system);
  expect_not_finite_reported<float>(mixed, system);
}

TEST_P(OpenCl, BuildErrorsTellTheLog) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "starpmc broken kernels";
  std::filesystem::remove_all(folder);
  std::filesystem::copy(source_folder() / "kernels", folder,
                        std::filesystem::copy_options::recursive);
  std::ofstream(folder / "opencl" / "propose_moves.cl", std::ios::app) << "this_is_no_type x;\n";
  try {
    const opencl::DeviceProgram broken(device_->context.get(), device_->id, Precision::mixed,
                                       folder);
    FAIL() << "built a broken kernel";
  } catch (const RunError& error) {
    EXPECT_NE(std::string(error.what()).find("CL_BUILD_PROGRAM_FAILURE"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("this_is_no_type"), std::string::npos) << error.what();
  }
  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Devices, OpenCl, testing::Values(CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU),
                         [](const auto& type) {
                           return type.param == CL_DEVICE_TYPE_CPU ? "Cpu" : "Gpu";
                         });

}  // namespace
}  // namespace starpmc::test
