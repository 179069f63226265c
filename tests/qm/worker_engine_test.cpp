#include "qm/worker_engine.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

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
#include "qm/errors.hpp"
#include "tests/test_folders.hpp"

namespace starpmc {
namespace {

const std::string fake_worker = source_folder().string() + "/tests/qm/workers/fake_worker.py";

WorkerCommand command(const std::string& behaviour, double limit = 20) {
  return {{"/usr/bin/python3", fake_worker, behaviour}, limit};
}

QmRequest hydrogen() {
  QmRequest request;
  request.elements = {"H", "H"};
  request.positions = {{0, 0, 0}, {0.74, 0, 0}};
  return request;
}

QmResult update(WorkerEngine& engine) {
  const std::vector<double> potential(engine.quadrature_points().size(), 2.0);
  return engine.update(potential, std::vector<double>{1.0, 1.5}, {});
}

/// Starts, updates, and returns the message of the RunError that must come.
std::string run_error(const std::string& behaviour, double limit = 20) {
  const auto start = std::chrono::steady_clock::now();
  std::string message;
  try {
    WorkerEngine engine(command(behaviour, limit), hydrogen());
    update(engine);
    ADD_FAILURE() << behaviour << ": no error";
  } catch (const RunError& error) {
    message = error.what();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10)) << behaviour;
  // Every child has been reaped.
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << behaviour;
  return message;
}

void expect_in(const std::string& part, const std::string& whole) {
  EXPECT_NE(whole.find(part), std::string::npos) << "no '" << part << "' in: " << whole;
}

TEST(WorkerEngine, WhatIsNoWorkerIsNamed) {
  for (const std::string program : {"/bin/true", "/bin/echo"}) {
    try {
      const WorkerEngine engine({{program, fake_worker}, 20}, hydrogen());
      ADD_FAILURE() << program << ": no error";
    } catch (const RunError& error) {
      expect_in(fmt::format("it was started as '{} {}'", program, fake_worker), error.what());
      expect_in("qm.python", error.what());
    }
  }
}

TEST(WorkerEngine, GoodWorkerIsUnderstood) {
  WorkerEngine engine(command("good"), hydrogen());
  EXPECT_EQ(engine.name(), "fake");
  EXPECT_EQ(engine.version(), "0.1");
  EXPECT_EQ(engine.basis_functions(), 7);
  ASSERT_EQ(engine.quadrature_points().size(), 5U);
  EXPECT_EQ(engine.quadrature_points().z[4], 0.25);
  for (int repetition = 0; repetition < 3; ++repetition) {
    const QmResult result = update(engine);
    EXPECT_EQ(result.energy_kj_per_mol, -100.0);
    EXPECT_EQ(result.iterations, 4);
    EXPECT_EQ(result.expected_electrons, 2);
    EXPECT_EQ(result.dipole_debye[2], 1.0);
    EXPECT_EQ(result.fallback, "level shift");
    EXPECT_EQ(result.peak_memory_mb, 12.5);
    EXPECT_EQ(result.interaction_kj_per_mol(), -30.0);
    EXPECT_EQ(result.interaction_nuclei_kj_per_mol, -50.0);
    EXPECT_EQ(result.previous_interaction_kj_per_mol, -29.0);
    EXPECT_EQ(result.isolated_energy_kj_per_mol, -68.0);
    EXPECT_EQ(result.isolated_dipole_debye, (std::array<double, 3>{0.0, 0.5, 0.0}));
    EXPECT_EQ(result.polarisation_energy_kj_per_mol, -2.0);
    ASSERT_EQ(result.grid.size(), 3U);
    EXPECT_EQ(result.grid.x, (std::vector<double>{10.0, 2.5, 0.0}));
    EXPECT_EQ(result.grid.charge, (std::vector<double>(3, -2.0 / 3)));
    EXPECT_EQ(result.grid.extent, (std::vector<double>(3, 0.25)));
  }
}

TEST(WorkerEngine, ItsForecastIsToldOnce) {
  std::vector<QmForecast> told;
  WorkerCommand heard = command("good");
  heard.on_forecast = [&](const QmForecast& forecast) { told.push_back(forecast); };
  WorkerEngine engine(heard, hydrogen());
  update(engine);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].basis_functions, 7);
  EXPECT_EQ(told[0].memory_mb, 300.0);
  EXPECT_EQ(told[0].first_seconds, 4.0);
  EXPECT_EQ(told[0].update_seconds, 2.0);
  EXPECT_FALSE(told[0].repeatable);
}

