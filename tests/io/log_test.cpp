#include "io/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "kernels/base/error.hpp"
#include "tests/io/temporary_folder.hpp"

namespace starpmc {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Log, FileGetsItsLevelAndStandardErrorWarnings) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "run.log";
  testing::internal::CaptureStderr();
  start_file_logging(path, "info");
  spdlog::debug("a detail");
  spdlog::info("a fact");
  spdlog::warn("a worry");
  const std::string on_console = testing::internal::GetCapturedStderr();
  const std::string in_file = test::read_all(path);
  stop_file_logging();
  EXPECT_THAT(in_file, Not(HasSubstr("a detail")));
  EXPECT_THAT(in_file, HasSubstr("info: a fact\n"));
  EXPECT_THAT(in_file, HasSubstr("warning: a worry\n"));
  EXPECT_THAT(on_console, Not(HasSubstr("a fact")));
  EXPECT_THAT(on_console, HasSubstr("starpmc: warning: a worry\n"));
}

TEST(Log, ErrorsOnlyInTheFileStillWarnsOnTheConsole) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "run.log";
  testing::internal::CaptureStderr();
  start_file_logging(path, "error");
  spdlog::warn("another worry");
  stop_file_logging();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("another worry"));
  EXPECT_EQ(test::read_all(path), "");
}

TEST(Log, SeveralRunsShowAWarningOnceAndWriteItEach) {
  const test::TemporaryFolder folder;
  testing::internal::CaptureStderr();
  for (const char* name : {"image-1.log", "image-2.log"}) {
    start_file_logging(folder.path() / name, "info");
    spdlog::warn("of every image's box");
    spdlog::warn("of {}", name);
    spdlog::error("of both");
    stop_file_logging();
    EXPECT_THAT(test::read_all(folder.path() / name), HasSubstr("warning: of every image's box\n"));
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "starpmc: warning: of every image's box\nstarpmc: warning: of image-1.log\n"
            "starpmc: error: of both\nstarpmc: warning: of image-2.log\nstarpmc: error: of both\n");
}

TEST(Log, FileMustNotExist) {
  const test::TemporaryFolder folder;
  EXPECT_THROW(start_file_logging(folder.write("run.log", ""), "info"), RunError);
}

TEST(Log, AResumedRunAppends) {
  const test::TemporaryFolder folder;
  const auto path = folder.write("run.log", "earlier\n");
  resume_file_logging(path, "info");
  spdlog::info("a fact");
  stop_file_logging();
  EXPECT_THAT(test::read_all(path), testing::StartsWith("earlier\n2"));
  EXPECT_THAT(test::read_all(path), HasSubstr("info: a fact\n"));
  resume_file_logging(folder.path() / "missing.log", "info");
  spdlog::info("another");
  stop_file_logging();
  EXPECT_THAT(test::read_all(folder.path() / "missing.log"), HasSubstr("another"));
}

TEST(Log, AResumedRunFollowsNoLink) {
  const test::TemporaryFolder folder;
  const auto precious = folder.write("precious", "precious");
  std::filesystem::create_symlink(precious, folder.path() / "run.log");
  EXPECT_THROW(resume_file_logging(folder.path() / "run.log", "info"), RunError);
  EXPECT_EQ(test::read_all(precious), "precious");
}

/// A run's log file is begun while QM engines start on other threads, which may have to warn.
TEST(Log, ChangesWhileOthersLog) {
  const test::TemporaryFolder folder;
  start_console_logging();
  std::atomic<bool> over = false;
  {
    std::vector<std::jthread> others;
    for (int i = 0; i < 2; ++i) {
      others.emplace_back([&] {
        while (!over) spdlog::info("a line of another thread");
      });
    }
    for (int change = 0; change < 500; ++change) {
      start_file_logging(folder.path() / std::to_string(change), "info");
      stop_file_logging();
    }
    over = true;
  }
  start_file_logging(folder.path() / "last", "info");
  spdlog::info("to the last file");
  stop_file_logging();
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "last"),
            std::string("2000-01-01 00:00:00.000 info: to the last file\n").size());
}

}  // namespace
}  // namespace starpmc
