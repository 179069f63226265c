#include "qm/engine_pool.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "kernels/base/error.hpp"
#include "qm/worker_engine.hpp"
#include "tests/test_folders.hpp"

namespace starpmc {
namespace {

QmRequest hydrogen() {
  QmRequest request;
  request.elements = {"H", "H"};
  request.positions = {{0, 0, 0}, {0.74, 0, 0}};
  return request;
}

/// Its energy is 5 v + last / 2.
std::unique_ptr<QmEngine> stateful(const std::vector<std::string>& fault = {}) {
  WorkerCommand command{
      {"/usr/bin/python3", source_folder().string() + "/tests/qm/workers/stateful_worker.py"}, 20};
  command.command.insert(command.command.end(), fault.begin(), fault.end());
  return std::make_unique<WorkerEngine>(command, hydrogen());
}

double update(QmEngine& engine, double value) {
  const std::vector<double> potential(engine.quadrature_points().size(), value);
  return engine.update(potential, std::vector<double>{1.0, 1.5}, {}).energy_kj_per_mol;
}

class EnginePoolTest : public testing::Test {
 protected:
  const std::shared_ptr<CancelSignal> cancel_ = std::make_shared<CancelSignal>();
  const std::shared_ptr<EnginePool> pool_ =
      std::make_shared<EnginePool>(cancel_, std::make_shared<IdleWorkers>());
};

TEST_F(EnginePoolTest, ChainsGoOnFromTheirOwnDensities) {
  PooledEngine first(pool_, pool_->add(stateful()));
  PooledEngine second(pool_, {});
  PooledEngine third(pool_, {});
  EXPECT_TRUE(first.helps_with_reference());
  EXPECT_FALSE(second.helps_with_reference());
  EXPECT_EQ(second.name(), "stateful");
  EXPECT_EQ(second.basis_functions(), 7);
  EXPECT_EQ(update(first, 2), 10);
  EXPECT_EQ(update(second, 1), 5);
  EXPECT_EQ(update(first, 0.1), 5.5);
  EXPECT_EQ(update(third, 0), 0);
  EXPECT_EQ(update(second, 1), 7.5);
  EXPECT_EQ(update(first, -3), -12.25);
  EXPECT_EQ(first.state(), (std::vector<double>{-12.25, 3}));
  EXPECT_EQ(second.state(), (std::vector<double>{7.5, 2}));
  third.restore(std::vector<double>{8, 1});
  EXPECT_EQ(update(second, 1), 8.75);
  EXPECT_EQ(update(third, 0), 4);
  third.restore({});
  EXPECT_EQ(update(third, 1), 5);
}

TEST_F(EnginePoolTest, UpdatesAreMadeByAllEngines) {
  PooledEngine first(pool_, pool_->add(stateful({"slow", "0.4", ""})));
  PooledEngine second(pool_, pool_->add(stateful({"slow", "0.4", ""})));
  PooledEngine third(pool_, {});
  const auto start = std::chrono::steady_clock::now();
  auto one = std::async(std::launch::async, [&] { return update(first, 1); });
  auto other = std::async(std::launch::async, [&] { return update(third, 2); });
  EXPECT_EQ(one.get(), 5);
  EXPECT_EQ(other.get(), 10);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(750));
  EXPECT_EQ(update(second, 3), 15);
}

TEST_F(EnginePoolTest, AStateThatDoesNotFitIsRefusedAtOnce) {
  PooledEngine first(pool_, pool_->add(stateful()));
  EXPECT_THROW(first.restore(std::vector<double>{1, 2, 3}), RunError);
}

TEST_F(EnginePoolTest, WhatTakesAnEngineOfItsOwnIsRefusedWithoutOne) {
  PooledEngine first(pool_, pool_->add(stateful()));
  PooledEngine second(pool_, {});
  EXPECT_THROW(second.reference(1), RunError);
  EXPECT_THROW(second.add_configuration({}), RunError);
  EXPECT_NO_THROW(second.forget_configurations());
}

TEST_F(EnginePoolTest, WhoeverWaitsHearsOfACancellation) {
  PooledEngine first(pool_, pool_->add(stateful({"slow", "3", ""})));
  PooledEngine second(pool_, {});
  auto busy = std::async(std::launch::async, [&] { return update(first, 1); });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  auto waiting = std::async(std::launch::async, [&] { return update(second, 1); });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const auto start = std::chrono::steady_clock::now();
  second.cancel();
  EXPECT_THROW(waiting.get(), Cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  EXPECT_TRUE(cancel_->raised());
  EXPECT_EQ(busy.get(), 5);  // this one heeds no signal of the pool
}

TEST_F(EnginePoolTest, WithoutAnEngineTheReasonIsTold) {
  auto waiting = std::async(std::launch::async, [&] { return PooledEngine(pool_, {}).name(); });
  pool_->add(std::make_exception_ptr(RunError("no worker")));
  try {
    waiting.get();
    FAIL();
  } catch (const RunError& error) {
    EXPECT_STREQ(error.what(), "no worker");
  }
}

}  // namespace
}  // namespace starpmc
