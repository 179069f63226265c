#include "qm/restarting_engine.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/base/error.hpp"
#include "qm/shared_device.hpp"
#include "qm/worker_engine.hpp"
#include "tests/test_folders.hpp"

namespace starpmc {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

const std::string workers = source_folder().string() + "/tests/qm/workers/";

/// A file in which the workers count their faults, gone with the test.
class FaultFile {
 public:
  FaultFile() : path_(fs::temp_directory_path() / ("starpmc-faults-" + std::to_string(getpid()))) {
    fs::remove(path_);
  }
  ~FaultFile() { fs::remove(path_); }
  std::string path() const { return path_.string(); }
  std::uintmax_t count() const { return fs::exists(path_) ? fs::file_size(path_) : 0; }

 private:
  fs::path path_;
};

/// Warnings of the program while it lives.
class CapturedLog {
 public:
  CapturedLog() : before_(spdlog::default_logger()) {
    const auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(text_);
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", sink));
  }
  ~CapturedLog() { spdlog::set_default_logger(before_); }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::shared_ptr<spdlog::logger> before_;
};

QmRequest hydrogen() {
  QmRequest request;
  request.elements = {"H", "H"};
  request.positions = {{0, 0, 0}, {0.74, 0, 0}};
  return request;
}

RestartingEngine::Factory factory(const std::vector<std::string>& arguments, double limit = 20) {
  return [arguments, limit](const std::shared_ptr<CancelSignal>& signal) {
    WorkerCommand command{{"/usr/bin/python3"}, limit, signal};
    command.command.insert(command.command.end(), arguments.begin(), arguments.end());
    return std::make_unique<WorkerEngine>(command, hydrogen());
  };
}

RestartingEngine::Factory stateful(const std::vector<std::string>& fault = {}, double limit = 20) {
  std::vector<std::string> arguments = {workers + "stateful_worker.py"};
  arguments.insert(arguments.end(), fault.begin(), fault.end());
  return factory(arguments, limit);
}

QmResult update(QmEngine& engine, double value) {
  const std::vector<double> potential(engine.quadrature_points().size(), value);
  return engine.update(potential, std::vector<double>{1.0, 1.5}, {});
}

std::vector<double> energies(QmEngine& engine) {
  std::vector<double> found;
  for (const double value : {2.0, 0.1, -3.0}) {
    found.push_back(update(engine, value).energy_kj_per_mol);
  }
  return found;
}

template <class Error = RunError>
std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

void expect_in(const std::string& part, const std::string& whole) {
  EXPECT_NE(whole.find(part), std::string::npos) << "no '" << part << "' in: " << whole;
}

TEST(RestartingEngine, UndisturbedItIsItsEngine) {
  RestartingEngine engine(stateful());
  EXPECT_EQ(engine.name(), "stateful");
  EXPECT_EQ(engine.version(), "0.1");
  EXPECT_EQ(engine.quadrature_points().size(), 5U);
  EXPECT_TRUE(engine.state().empty());
  // 5 v + last / 2
  EXPECT_EQ(energies(engine), (std::vector<double>{10.0, 5.5, -12.25}));
  EXPECT_EQ(engine.state(), (std::vector<double>{-12.25, 3.0}));
  EXPECT_EQ(engine.restarts(), 0U);
}

TEST(RestartingEngine, LostWorkersAreReplacedAndTheUpdateRepeated) {
  RestartingEngine undisturbed(stateful());
  const std::vector<double> expected = energies(undisturbed);
  for (const char* fault : {"killed-mid-update", "dies-mid-update", "garbage", "half-array",
                            "wrong-type", "missing-field", "nan-array", "hangs"}) {
    const FaultFile faults;
    const CapturedLog log;
    const bool hangs = std::string(fault) == "hangs";
    RestartingEngine engine(stateful({fault, "1", faults.path()}, hangs ? 1.0 : 20.0));
    EXPECT_EQ(energies(engine), expected) << fault;
    EXPECT_EQ(engine.state(), undisturbed.state()) << fault;
    EXPECT_EQ(engine.restarts(), 1U) << fault;
    EXPECT_EQ(faults.count(), 1U) << fault;
    expect_in("restart 1 of at most 3", log.text());
    if (hangs) expect_in("qm.time-limit", log.text());
  }
}

TEST(RestartingEngine, EveryUpdateHasThreeRestarts) {
  const FaultFile faults;
  const CapturedLog log;
  RestartingEngine engine(stateful({"killed-mid-update", "3", faults.path()}));
  EXPECT_EQ(energies(engine), (std::vector<double>{10.0, 5.5, -12.25}));
  EXPECT_EQ(engine.restarts(), 3U);
  std::ofstream(faults.path(), std::ios::trunc).close();
  EXPECT_EQ(update(engine, 2.0).energy_kj_per_mol, 10.0 - 12.25 / 2);
  EXPECT_EQ(engine.restarts(), 6U);
}

TEST(RestartingEngine, DyingEveryTimeIsAnError) {
  const FaultFile faults;
  const CapturedLog log;
  RestartingEngine engine(stateful({"dies-mid-update", "1000", faults.path()}));
  update(engine, 2.0);
  const std::string message = message_of([&] { update(engine, 0.1); });
  expect_in("tried 4 times", message);
  expect_in("exit status 3", message);
  expect_in("eaten the integrals", message);
  expect_in("complaint 29", engine.log());
  EXPECT_EQ(engine.restarts(), 3U);
  EXPECT_EQ(faults.count(), 4U);
  // Whoever tries again once the cause is gone goes on from the last density.
  std::ofstream(faults.path()) << std::string(1000, 'x');
  EXPECT_EQ(update(engine, 0.1).energy_kj_per_mol, 5.5);
}

TEST(RestartingEngine, KilledBetweenUpdates) {
  const CapturedLog log;
  pid_t process = 0;
  const auto make = stateful();
  RestartingEngine engine([&](const std::shared_ptr<CancelSignal>& signal) {
    auto worker = make(signal);
    process = dynamic_cast<WorkerEngine&>(*worker).process_id();
    return worker;
  });
  update(engine, 2.0);
  kill(process, SIGKILL);
  EXPECT_EQ(update(engine, 0.1).energy_kj_per_mol, 5.5);
  EXPECT_EQ(engine.restarts(), 1U);
}

/// The second update is made by a worker that finds none of the GPUs that the first one found.
TEST(RestartingEngine, ALostGpuIsToldOf) {
  for (const std::string fault : {"gone", ""}) {
    const FaultFile devices;
    const CapturedLog log;
    SharedDevice device;
    QmRequest request = hydrogen();
    request.device = "gpu";
    pid_t process = 0;
    bool again = false;
    RestartingEngine engine([&](const std::shared_ptr<CancelSignal>& signal) {
      WorkerCommand command{
          {"/usr/bin/python3", workers + "device_worker.py", devices.path(), "gpu", fault},
          20,
          signal};
      auto worker = device.start(command, request, std::exchange(again, true));
      process = worker->process_id();
      return worker;
    });
    EXPECT_EQ(engine.device(), "a GPU: 1 workers, required");
    update(engine, 2.0);
    kill(process, SIGKILL);
    update(engine, 2.0);
    EXPECT_EQ(engine.restarts(), 1U);
    EXPECT_EQ(engine.device(),
              fault.empty() ? "a GPU: 1 workers, or not" : "CPU (why not): 1 workers, or not");
    if (fault.empty()) continue;
    expect_in("runs on another device: CPU (why not)", log.text());
    expect_in("before on a GPU", log.text());
    expect_in("updates take longer", log.text());
  }
}

TEST(RestartingEngine, WhatTheWorkerReportsIsNotRepeated) {
  for (const char* behaviour : {"not-converged", "not-converged-flag"}) {
    RestartingEngine engine(factory({workers + "fake_worker.py", behaviour}));
    expect_in(std::string(behaviour) == "not-converged" ? "no solution" : "did not converge",
              message_of([&] { update(engine, 2.0); }));
    EXPECT_EQ(engine.restarts(), 0U);
  }
}

TEST(RestartingEngine, KilledAtTheStartItIsStartedAgain) {
  const FaultFile faults;
  const CapturedLog log;
  RestartingEngine engine(stateful({"killed-at-start", "3", faults.path()}));
  EXPECT_EQ(engine.restarts(), 3U);
  expect_in("the worker's start is repeated by a fresh one (restart 3 of at most 3)", log.text());
  EXPECT_EQ(energies(engine), (std::vector<double>{10.0, 5.5, -12.25}));
}

TEST(RestartingEngine, KilledAtEveryStartIsAnError) {
  const FaultFile faults;
  const CapturedLog log;
  expect_in("worker's start was tried 4 times", message_of([&] {
              RestartingEngine(stateful({"killed-at-start", "1000", faults.path()}));
            }));
  EXPECT_EQ(faults.count(), 4U);
}

TEST(RestartingEngine, NonsenseIsRepeatedByAFreshWorker) {
  for (const char* fault : {"energy-1e308", "other-sum", "far-density", "deep-json"}) {
    const FaultFile faults;
    const CapturedLog log;
    RestartingEngine engine(stateful({fault, "1", faults.path()}));
    EXPECT_EQ(energies(engine), (std::vector<double>{10.0, 5.5, -12.25})) << fault;
    EXPECT_EQ(engine.restarts(), 1U) << fault;
  }
}

TEST(RestartingEngine, OtherFailureAtTheStartIsNotRepeated) {
  int starts = 0;
  for (const char* behaviour : {"dies-at-once", "wrong-version"}) {
    const auto make = factory({workers + "fake_worker.py", behaviour});
    EXPECT_THROW(RestartingEngine([&](const std::shared_ptr<CancelSignal>& signal) {
                   ++starts;
                   return make(signal);
                 }),
                 WorkerLost);
  }
  EXPECT_EQ(starts, 2);
}

TEST(RestartingEngine, OtherPointsAreRefused) {
  const FaultFile faults;
  const CapturedLog log;
  RestartingEngine engine(stateful({"other-points", "1", faults.path()}));
  update(engine, 2.0);
  expect_in("other quadrature points", message_of([&] { update(engine, 0.1); }));
}

TEST(RestartingEngine, AWorkerWithoutStateStartsAfresh) {
  const CapturedLog log;
  RestartingEngine engine(factory({workers + "fake_worker.py", "good"}));
  update(engine, 2.0);
  EXPECT_TRUE(engine.state().empty());
  engine.restore({});
  const std::string message = message_of([&] { engine.restore(std::vector<double>{1.0, 2.0}); });
  expect_in("engine fake has no state", message);
}

TEST(RestartingEngine, RestoredItGoesOnAsBefore) {
  RestartingEngine first(stateful());
  update(first, 2.0);
  const std::vector<double> state = first.state();
  const double expected = update(first, 0.1).energy_kj_per_mol;
  const FaultFile faults;
  const CapturedLog log;
  for (const char* fault : {"", "killed-mid-update"}) {
    RestartingEngine second(stateful({fault, "1", faults.path()}));
    second.restore(state);
    EXPECT_EQ(second.state(), state);
    EXPECT_EQ(update(second, 0.1).energy_kj_per_mol, expected) << fault;
    EXPECT_EQ(second.state(), first.state());
    second.restore({});
    EXPECT_TRUE(second.state().empty());
    EXPECT_EQ(update(second, 2.0).energy_kj_per_mol, 10.0);
  }
  RestartingEngine third(stateful());
  const std::string message = message_of([&] { third.restore(std::vector<double>(3, 1.0)); });
  expect_in("two numbers, found 3", message);
  EXPECT_TRUE(third.state().empty());
}

/// Cancels half a second after `work` has begun, which must then end soon.
void expect_cancelled(QmEngine& engine, const std::function<void()>& work) {
  Clock::time_point cancelled;
  std::jthread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    cancelled = Clock::now();
    engine.cancel();
  });
  EXPECT_THROW(work(), Cancelled);
  canceller.join();
  EXPECT_GE(Clock::now(), cancelled);
  EXPECT_LT(Clock::now() - cancelled, std::chrono::seconds(1));
}

