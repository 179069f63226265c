#include <gtest/gtest.h>
#include <starpu.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "codelets/operations.hpp"
#include "runtime/data_handle.hpp"
#include "runtime/taken_workers.hpp"
#include "tests/codelets/two_cpu_workers.hpp"

namespace starpmc {
namespace {

using codelets::release_worker;
using codelets::take_worker;
using namespace std::chrono_literals;

constexpr auto kForever = 60s;

class QmWorkers : public test::StartedWorkers {
 protected:
  void SetUp() override {
    setenv("STARPU_SCHED", "dmda", 1);
    StartedWorkers::SetUp();
  }
};

/// A QM engine that works until it is told to stop.
class EndlessUpdate {
 public:
  EndlessUpdate() : potential_(DataHandle::of(std::span(values_))) {
    const std::vector<starpu_data_handle_t> parts{potential_.get()};
    codelets::qm_update(&EndlessUpdate::work, this, 1, false, parts);
    begun_.get_future().wait();
  }
  ~EndlessUpdate() { end(); }
  EndlessUpdate(const EndlessUpdate&) = delete;
  EndlessUpdate& operator=(const EndlessUpdate&) = delete;
  void end() {
    if (!ended_) stop_.set_value();
    ended_ = true;
  }

 private:
  static void work(void* self, std::span<const std::span<const double>>) {
    auto& update = *static_cast<EndlessUpdate*>(self);
    update.begun_.set_value();
    update.stop_.get_future().wait();
  }

  std::vector<double> values_{1};
  std::promise<void> begun_;
  std::promise<void> stop_;
  bool ended_ = false;
  DataHandle potential_;  // waits for the task when it goes: the first to do so
};

TEST_F(QmWorkers, HostCopyDoesNotWaitForThem) {
  std::vector<double> values{1, 2, 3};
  const DataHandle handle = DataHandle::of(std::span(values));
  EndlessUpdate one;
  EndlessUpdate other;
  const HostCopy copy(handle);
  std::promise<std::vector<double>> promise;
  std::future<std::vector<double>> copied = promise.get_future();
  const std::jthread waiting([&] {
    const auto data = copy.data();
    promise.set_value({data.begin(), data.end()});
  });
  const auto status = copied.wait_for(kForever);
  one.end();
  other.end();
  ASSERT_EQ(status, std::future_status::ready);
  EXPECT_EQ(copied.get(), (std::vector<double>{1, 2, 3}));
}

TEST_F(QmWorkers, HostCopyIsOfItsTime) {
  std::vector<double> values{1, 2};
  const DataHandle handle = DataHandle::of(std::span(values));
  const HostCopy before(handle);
  { HostAccess<double>(handle, STARPU_RW).data()[0] = 7; }
  const HostCopy after(handle);
  EXPECT_EQ(before.data()[0], 1);
  EXPECT_EQ(after.data()[0], 7);
}

TEST_F(QmWorkers, AFreeWorkerIsTakenByWhoWaits) {
  EndlessUpdate one;
  auto other = std::make_unique<EndlessUpdate>();
  EXPECT_TRUE(codelets::all_cpu_workers_taken());
  auto next = std::async(std::launch::async, take_worker);
  EXPECT_EQ(next.wait_for(100ms), std::future_status::timeout);
  other.reset();
  ASSERT_EQ(next.wait_for(kForever), std::future_status::ready);
  release_worker(next.get());
  EXPECT_FALSE(codelets::all_cpu_workers_taken());
}

TEST_F(QmWorkers, NoneIsTakenTwice) {
  constexpr int kChains = 8;
  constexpr int kUpdates = 200;
  std::array<std::atomic<int>, STARPU_NMAXWORKERS> users{};
  std::atomic<int> twice = 0;
  {
    std::vector<std::jthread> chains;
    for (int i = 0; i < kChains; ++i) {
      chains.emplace_back([&] {
        for (int update = 0; update < kUpdates; ++update) {
          const int worker = take_worker();
          auto& user = users.at(static_cast<std::size_t>(worker));
          if (++user != 1) ++twice;
          std::this_thread::yield();
          --user;
          release_worker(worker);
        }
      });
    }
  }
  EXPECT_EQ(twice, 0);
  EXPECT_FALSE(codelets::all_cpu_workers_taken());
}

}  // namespace
}  // namespace starpmc
