#include "qm/device_server.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "qm/make_engine.hpp"
#include "tests/test_folders.hpp"

namespace starpmc {
namespace {

namespace fs = std::filesystem;

/// While it lives, variables of the environment are others.
class ChangedEnvironment {
 public:
  ~ChangedEnvironment() {
    for (const auto& [name, value] : before_) {
      if (value) {
        setenv(name.c_str(), value->c_str(), 1);
      } else {
        unsetenv(name.c_str());
      }
    }
  }
  void set(const std::string& name, const std::string& value) {
    keep(name);
    setenv(name.c_str(), value.c_str(), 1);
  }
  void unset(const std::string& name) {
    keep(name);
    unsetenv(name.c_str());
  }

 private:
  void keep(const std::string& name) {
    const char* const value = std::getenv(name.c_str());
    before_.try_emplace(name, value == nullptr ? std::nullopt : std::optional<std::string>(value));
  }
  std::map<std::string, std::optional<std::string>> before_;
};

/// One that has ended need not have been waited for.
bool process_runs(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.substr(name_end + 1, 2) != " Z";
}

/// A program of a test's own in place of nvidia-cuda-mps-control.
class DeviceServerTest : public testing::Test {
 protected:
  DeviceServerTest() {
    if (fs::exists("/tmp/nvidia-mps/control")) return;
    const std::string tests = source_folder().string() + "/tests/qm";
    for (const char* name : {"CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY", "STARPMC_MPS",
                             "CUDA_VISIBLE_DEVICES", "XDG_RUNTIME_DIR", "STARPMC_PYTHON"}) {
      environment_.unset(name);
    }
    environment_.set("PATH", tests + "/mps:/usr/bin:/bin");
    environment_.set("STARPMC_WORKERS", tests + "/served_workers");
    environment_.set("TMPDIR", folder_.path().string());
    environment_.set("FAKE_MPS_RECORD", (folder_.path() / "record").string());
    settings_.device = "gpu";
    settings_.python = "/usr/bin/python3";
    settings_.time_limit_seconds = 20;
  }

  void SetUp() override {
    if (fs::exists("/tmp/nvidia-mps/control")) GTEST_SKIP() << "the system has a daemon";
  }

  void fake(const std::string& how) { environment_.set("FAKE_MPS", how); }

  std::vector<nlohmann::json> record() const {
    std::vector<nlohmann::json> lines;
    std::ifstream file(folder_.path() / "record");
    for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }

  /// Names of the folders that servers have or have left behind.
  std::vector<std::string> server_folders() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("starpmc-mps-")) found.push_back(name);
    }
    return found;
  }

  std::unique_ptr<QmEngine> engine(std::shared_ptr<DeviceServer> server) const {
    Solute hydrogen;
    hydrogen.elements = {"H", "H"};
    hydrogen.atomic_numbers = {1, 1};
    hydrogen.positions = {{0, 0, 0}, {0.74, 0, 0}};
    EngineWatch watch;
    watch.server = std::move(server);
    return make_engine(settings_, hydrogen, watch);
  }

  static QmResult update(QmEngine& engine) {
    const std::vector<double> potential(engine.quadrature_points().size(), 2.0);
    return engine.update(potential, std::vector<double>{1.0, 1.5}, {});
  }

  static void expect_none(const std::string& why) {
    DeviceServer server;
    EXPECT_EQ(server.environment(), std::vector<std::string>());
    EXPECT_NE(server.description().find(why), std::string::npos) << server.description();
    EXPECT_NE(server.description().find("without"), std::string::npos) << server.description();
  }

  TemporaryFolder folder_;
  ChangedEnvironment environment_;
  Settings::QmSection settings_;
};

