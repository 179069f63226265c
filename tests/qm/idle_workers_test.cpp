#include "qm/idle_workers.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "qm/errors.hpp"
#include "qm/worker_engine.hpp"
#include "tests/test_folders.hpp"

namespace starpmc {
namespace {

/// Starts workers that share what is idle.
class IdleWorkersTest : public testing::Test {
 protected:
  WorkerCommand command(const std::string& mode = "") const {
    WorkerCommand command{{"/usr/bin/python3",
                           source_folder().string() + "/tests/qm/workers/patient_worker.py", mode},
                          20};
    command.idle = idle_;
    return command;
  }

  static QmRequest hydrogen(int threads = 1) {
    QmRequest request;
    request.elements = {"H", "H"};
    request.positions = {{0, 0, 0}, {0.74, 0, 0}};
    request.threads = threads;
    return request;
  }

  /// What an update tells: the process, and which of its calculations this is.
  static std::string update(WorkerEngine& engine) {
    const std::vector<double> potential(engine.quadrature_points().size(), 2.0);
    return engine.update(potential, std::vector<double>{1.0, 1.5}, {}).fallback;
  }

  static std::string process_of(const std::string& told) { return told.substr(0, told.find(' ')); }

  std::shared_ptr<IdleWorkers> idle_ = std::make_shared<IdleWorkers>();
};

bool runs(pid_t process) { return kill(process, 0) == 0; }

TEST_F(IdleWorkersTest, OneServesAnotherCalculation) {
  std::string first;
  {
    WorkerEngine engine(command(), hydrogen());
    first = update(engine);
    EXPECT_EQ(idle_->count(), 0U);
  }
  EXPECT_EQ(idle_->count(), 1U);
  WorkerEngine engine(command(), hydrogen());
  EXPECT_EQ(idle_->count(), 0U);
  EXPECT_EQ(engine.name(), "patient");
  EXPECT_EQ(engine.version(), "0.3");
  EXPECT_EQ(update(engine), process_of(first) + " 2");
}

/// The kernel ends a process with the thread that has started it.
TEST_F(IdleWorkersTest, OneOutlivesTheThreadThatHasUsedIt) {
  std::string first;
  std::thread([&] {
    WorkerEngine engine(command(), hydrogen());
    first = update(engine);
  }).join();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  WorkerEngine engine(command(), hydrogen());
  EXPECT_EQ(update(engine), process_of(first) + " 2");
}

TEST_F(IdleWorkersTest, OneOfAnotherKindIsStarted) {
  std::string first;
  {
    WorkerEngine engine(command(), hydrogen());
    first = update(engine);
  }
  WorkerEngine other(command(), hydrogen(2));
  EXPECT_NE(process_of(update(other)), process_of(first));
  QmRequest elsewhere = hydrogen();
  elsewhere.device_number = 1;
  WorkerEngine on_another_device(command(), elsewhere);
  EXPECT_NE(process_of(update(on_another_device)), process_of(first));
  EXPECT_EQ(idle_->count(), 1U);
  EXPECT_EQ(idle_->count(0, 1), 1U);
  EXPECT_EQ(idle_->count(1), 0U);
}

TEST_F(IdleWorkersTest, OneThatHasEndedIsNotUsed) {
  std::string first;
  {
    WorkerEngine engine(command("leaves"), hydrogen());
    first = update(engine);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  WorkerEngine engine(command("leaves"), hydrogen());
  const std::string second = update(engine);
  EXPECT_NE(process_of(second), process_of(first));
  EXPECT_EQ(second, process_of(second) + " 1");
}

TEST_F(IdleWorkersTest, OneThatErredIsNotKept) {
  {
    WorkerEngine engine(command("errs"), hydrogen());
    update(engine);
    EXPECT_THROW(update(engine), WorkerLost);
  }
  EXPECT_EQ(idle_->count(), 0U);
}

TEST_F(IdleWorkersTest, OneThatWasCancelledIsNotKept) {
  {
    WorkerEngine engine(command(), hydrogen());
    engine.cancel();
  }
  EXPECT_EQ(idle_->count(), 0U);
}

/// A signal of the run that it served last is none of the next one's.
TEST_F(IdleWorkersTest, OneHeedsTheSignalOfThoseWhoUseIt) {
  WorkerCommand first = command();
  first.cancel_signal = std::make_shared<CancelSignal>();
  { WorkerEngine engine(first, hydrogen()); }
  first.cancel_signal->raise();
  WorkerCommand second = command();
  second.cancel_signal = std::make_shared<CancelSignal>();
  WorkerEngine engine(second, hydrogen());
  const std::string told = update(engine);
  EXPECT_EQ(told, process_of(told) + " 2");
  second.cancel_signal->raise();
  EXPECT_THROW(update(engine), Cancelled);
}

/// Where the program's other threads block a signal to wait for it, it ends nothing.
TEST_F(IdleWorkersTest, NoSignalEndsTheProgramByTheirThread) {
  sigset_t signals;
  sigset_t before;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, &before);
  kill(getpid(), SIGTERM);
  const timespec soon{0, 100'000'000};
  EXPECT_EQ(sigtimedwait(&signals, nullptr, &soon), SIGTERM);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_F(IdleWorkersTest, AllEndWithThem) {
  pid_t process = 0;
  {
    WorkerEngine engine(command(), hydrogen());
    process = engine.process_id();
  }
  EXPECT_TRUE(runs(process));
  idle_->clear();
  EXPECT_FALSE(runs(process));
  EXPECT_EQ(idle_->count(), 0U);
}

}  // namespace
}  // namespace starpmc
