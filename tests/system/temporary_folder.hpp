#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "kernels/base/error.hpp"
#include "tests/test_folders.hpp"

namespace starpmc::test {

/// A folder of the test's own, removed at its end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string(test->test_suite_name()) + "-" + test->name();
    for (char& c : name) {
      if (c == '/') c = '_';
    }
    path_ = std::filesystem::temp_directory_path() /
            ("starpmc-" + name + "-" + std::to_string(::getpid()));
    std::filesystem::create_directories(path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

  std::filesystem::path write(std::string_view name, std::string_view text) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }

 private:
  std::filesystem::path path_;
};

/// The message of the InputError that `action` must throw.
template <typename Action>
std::string input_error(Action action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no InputError was thrown";
}

inline std::filesystem::path test_data(std::string_view name) { return test_data_folder() / name; }

}  // namespace starpmc::test