TEST(RestartingEngine, CancelEndsAnUpdate) {
  for (const char* behaviour : {"hangs", "never-reads-update"}) {
    RestartingEngine engine(factory({workers + "fake_worker.py", behaviour}));
    expect_cancelled(engine, [&] { update(engine, 2.0); });
    EXPECT_THROW(update(engine, 2.0), Cancelled);
    EXPECT_EQ(engine.restarts(), 0U);
  }
}

TEST(RestartingEngine, CancelKillsTheWorker) {
  WorkerEngine engine({{"/usr/bin/python3", workers + "fake_worker.py", "hangs"}, 20}, hydrogen());
  expect_cancelled(engine, [&] { update(engine, 2.0); });
  EXPECT_EQ(kill(engine.process_id(), 0), -1);
}

TEST(RestartingEngine, CancelEndsARestart) {
  const CapturedLog log;
  const auto good = factory({workers + "fake_worker.py", "killed-mid-update"});
  const auto silent = factory({workers + "fake_worker.py", "never-answers"});
  int starts = 0;
  RestartingEngine engine([&](const std::shared_ptr<CancelSignal>& signal) {
    return ++starts == 1 ? good(signal) : silent(signal);
  });
  expect_cancelled(engine, [&] { update(engine, 2.0); });
  EXPECT_EQ(starts, 2);
}

}  // namespace
}  // namespace starpmc
