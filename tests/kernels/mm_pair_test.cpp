#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "mm_case.hpp"

namespace starpmc::test {
namespace {

class MmTerms : public testing::TestWithParam<MmCase> {
 protected:
  template <class Real, class Level>
  void expect_naive(double tolerance) {
    const TestSystem system = make_mm_system(GetParam());
    HostPipeline<Level> pipeline;
    expect_naive_mm(evaluate_mm<Real>(pipeline, system, GetParam()), tolerance);
  }
};

TEST_P(MmTerms, ScalarFp64) { expect_naive<double, ScalarLevel>(2e-12); }
TEST_P(MmTerms, SimdFp64) { expect_naive<double, SimdLevel>(2e-12); }
// Pair terms in fp32 have relative errors of some 1e-7, in r^-12 of 12 times as much.
TEST_P(MmTerms, ScalarMixed) { expect_naive<float, ScalarLevel>(5e-6); }
TEST_P(MmTerms, SimdMixed) { expect_naive<float, SimdLevel>(5e-6); }
TEST_P(MmTerms, ScalarFixed) { expect_naive<FixedCoordinate, ScalarLevel>(5e-6); }
TEST_P(MmTerms, SimdFixed) { expect_naive<FixedCoordinate, SimdLevel>(5e-6); }

/// The same source for lesser instruction sets, as far as this machine has them.
TEST_P(MmTerms, EveryInstructionSet) {
  for (const std::int64_t target :
       std::initializer_list<std::int64_t>{HWY_SSE4, HWY_AVX2, HWY_AVX3}) {
    if ((hwy::SupportedTargets() & target) == 0) continue;
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    expect_naive<double, SimdLevel>(2e-12);
    expect_naive<float, SimdLevel>(5e-6);
    expect_naive<FixedCoordinate, SimdLevel>(5e-6);
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
}

INSTANTIATE_TEST_SUITE_P(Systems, MmTerms, testing::ValuesIn(mm_cases()),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace starpmc::test
