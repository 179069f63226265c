#include "runtime/model_files.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/test_folders.hpp"

namespace starpmc {
namespace {

namespace fs = std::filesystem;

const fs::path models = source_folder() / "perfmodels/starpu-1.4";

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

fs::path some_model() { return models / "codelets/45/starpmc_metropolis_decide_fp64.2cpu-avx3"; }

TEST(ModelFiles, WhatStarpuHasWrittenIsSound) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(models / "codelets/45")) {
    EXPECT_EQ(problem_of_model(text_of(entry.path()), 45), "") << entry.path();
    ++count;
  }
  EXPECT_GT(count, 10);
  for (const char* machine : {"2cpu-avx3", "16cpu-avx3-nvidia_h200"}) {
    const std::string stem = (models / "bus" / machine).string();
    const std::string config = text_of(stem + ".config");
    EXPECT_EQ(problem_of_bus_config(config), "");
    EXPECT_EQ(problem_of_bus_affinity(text_of(stem + ".affinity"), config), "");
    EXPECT_EQ(problem_of_bus_matrix(text_of(stem + ".latency")), "");
    EXPECT_EQ(problem_of_bus_matrix(text_of(stem + ".bandwidth")), "");
  }
}

/// StarPU ends the process at any of these.
TEST(ModelFiles, NoBeginningOfAModelIsOne) {
  const std::string text = text_of(some_model());
  const std::size_t end = text.find_last_not_of('\n') + 1;  // the last line's own
  for (std::size_t length = 0; length < end; length += 7) {
    EXPECT_NE(problem_of_model(text.substr(0, length), 45), "") << length;
  }
  EXPECT_NE(problem_of_model(text.substr(0, end), 45), "");
}

TEST(ModelFiles, OtherContentIsRefused) {
  const std::string text = text_of(some_model());
  EXPECT_NE(problem_of_model(text, 44), "");
  EXPECT_NE(problem_of_model(text + text, 45), "");
  EXPECT_NE(problem_of_model("\x7f"
                             "ELF\n",
                             45),
            "");
  EXPECT_NE(problem_of_model("45\n99999999\n", 45), "");
  EXPECT_NE(problem_of_model("45\n1\n2000000000\n", 45), "") << "room on the stack in StarPU";
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    return problem_of_model(changed, 45);
  };
  EXPECT_NE(replaced("2.181650e+01", "-2.18165e+01"), "");
  EXPECT_NE(replaced("2.181650e+01", "nan         "), "");
  EXPECT_NE(replaced("2.181650e+01", "2.18x650e+01"), "");
  EXPECT_NE(replaced("00000032\t", "0000zz32\t"), "");
}

TEST(ModelFiles, DamagedBusFilesAreRefused) {
  const std::string stem = (models / "bus/16cpu-avx3-nvidia_h200").string();
  const std::string config = text_of(stem + ".config");
  const std::string matrix = text_of(stem + ".latency");
  for (const std::string& damaged : {std::string(), matrix.substr(0, matrix.size() / 2),
                                     matrix + matrix, "-" + matrix, "x\n" + matrix}) {
    EXPECT_NE(problem_of_bus_matrix(damaged), "");
  }
  EXPECT_NE(problem_of_bus_config(""), "");
  EXPECT_NE(problem_of_bus_config("# Current configuration\n"), "");
  EXPECT_NE(problem_of_bus_config("16 # Number of CPUs\nmany # Number of NUMA nodes\n"), "");
  EXPECT_NE(problem_of_bus_affinity("", config), "");
  EXPECT_NE(problem_of_bus_affinity("# GPU\tNUMA0\t\n", config), "") << "a device is missing";
  EXPECT_NE(problem_of_bus_affinity("# GPU\tNUMA0\t\n1\t0\t\n", config), "") << "not device 0";
  EXPECT_NE(problem_of_bus_affinity("# GPU\tNUMA0\t\n0\t7\t\n", config), "") << "no such memory";
}

}  // namespace
}  // namespace starpmc