TEST(WorkerEngine, OptionalFieldsMayBeMissing) {
  WorkerEngine engine(command("terse"), hydrogen());
  const QmResult result = update(engine);
  EXPECT_EQ(result.fallback, "");
  EXPECT_EQ(result.peak_memory_mb, 0.0);
  EXPECT_FALSE(result.interaction_kj_per_mol().has_value());
  EXPECT_FALSE(result.previous_interaction_kj_per_mol.has_value());
  EXPECT_FALSE(result.isolated_dipole_debye.has_value());
}

TEST(WorkerEngine, ItsStartCanBeCancelled) {
  for (const char* silent : {"never-answers", "never-reads"}) {
    WorkerCommand cancellable = command(silent);
    cancellable.cancel_signal = std::make_shared<CancelSignal>();
    std::jthread canceller([cancel = cancellable.cancel_signal] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      cancel->raise();
    });
    const auto start = std::chrono::steady_clock::now();
    EXPECT_THROW(WorkerEngine(cancellable, hydrogen()), Cancelled) << silent;
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10)) << silent;
  }
}

TEST(WorkerEngine, NoProcessIsLeftByAGoodWorker) {
  pid_t process = 0;
  {
    WorkerEngine engine(command("good"), hydrogen());
    process = engine.process_id();
    EXPECT_EQ(kill(process, 0), 0);
  }
  EXPECT_EQ(kill(process, 0), -1);
}

TEST(WorkerEngine, DeathIsReportedWithTheLastLines) {
  for (const char* behaviour : {"dies-at-once", "dies-mid-update", "dies-before-update"}) {
    const std::string message = run_error(behaviour);
    expect_in("exit status 3", message);
    expect_in("eaten the integrals", message);
    expect_in("complaint 29", message);
    EXPECT_EQ(message.find("complaint 5\n"), std::string::npos) << "more than the last lines";
  }
  expect_in("signal 11", run_error("killed-mid-update"));
}

TEST(WorkerEngine, SilenceEndsAtTheTimeLimit) {
  for (const char* behaviour : {"never-answers", "hangs", "never-reads", "never-reads-update"}) {
    expect_in("qm.time-limit", run_error(behaviour, 0.6));
  }
}

TEST(WorkerEngine, GarbageIsRefused) {
  expect_in("not JSON", run_error("garbage"));
  expect_in("cycle= 1", run_error("garbage"));
  expect_in("endless line", run_error("endless-line"));
  expect_in("not JSON", run_error("nan-header"));
  expect_in("not JSON", run_error("huge-number"));
  expect_in("absurd size", run_error("absurd-size"));
  expect_in("badly", run_error("negative-size"));
  expect_in("exit status 0", run_error("half-array"));
  expect_in("electrons_on_grid", run_error("missing-field"));
  expect_in("'ready' where 'result'", run_error("wrong-type"));
  expect_in("wrong shape (4, 3)", run_error("wrong-shape"));
  expect_in("wrong shape (2, 5)", run_error("wrong-points"));
  expect_in("grid is missing", run_error("no-grid"));
  expect_in("non-finite", run_error("nan-array"));
  expect_in("version 2", run_error("wrong-version"));
}

TEST(WorkerEngine, NoConvergenceIsAnError) {
  expect_in("no solution in 100 iterations", run_error("not-converged"));
  expect_in("did not converge", run_error("not-converged-flag"));
}

TEST(WorkerEngine, WhatTheUserCanMendIsAnInputError) {
  EXPECT_THROW(WorkerEngine(command("bad-request"), hydrogen()), InputError);
  try {
    WorkerEngine engine(command("missing"), hydrogen());
    FAIL();
  } catch (const InputError& error) {
    expect_in("No module named 'pyscf'", error.what());
    expect_in("./quickstart setup", error.what());
  }
}

TEST(WorkerEngine, TheWorkerIsToldOfTheCharges) {
  WorkerEngine engine(command("mirror"), hydrogen());
  const std::vector<double> potential(5, 2.0);
  const std::vector<double> nuclear(2, 1.0);
  const PointCharges charges{{{1, 2, 3}, {4, 5, 6}}, {0.4, -0.8}, 0.75, {20, 21, 22}};
  const QmResult result = engine.update(potential, nuclear, charges);
  EXPECT_EQ(result.polarisation_energy_kj_per_mol, 0.75);
  EXPECT_EQ(result.isolated_dipole_debye, (std::array<double, 3>{20, 21, 22}));
  EXPECT_EQ(result.dipole_debye[2], 6);
  EXPECT_EQ(result.energy_kj_per_mol, -0.8);
}

