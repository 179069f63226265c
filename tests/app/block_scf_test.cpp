#include "app/block_scf.hpp"

#include <gtest/gtest.h>
#include <starpu.h>

#include <future>
#include <stdexcept>

#include "kernels/base/error.hpp"
#include "runtime/codelet.hpp"
#include "tests/codelets/two_cpu_workers.hpp"

namespace starpmc {
namespace {

/// Works until it is told to stop.
class EndlessEngine : public QmEngine {
 public:
  const DensityGrid& quadrature_points() const override { throw std::logic_error("not asked for"); }
  QmResult update(std::span<const double>, std::span<const double>, const PointCharges&) override {
    begun.set_value();
    stop.get_future().wait();
    return {};
  }
  std::string name() const override { return "endless"; }
  std::string version() const override { return ""; }

  std::promise<void> begun;
  std::promise<void> stop;
};

class BlockScfTest : public test::StartedWorkers {
 protected:
  void TearDown() override {
    codelets::clear_failure();
    StartedWorkers::TearDown();
  }
};

/// As where a device fails under the steps that the chain makes meanwhile.
TEST_F(BlockScfTest, MayGoWhereATaskOfOthersHasFailed) {
  EndlessEngine engine;
  {
    BlockScf scf(engine);
    scf.start({{1.0}, {}, {}});
    engine.begun.get_future().wait();
    codelets::report_failure("a device is at fault");
    engine.stop.set_value();
  }
  EXPECT_TRUE(codelets::failed());
}

TEST_F(BlockScfTest, DoesNotWorkAfterAFailureAndTellsIt) {
  EndlessEngine engine;
  BlockScf scf(engine);
  {
    scf.start({{1.0}, {}, {}});
    engine.begun.get_future().wait();
    engine.stop.set_value();
    scf.take();
  }
  codelets::report_failure("a device is at fault");
  EXPECT_THROW(scf.start({{1.0}, {}, {}}), RunError);
}

}  // namespace
}  // namespace starpmc
