#include "qm/spawn.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "kernels/base/error.hpp"
#include "qm/worker_engine.hpp"
#include "tests/test_folders.hpp"

namespace starpmc {
namespace {

const std::string workers = source_folder().string() + "/tests/qm/workers/";

QmRequest hydrogen() {
  QmRequest request;
  request.elements = {"H", "H"};
  request.positions = {{0, 0, 0}, {0.74, 0, 0}};
  return request;
}

/// Its updates take 0.5 s.
WorkerCommand slow_worker() {
  return {{"/usr/bin/python3", workers + "stateful_worker.py", "slow", "0.5"}, 20};
}

QmResult update(WorkerEngine& engine) {
  const std::vector<double> potential(engine.quadrature_points().size(), 2.0);
  return engine.update(potential, std::vector<double>{1.0, 1.5}, {});
}

cpu_set_t affinity_of(pid_t process) {
  cpu_set_t affinity;
  CPU_ZERO(&affinity);
  EXPECT_EQ(sched_getaffinity(process, sizeof(affinity), &affinity), 0);
  return affinity;
}

TEST(Spawn, AffinityIsTheProgramsNotTheThreads) {
  const cpu_set_t original = affinity_of(getpid());
  if (CPU_COUNT(&original) < 2) GTEST_SKIP() << "one core only";
  std::jthread([&] {
    int core = 0;
    while (!CPU_ISSET(core, &original)) ++core;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    WorkerEngine engine(slow_worker(), hydrogen());
    const cpu_set_t child = affinity_of(engine.process_id());
    EXPECT_TRUE(CPU_EQUAL(&child, &original));
    const cpu_set_t own = affinity_of(0);
    EXPECT_TRUE(CPU_EQUAL(&own, &one)) << "the thread keeps its binding";
  }).join();
}

TEST(Spawn, SignalsAreAsBefore) {
  sigset_t before;
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  const WorkerEngine engine(slow_worker(), hydrogen());
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int number = 1; number < SIGRTMIN; ++number) {
    EXPECT_EQ(sigismember(&before, number), sigismember(&after, number)) << number;
  }
}

volatile sig_atomic_t interrupts = 0;

/// A program with a process group of its own, as a shell gives it one, that survives Ctrl-C.
/// @return its exit status: 0 when the worker has finished its update all the same
int interrupted_program() {
  setpgid(0, 0);
  signal(SIGINT, [](int) { interrupts = interrupts + 1; });
  WorkerEngine engine(slow_worker(), hydrogen());
  if (getpgid(engine.process_id()) != engine.process_id()) return 3;
  std::jthread terminal([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    kill(0, SIGINT);
  });
  const QmResult result = update(engine);
  if (interrupts != 1) return 4;
  return result.energy_kj_per_mol == 10.0 ? 0 : 5;
}

TEST(Spawn, CtrlCReachesTheProgramOnly) {
  const pid_t program = fork();
  if (program == 0) {
    int status = 6;
    try {
      status = interrupted_program();
    } catch (const RunError& error) {
      fprintf(stderr, "%s\n", error.what());
    }
    _exit(status);
  }
  int status = 0;
  waitpid(program, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

pid_t program_id = 0;
std::atomic<int>* handled_by_children = nullptr;

/// Ctrl-C in the moment between fork() and setpgid() must neither end the child nor run the
/// program's handler there, which would tell the program of a second one: many tries.
TEST(Spawn, CtrlCWhileAWorkerStarts) {
  const pid_t program = fork();
  if (program == 0) {
    setpgid(0, 0);
    program_id = getpid();
    handled_by_children = new (mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0)) std::atomic<int>(0);
    signal(SIGINT, [](int) {
      if (getpid() != program_id) ++*handled_by_children;
    });
    std::jthread terminal([](const std::stop_token& stop) {
      while (!stop.stop_requested()) kill(0, SIGINT);
    });
    const FileDescriptor log(dup(STDERR_FILENO));
    int ended = 0;
    for (int repetition = 0; repetition < 200; ++repetition) {
      const SpawnedProcess child = spawn_process({"/bin/true"}, {}, log.get());
      int status = 0;
      while (waitpid(child.process_id, &status, 0) < 0) {
      }
      if (status != 0) ++ended;
    }
    terminal.request_stop();
    terminal.join();
    _exit(ended != 0 ? 1 : *handled_by_children != 0 ? 2 : 0);
  }
  int status = 0;
  waitpid(program, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

/// The kernel ties the child to the thread that started it; one that waits elsewhere is alive.
TEST(Spawn, AWorkerLivesAsLongAsTheThreadThatStartedIt) {
  std::promise<std::unique_ptr<WorkerEngine>> started;
  std::jthread starter([&](const std::stop_token& stop) {
    started.set_value(std::make_unique<WorkerEngine>(slow_worker(), hydrogen()));
    while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  });
  const std::unique_ptr<WorkerEngine> engine = started.get_future().get();
  EXPECT_EQ(update(*engine).energy_kj_per_mol, 10.0);
  EXPECT_EQ(update(*engine).energy_kj_per_mol, 15.0);
}

}  // namespace
}  // namespace starpmc