TEST_F(DeviceServerTest, ItServesAndEnds) {
  pid_t process = 0;
  {
    DeviceServer server;
    const auto variables = server.environment();
    EXPECT_EQ(server.description(), "QM workers share the GPU through an MPS server of their own");
    const auto started = record();
    ASSERT_EQ(started.size(), 1U);
    const std::string pipes = started[0].at("CUDA_MPS_PIPE_DIRECTORY");
    EXPECT_EQ(started[0].at("CUDA_MPS_LOG_DIRECTORY"), pipes);
    EXPECT_EQ(started[0].at("mode"), "0o700");
    process = started[0].at("started");
    EXPECT_EQ(started[0].at("group"), process);
    EXPECT_EQ(variables,
              (std::vector<std::string>{"CUDA_MPS_PIPE_DIRECTORY=" + pipes, "STARPMC_OWN_MPS=1"}));
    EXPECT_EQ(server.environment(), variables);
    EXPECT_EQ(std::getenv("CUDA_MPS_PIPE_DIRECTORY"), nullptr);
    EXPECT_EQ(fs::path(pipes).parent_path(), folder_.path());
  }
  const auto lines = record();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1].at("told"), "quit\n");
  EXPECT_EQ(lines[1].at("pipes"), lines[0].at("CUDA_MPS_PIPE_DIRECTORY"));
  EXPECT_EQ(lines[2].at("ended"), "quit");
  EXPECT_FALSE(process_runs(process));
  EXPECT_EQ(server_folders(), std::vector<std::string>());
}

TEST_F(DeviceServerTest, OneThatDoesNotServeIsDoneWithout) {
  fake("fails");
  expect_none("has ended at once: said on standard output");
  fake("silent");
  expect_none("has made no socket within 2 s");
  for (const auto& line : record()) {
    if (!line.contains("started")) continue;
    EXPECT_FALSE(process_runs(line.at("started")));
  }
  EXPECT_EQ(server_folders(), std::vector<std::string>());
}

TEST_F(DeviceServerTest, OneThatDoesNotQuitIsEnded) {
  fake("deaf");
  const auto begun = std::chrono::steady_clock::now();
  {
    DeviceServer server;
    server.environment();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(8));
  EXPECT_FALSE(process_runs(record().at(0).at("started")));
  EXPECT_EQ(server_folders(), std::vector<std::string>());
}

TEST_F(DeviceServerTest, WhatSpeaksAgainstIt) {
  environment_.set("STARPMC_MPS", "0");
  expect_none("STARPMC_MPS=0");
  environment_.unset("STARPMC_MPS");
  environment_.set("CUDA_MPS_PIPE_DIRECTORY", "/somewhere");
  expect_none("CUDA_MPS_PIPE_DIRECTORY is set");
  environment_.unset("CUDA_MPS_PIPE_DIRECTORY");
  environment_.set("CUDA_VISIBLE_DEVICES", "MIG-1");
  expect_none("CUDA_VISIBLE_DEVICES=MIG-1");
  environment_.unset("CUDA_VISIBLE_DEVICES");
  environment_.set("PATH", folder_.path().string());
  if (!fs::exists("/usr/bin/nvidia-cuda-mps-control") &&
      !fs::exists("/usr/local/nvidia/bin/nvidia-cuda-mps-control")) {
    expect_none("no nvidia-cuda-mps-control in PATH");
  }
  EXPECT_TRUE(record().empty());
}

/// A socket's path is short.
TEST_F(DeviceServerTest, ItsFolderHasAShortName) {
  const fs::path deep = folder_.path() / std::string(80, 'd');
  fs::create_directory(deep);
  environment_.set("TMPDIR", deep.string());
  DeviceServer server;
  ASSERT_FALSE(server.environment().empty()) << server.description();
  const std::string pipes = record().at(0).at("CUDA_MPS_PIPE_DIRECTORY");
  EXPECT_EQ(pipes.substr(0, 17), "/tmp/starpmc-mps-");
}

TEST_F(DeviceServerTest, WhereItIsOfUse) {
  EXPECT_NE(start_device_server(settings_, 2), nullptr);
  EXPECT_EQ(start_device_server(settings_, 1), nullptr);
  settings_.device = "auto";
  EXPECT_NE(start_device_server(settings_, 2), nullptr);
  settings_.device = "cpu";
  EXPECT_EQ(start_device_server(settings_, 2), nullptr);
  settings_.device = "gpu";
  for (const char* engine : {"psi4", "frozen", "none"}) {
    settings_.engine = engine;
    EXPECT_EQ(start_device_server(settings_, 2), nullptr) << engine;
  }
}

