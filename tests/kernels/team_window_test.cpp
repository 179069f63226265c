#include <gtest/gtest.h>

#include "device_pipeline.hpp"

namespace starpmc::test {
namespace {

/// Windows of two members, on one device or on the host.
class DeviceTeam {
 public:
  DeviceTeam(const Device& device, Precision precision, const opencl::LaunchShape& shape,
             bool sharing)
      : pipeline_(device, precision, shape), sharing_(sharing) {}

  template <class Real>
  void propose(Buffers<Real>& b, const StepRange& range) {
    b.plan_ahead(range);  // the test asks for the number of steps
    range_ = range;
  }
  template <class Real>
  void evaluate(Buffers<Real>&) {}
  template <class Real>
  void decide(Buffers<Real>& b, const StepTuning& tuning) {
    pipeline_.sample_by_team(b, range_, tuning, sharing_);
  }

 private:
  DevicePipeline pipeline_;
  StepRange range_{};
  bool sharing_;
};

/// Decisions on the host with exact changes of the density's energy found part by part.
class HostTeam : public HostPipeline<SimdLevel> {
 public:
  template <class Real>
  void decide(Buffers<Real>& b, const StepTuning& tuning) {
    MetropolisDecideArguments<Real> a{
        b.window(),        tuning,          b.certification(), b.grid_energies,
        b.nuclei_energies, b.mm_energies,   b.table,           b.chain_state,
        b.lattice,         b.lattice_sites, b.field_cache,     b.record};
    std::vector<std::uint64_t> first = changes(a, true);
    const std::vector<std::uint64_t> second = changes(a, false);
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_EQ(first[i] == STARPMC_NO_SHARE, second[i] == STARPMC_NO_SHARE) << i;
      if (first[i] == STARPMC_NO_SHARE) continue;
      ++shared;
      first[i] += second[i];
    }
    a.certification.grid_changes = first;
    simd::metropolis_decide(a);
  }

  int shared = 0;  ///< steps whose exact changes were told

 private:
  template <class Real>
  static std::vector<std::uint64_t> changes(MetropolisDecideArguments<Real> a, bool first) {
    const std::size_t blocks = a.certification.exact_blocks.size() / BLOCK_FIELDS;
    const BlockRange range =
        first ? BlockRange{0, blocks / 3} : BlockRange{blocks / 3, blocks - blocks / 3};
    std::vector<std::uint64_t> found(a.grid_energies.size());
    std::vector<double> state(a.chain_state.begin(), a.chain_state.end());
    std::vector<double> energies(a.mm_energies.begin(), a.mm_energies.end());
    a.chain_state = state;
    a.mm_energies = energies;
    simd::doubted_grid_changes(a, range, found);
    return found;
  }
};

TEST(TeamWindow, HostsDecideAsOneAlone) {
  for (const SystemOptions& options : {SystemOptions{}, few_molecules()}) {
    const TestSystem system = make_system(options);
    HostTeam team;
    expect_certified_chain<float>(team, system, 4);
    EXPECT_GT(team.shared, 0);
    HostTeam fixed;
    expect_certified_chain<FixedCoordinate>(fixed, system, 4);
  }
}

struct TeamCase {
  const char* name;
  cl_device_type type;
  opencl::LaunchShape shape;
};

class TeamOnDevice : public testing::TestWithParam<TeamCase> {
 protected:
  void SetUp() override {
    device_ = find_device(GetParam().type);
    if (!device_) GTEST_SKIP() << "no OpenCL device of this type with double precision";
  }
  void expect_one_chain(bool sharing) const {
    DeviceTeam mixed(*device_, Precision::mixed, GetParam().shape, sharing);
    expect_certified_chain<float>(mixed, make_system(few_molecules()), 3, false);
    SystemOptions options;
    options.waters = 150;
    options.grid_points = 900;
    const TestSystem system = make_system(options);
    const ChainOptions chain{
        .steps = 150, .candidates = 302, .windows = 3, .tuning = true, .bound = 0.5};
    HostPipeline<ScalarLevel> reference;
    const auto a = run_chain<double>(reference, system, chain);
    const auto b = run_chain<float>(mixed, system, chain);
    EXPECT_EQ(a.accepted, b.accepted);
    EXPECT_EQ(a.lattice, b.lattice);
    EXPECT_GT(b.chain_state[STATE_CERTIFIED], 0);
  }

  std::optional<Device> device_;
};

TEST_P(TeamOnDevice, SharingDoubtsDecidesAsOneAlone) { expect_one_chain(true); }
TEST_P(TeamOnDevice, SelfReliantDecidesAsOneAlone) { expect_one_chain(false); }

/// As in sample_windows_test.cpp: what PoCL takes of a GPU's kernels.
opencl::LaunchShape gpu_team_on_cpu() {
  opencl::LaunchShape shape = opencl::LaunchShape::for_gpu();
  shape.points_unrolled = 1;
  shape.pair_group = 16;
  shape.table_tile = 4;
  shape.decide_group = 16;
  shape.propose_group = 16;
  shape.grid_sum_group = 16;
  shape.exact_groups_per_unit = 2;
  return shape;
}

INSTANTIATE_TEST_SUITE_P(
    Devices, TeamOnDevice,
    testing::Values(TeamCase{"Cpu", CL_DEVICE_TYPE_CPU, opencl::LaunchShape::for_cpu()},
                    TeamCase{"GpuKernelsOnCpu", CL_DEVICE_TYPE_CPU, gpu_team_on_cpu()},
                    TeamCase{"Gpu", CL_DEVICE_TYPE_GPU, opencl::LaunchShape::for_gpu()}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace starpmc::test