TEST(WorkerEngine, NonFiniteOrWrongInputNeverReachesTheWorker) {
  WorkerEngine engine(command("good"), hydrogen());
  const std::vector<double> nuclear(2, 0.0);
  EXPECT_THROW(engine.update(std::vector<double>(5, NAN), nuclear, {}), RunError);
  EXPECT_THROW(engine.update(std::vector<double>(4, 0.0), nuclear, {}), RunError);
  EXPECT_THROW(engine.update(std::vector<double>(5, 0.0), std::vector<double>(3), {}), RunError);
  EXPECT_THROW(engine.update(std::vector<double>(5, 0.0), nuclear, {{{0, 0, 0}}, {}}), RunError);
}

TEST(WorkerEngine, StandardErrorGoesToTheLog) {
  WorkerEngine engine(command("dies-mid-update"), hydrogen());
  EXPECT_THROW(update(engine), WorkerLost);
  EXPECT_TRUE(engine.log().starts_with("complaint 0\n")) << engine.log();
}

/// Under mpirun or srun a worker is no rank, and its threads go where they like.
TEST(WorkerEngine, TheWorkerHasNoRankAndItsThreadsAreNotBound) {
  const std::vector<std::string> of_the_rank = {"OMPI_COMM_WORLD_SIZE",
                                                "OMPI_MCA_ess",
                                                "PMIX_RANK",
                                                "PMI_RANK",
                                                "PMI_FD",
                                                "ORTE_SCHIZO",
                                                "PRTE_LAUNCHED",
                                                "MPI_LOCALRANKID",
                                                "SLURM_PROCID",
                                                "SLURM_STEP_ID",
                                                "SLURM_STEPID",
                                                "SLURM_STEP_NUM_TASKS",
                                                "SLURM_LOCALID",
                                                "SLURM_PMIX_MAPPING",
                                                "OMP_PLACES",
                                                "GOMP_CPU_AFFINITY",
                                                "KMP_AFFINITY"};
  const std::vector<std::string> others = {"SLURM_JOB_ID", "OMP_STACKSIZE", "PMIXED"};
  for (const auto* names : {&of_the_rank, &others}) {
    for (const std::string& name : *names) setenv(name.c_str(), "7", 1);
  }
  setenv("OMP_PROC_BIND", "close", 1);
  WorkerEngine engine(command("says-environment"), hydrogen());
  update(engine);
  const std::string variables = "\n" + engine.log();
  for (const std::string& name : of_the_rank) {
    EXPECT_EQ(variables.find("\n" + name + "="), std::string::npos) << name;
    unsetenv(name.c_str());
  }
  for (const std::string& name : others) {
    expect_in("\n" + name + "=7\n", variables);
    unsetenv(name.c_str());
  }
  expect_in("\nOMP_PROC_BIND=false\n", variables);
  unsetenv("OMP_PROC_BIND");
}

TEST(WorkerEngine, WhatNoCalculationGivesIsRefused) {
  const std::pair<const char*, const char*> answers[] = {
      {"energy-1e308", "its energy is 1e+308 kJ/mol"},
      {"energy-of-others", "its energy is -1e+07 kJ/mol"},
      {"isolated-energy", "its isolated_energy is 1e+300"},
      {"dipole-1e308", "its dipole"},
      {"isolated-dipole", "its isolated_dipole"},
      {"seconds-1e308", "its seconds_scf is 1e+308"},
      {"negative-memory", "its memory_mb is -1"},
      {"iterations-1e300", "field iterations"},
      {"iterations-true", "field iterations"},
      {"energy-true", "field energy"},
      {"other-sum", "has 60 electrons, it announces 2"},
      {"huge-charges", "has 1e+308 e of positive charge"},
      {"both-signs", "5 e of positive charge"},
      {"positive-density", "it announces -2 electrons, where 2 are due"},
      {"many-electrons", "it announces 20 electrons, where 2 are due"},
      {"far-density", "0.666667 electrons of its density grid are more than 15 A"},
      {"far-point", "its density point 2 is inf A"},
      {"far-points", "its quadrature point 0 is"},
      {"other-electrons", "it expects 16 electrons; elements and charge make 2"},
  };
  for (const auto& [behaviour, message] : answers) {
    expect_in(message, run_error(behaviour));
    EXPECT_THROW(update(*std::make_unique<WorkerEngine>(command(behaviour), hydrogen())),
                 WorkerLost);
  }
}