TEST(VisibleBehindServer, NumbersAreCountedAnew) {
  EXPECT_EQ(visible_behind_server("0"), "0");
  EXPECT_EQ(visible_behind_server("3"), "0");
  EXPECT_EQ(visible_behind_server("5, 2,7"), "0,1,2");
  EXPECT_EQ(visible_behind_server("GPU-8932,GPU-11"), "GPU-8932,GPU-11");
  for (const char* none : {"", "-1", "0,-1", "MIG-GPU-1", "GPU-1,2", "NoDevFiles", "0,,1"}) {
    EXPECT_EQ(visible_behind_server(none), std::nullopt) << none;
  }
}

/// The program dies, and with it the server.
TEST_F(DeviceServerTest, ItGoesWithTheProgram) {
  const pid_t program = fork();
  if (program == 0) {
    DeviceServer server;
    server.environment();
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(program, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  const pid_t process = record().at(0).at("started");
  for (int tries = 0; process_runs(process) && tries < 500; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_FALSE(process_runs(process));
}

TEST_F(DeviceServerTest, WorkersAreBehindIt) {
  environment_.set("CUDA_VISIBLE_DEVICES", "2,3");
  const auto server = start_device_server(settings_, 2);
  const auto first = engine(server);
  const auto second = engine(server);
  const auto lines = record();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].at("CUDA_VISIBLE_DEVICES"), "2,3");
  const std::string pipes = lines[0].at("CUDA_MPS_PIPE_DIRECTORY");
  const std::string served =
      "a GPU, served: CUDA_MPS_PIPE_DIRECTORY=" + pipes + ", CUDA_VISIBLE_DEVICES=0,1";
  EXPECT_EQ(first->device(), served);
  EXPECT_EQ(second->device(), served);
  EXPECT_EQ(engine(nullptr)->device(), "a GPU, alone: CUDA_VISIBLE_DEVICES=2,3");
  settings_.device = "cpu";
  EXPECT_EQ(engine(server)->device(), "a GPU, alone: CUDA_VISIBLE_DEVICES=2,3");
}

TEST_F(DeviceServerTest, WorkersThatFindNoGpuBehindItDoWithout) {
  environment_.set("SERVED_WORKER", "refuses");
  environment_.set("CUDA_VISIBLE_DEVICES", "2,3");
  const auto server = start_device_server(settings_, 2);
  for (int repetition = 0; repetition < 2; ++repetition) {
    const auto alone = engine(server);
    EXPECT_EQ(alone->device(), "a GPU, alone: CUDA_VISIBLE_DEVICES=2,3");
    EXPECT_EQ(alone->restarts(), 0U);
  }
  EXPECT_TRUE(server->given_up());
  EXPECT_NE(server->description().find("no server there"), std::string::npos);
}

TEST_F(DeviceServerTest, WorkersThatItKeepsWaitingDoWithout) {
  environment_.set("SERVED_WORKER", "hangs");
  const auto alone = engine(start_device_server(settings_, 2));
  EXPECT_EQ(alone->device(), "a GPU, alone: ");
  EXPECT_EQ(alone->restarts(), 1U);
}

TEST_F(DeviceServerTest, WorkersThatLoseItGoOnWithout) {
  for (const char* fault : {"loses", "dies"}) {
    environment_.set("SERVED_WORKER", fault);
    const auto server = start_device_server(settings_, 2);
    const auto one = engine(server);
    EXPECT_TRUE(one->device().starts_with("a GPU, served: ")) << one->device();
    EXPECT_EQ(update(*one).energy_kj_per_mol, -100.0);
    EXPECT_EQ(one->device(), "a GPU, alone: ") << fault;
    EXPECT_EQ(one->restarts(), 1U);
    // One that died of its own may have had another reason.
    EXPECT_EQ(server->given_up(), std::string(fault) == "loses");
  }
}

TEST_F(DeviceServerTest, OneThatHasEndedIsNotUsed) {
  const auto server = start_device_server(settings_, 2);
  ASSERT_FALSE(server->environment().empty());
  const pid_t process = record().at(0).at("started");
  kill(process, SIGKILL);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(engine(server)->device(), "a GPU, alone: ");
  EXPECT_NE(server->description().find("it has ended"), std::string::npos);
}

}  // namespace
}  // namespace starpmc
