#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "system/gromacs_data.hpp"
#include "system/solvated_files.hpp"
#include "tests/system/temporary_folder.hpp"

namespace starpmc::test {

inline std::string text_of(const std::filesystem::path& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// A request that writes into a folder of its own.
class SolvateCase : public testing::Test {
 protected:
  void SetUp() override {
    if (gromacs_folders().empty()) GTEST_SKIP() << "gromacs-data is not installed";
    request.output = folder / "out";
  }

  TemporaryFolder folder;
  SolvateRequest request;
};

}  // namespace starpmc::test