TEST(WorkerEngine, MorePointsThanTheGridHasAreRefused) {
  QmRequest request = hydrogen();
  request.grid_radial = request.grid_angular = 1;
  WorkerEngine coarse(command("terse"), request);
  try {
    update(coarse);
    FAIL();
  } catch (const WorkerLost& error) {
    expect_in("its density grid has 3 points, the one asked for 2", error.what());
  }
  request = hydrogen();
  request.scf_grid_radial = request.scf_grid_angular = 1;
  EXPECT_THROW(WorkerEngine(command("terse"), request), WorkerLost);
}

TEST(WorkerEngine, DeepNestingIsRefused) {
  expect_in("nested more than 100 deep", run_error("deep-json"));
}

TEST(WorkerEngine, WhatItSaysIsFitForATerminal) {
  const std::string message = run_error("escapes");
  expect_in("\\x1b[2Jgone\\xc2\\x9b31m", message);
  expect_in("\\x1b]0;title\\x07\\x1b[31mred", message);
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
}

TEST(WorkerEngine, AFloodOnStandardErrorIsBounded) {
  WorkerEngine engine(command("floods"), hydrogen());
  update(engine);  // 147 MB of it
  const std::string log = engine.log();
  EXPECT_LE(log.size(), WorkerLog::kMostBytes + 100);
  expect_in("bytes before this are left out", log);
  EXPECT_TRUE(log.ends_with("much ado about nothing\nthe end\n"));
}

/// Gone, or a zombie that waits for whoever adopts orphans.
bool has_ended(pid_t process) {
  std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
  std::string number;
  std::string name;
  std::string state;
  return !(stat >> number >> name >> state) || state == "Z";
}

TEST(WorkerEngine, ItsChildrenAndFilesGoWithIt) {
  for (const char* behaviour : {"leaves-things", "leaves-things-killed"}) {
    pid_t child = 0;
    std::string file;
    {
      WorkerEngine engine(command(behaviour), hydrogen());
      std::istringstream left(update(engine).fallback);
      left >> child >> file;
      EXPECT_FALSE(has_ended(child));
      EXPECT_TRUE(std::filesystem::exists(file)) << file;
      if (std::string(behaviour).ends_with("killed")) {
        EXPECT_THROW(update(engine), WorkerKilled);
      }
    }
    for (int wait = 0; wait < 500 && !has_ended(child); ++wait) usleep(10000);
    EXPECT_TRUE(has_ended(child)) << behaviour;
    EXPECT_FALSE(std::filesystem::exists(file)) << file;
    EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(file).parent_path())) << file;
  }
}

TEST(WorkerEngine, MissingProgramIsReported) {
  WorkerCommand wrong = command("good");
  wrong.command[0] = "/nonexistent/python3";
  try {
    WorkerEngine engine(wrong, hydrogen());
    FAIL();
  } catch (const RunError& error) {
    expect_in("/nonexistent/python3: No such file", error.what());
  }
}

TEST(WorkerEngine, AKilledProgramLeavesNoWorker) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t program = fork();
  if (program == 0) {
    WorkerEngine engine(command("good"), hydrogen());
    const pid_t worker = engine.process_id();
    if (write(ends[1], &worker, sizeof(worker)) != sizeof(worker)) _exit(1);
    pause();
  }
  pid_t worker = 0;
  ASSERT_EQ(read(ends[0], &worker, sizeof(worker)), static_cast<ssize_t>(sizeof(worker)));
  kill(program, SIGKILL);
  waitpid(program, nullptr, 0);
  for (int wait = 0; wait < 500 && !has_ended(worker); ++wait) usleep(10000);
  EXPECT_TRUE(has_ended(worker));
  close(ends[0]);
  close(ends[1]);
}

TEST(CheckElectrons, NamesTheTolerance) {
  QmResult result;
  result.expected_electrons = 118;
  result.electrons_on_grid = 117.9995;
  EXPECT_NO_THROW(check_electrons(result, 1e-3));
  for (const double electrons : {117.99, 118.01, static_cast<double>(NAN)}) {
    result.electrons_on_grid = electrons;
    try {
      check_electrons(result, 1e-3);
      FAIL();
    } catch (const RunError& error) {
      expect_in("qm.electron-tolerance", error.what());
    }
  }
}

}  // namespace
}  // namespace starpmc
