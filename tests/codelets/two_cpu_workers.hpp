#pragma once

#include <gtest/gtest.h>
#include <starpu.h>

#include <cstdlib>

#include "runtime/task_history.hpp"
#include "tests/io/temporary_folder.hpp"

namespace starpmc::test {

/// A StarPU that a test starts has two CPU workers, no device, and a folder of its own.
class TwoCpuWorkers : public testing::Test {
 protected:
  TwoCpuWorkers() {
    setenv("STARPU_HOME", folder_.path().c_str(), 1);
    setenv("STARPU_NCPU", "2", 1);
    setenv("STARPU_NOPENCL", "0", 1);
    setenv("STARPU_SILENT", "1", 1);
    unsetenv("STARPU_CALIBRATE");
  }

 private:
  TemporaryFolder folder_;
};

/// The same, and StarPU runs.
class StartedWorkers : public TwoCpuWorkers {
 protected:
  void SetUp() override { ASSERT_EQ(starpu_init(nullptr), 0); }
  void TearDown() override {
    codelets::TaskHistory::forget_all();
    starpu_shutdown();
  }
};

}  // namespace starpmc::test
