#include "qm/shared_device.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "qm/errors.hpp"
#include "qm/worker_engine.hpp"
#include "tests/test_folders.hpp"

namespace starpmc {
namespace {

/// Workers that keep in a file what they were asked.
class DeviceWorkers : public testing::Test {
 protected:
  ~DeviceWorkers() override { std::filesystem::remove(file_); }

  WorkerCommand worker(const std::string& choice, const std::string& fault = "") const {
    WorkerCommand command;
    command.command = {"/usr/bin/python3",
                       source_folder().string() + "/tests/qm/workers/device_worker.py",
                       file_.string(), choice, fault};
    command.time_limit_seconds = 20;
    return command;
  }

  static QmRequest asking(const std::string& device) {
    QmRequest request;
    request.elements = {"H", "H"};
    request.positions = {{0, 0, 0}, {0.74, 0, 0}};
    request.device = device;
    return request;
  }

  /// What four workers that start beside each other say of their device.
  static std::vector<std::string> started_together(SharedDevice& device,
                                                   const WorkerCommand& command,
                                                   const std::string& asked) {
    std::vector<std::string> said(4);
    {
      std::vector<std::jthread> threads;
      for (std::string& one : said) {
        threads.emplace_back([&] { one = device.start(command, asking(asked), false)->device(); });
      }
    }
    return said;
  }

  std::string asked() const {
    std::ifstream file(file_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path file_ = std::filesystem::temp_directory_path() /
                                ("starpmc-device-workers-" + std::to_string(getpid()));
};

using SharedDeviceTest = DeviceWorkers;

TEST_F(SharedDeviceTest, TheFirstChoosesForAll) {
  SharedDevice device(4);
  const auto said = started_together(device, worker("gpu"), "auto");
  EXPECT_EQ(said, std::vector<std::string>(4, "a GPU: 4 workers, required"));
  EXPECT_EQ(asked(), "auto gpu gpu gpu ");
}

TEST_F(SharedDeviceTest, TheFirstChoosesTheCpu) {
  SharedDevice device(4);
  const auto said = started_together(device, worker("cpu"), "auto");
  EXPECT_EQ(said, std::vector<std::string>(4, "CPU (why not): 4 workers, required"));
  EXPECT_EQ(asked(), "auto cpu cpu cpu ");
}

TEST_F(SharedDeviceTest, WhatIsSetIsPassedOn) {
  SharedDevice device;
  EXPECT_EQ(device.start(worker("cpu"), asking("gpu"), false)->device(),
            "a GPU: 1 workers, required");
  EXPECT_EQ(device.start(worker("gpu"), asking("cpu"), false)->device(),
            "CPU (why not): 1 workers, required");
}

TEST_F(SharedDeviceTest, OneThatReplacesAnotherIsToldButMayDoWithout) {
  SharedDevice device;
  device.start(worker("gpu"), asking("auto"), false);
  EXPECT_EQ(device.start(worker("gpu"), asking("auto"), true)->device(),
            "a GPU: 1 workers, or not");
  EXPECT_EQ(asked(), "auto gpu ");
}

TEST_F(SharedDeviceTest, AfterOneThatDiesTheNextChooses) {
  SharedDevice device;
  EXPECT_THROW(device.start(worker("gpu", "dies"), asking("auto"), false), RunError);
  EXPECT_EQ(device.start(worker("gpu", "dies"), asking("auto"), false)->device(),
            "a GPU: 1 workers, required");
  EXPECT_EQ(asked(), "auto auto ");
}

TEST(Device, IsAGpuOrNot) {
  EXPECT_TRUE(is_gpu("NVIDIA H100"));
  EXPECT_FALSE(is_gpu("CPU"));
  EXPECT_FALSE(is_gpu("CPU (no GPU)"));
  EXPECT_FALSE(is_gpu(""));
}

}  // namespace
}  // namespace starpmc
