#include "runtime/library_messages.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace starpmc {
namespace {

TEST(LibraryMessages, LibrariesLinesAreKeptAndOthersPassOn) {
  unsetenv("STARPU_SILENT");
  testing::internal::CaptureStderr();
  std::vector<std::string> theirs;
  {
    LibraryMessages messages;
    std::fputs("2 warnings generated.\nstarpmc: warning: ours\n", stderr);
    std::fputs("[starpu][x] Warning: directory </a> as set by b does not exist\n", stderr);
    std::fputs("1 warning and 1 error generated.\n", stderr);
    theirs = messages.end();
    std::fputs("afterwards\n", stderr);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "starpmc: warning: ours\n1 warning and 1 error generated.\nafterwards\n");
  EXPECT_EQ(theirs, (std::vector<std::string>{
                        "2 warnings generated.",
                        "[starpu][x] Warning: directory </a> as set by b does not exist"}));
}

TEST(LibraryMessages, AnAbortShowsThemAll) {
  EXPECT_EXIT(
      {
        LibraryMessages messages;
        std::fputs("[starpu] assertion failed\n", stderr);
        std::abort();
      },
      testing::KilledBySignal(SIGABRT), "assertion failed");
}

TEST(LibraryMessages, WhoAsksForThemSeesThem) {
  setenv("STARPU_SILENT", "0", 1);
  testing::internal::CaptureStderr();
  {
    LibraryMessages messages;
    std::fputs("[starpu] a remark\n", stderr);
    EXPECT_TRUE(messages.end().empty());
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "[starpu] a remark\n");
  unsetenv("STARPU_SILENT");
}

}  // namespace
}  // namespace starpmc
