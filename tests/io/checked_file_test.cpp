#include "base/checked_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/base/error.hpp"
#include "tests/io/child_process.hpp"
#include "tests/io/temporary_folder.hpp"

namespace starpmc {
namespace {

using test::read_all;
using test::TemporaryFolder;
using testing::HasSubstr;

template <typename Action>
std::string run_error(Action action) {
  try {
    action();
  } catch (const RunError& error) {
    return error.what();
  }
  return "no error";
}

TEST(CheckedFile, WritesWhatItIsGiven) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "file";
  CheckedFile file(path, CheckedFile::Mode::create_new);
  file.write("one ");
  file.flush();
  EXPECT_EQ(read_all(path), "one ");
  file.write(std::string(200000, 'x'));
  file.write(" end");
  file.synchronise();
  file.close();
  EXPECT_EQ(read_all(path), "one " + std::string(200000, 'x') + " end");
}

TEST(CheckedFile, FullDiskIsReported) {
  CheckedFile file("/dev/full", CheckedFile::Mode::existing);
  file.write("line\n");
  const std::string message = run_error([&] { file.flush(); });
  EXPECT_THAT(message, HasSubstr("/dev/full"));
  EXPECT_THAT(message, HasSubstr("No space left on device"));
  EXPECT_THAT(run_error([&] { file.close(); }), HasSubstr("No space left"));
}

TEST(CheckedFile, FullDiskIsReportedByALongWrite) {
  CheckedFile file("/dev/full", CheckedFile::Mode::existing);
  EXPECT_THAT(run_error([&] { file.write(std::string(1 << 20, 'x')); }),
              HasSubstr("No space left"));
}

TEST(CheckedFile, NeitherOverwritesNorFollowsLinks) {
  const TemporaryFolder folder;
  const auto existing = folder.write("existing", "precious");
  std::filesystem::create_symlink(folder.path() / "elsewhere", folder.path() / "link");
  for (const char* name : {"existing", "link"})
    EXPECT_THAT(
        run_error([&] { CheckedFile(folder.path() / name, CheckedFile::Mode::create_new); }),
        HasSubstr("File exists"));
  EXPECT_EQ(read_all(existing), "precious");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "elsewhere"));
}

TEST(CheckedFile, MissingFolderIsNamed) {
  EXPECT_THAT(run_error([] { CheckedFile("/no/such/file", CheckedFile::Mode::create_new); }),
              HasSubstr("/no/such/file: cannot create the file: No such file or directory"));
}

TEST(WriteFileAtomically, ReplacesTheWholeFileAndLeavesNothingElse) {
  const TemporaryFolder folder;
  const auto path = folder.write("summary.json", "old and longer than the new one");
  write_file_atomically(path, "new");
  EXPECT_EQ(read_all(path), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(WriteFileAtomically, WorksInTheWorkingFolder) {
  const TemporaryFolder folder;
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  write_file_atomically("summary.json", "text");
  std::filesystem::current_path(here);
  EXPECT_EQ(read_all(folder.path() / "summary.json"), "text");
}

TEST(WriteFileAtomically, FullDiskKeepsTheOldFile) {
  const TemporaryFolder folder;
  const auto path = folder.write("summary.json", "old");
  const int status = test::exit_status_of([&] {
    test::limit_file_size(1000);
    const std::string message =
        run_error([&] { write_file_atomically(path, std::string(5000, 'x')); });
    return message == path.string() + ": cannot write: File too large" ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_all(path), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(WriteFileAtomically, FolderInTheWay) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "summary.json");
  EXPECT_THAT(run_error([&] { write_file_atomically(folder.path() / "summary.json", "x"); }),
              HasSubstr("cannot replace the file"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(CheckedFile, AppendsOrCreates) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "file";
  for (const char* text : {"one ", "two"}) {
    CheckedFile file(path, CheckedFile::Mode::append);
    file.write(text);
    EXPECT_EQ(file.bytes(), read_all(path).size() + std::string_view(text).size());
    file.close();
  }
  EXPECT_EQ(read_all(path), "one two");
}

TEST(CheckedFile, IsCutBackAndContinued) {
  const TemporaryFolder folder;
  const auto path = folder.write("file", "kept and lost");
  CheckedFile file = CheckedFile::cut_back(path, 5);
  EXPECT_EQ(file.bytes(), 5U);
  file.write("new");
  EXPECT_EQ(file.bytes(), 8U);
  file.close();
  EXPECT_EQ(file.bytes(), 8U);
  EXPECT_EQ(read_all(path), "kept new");
}

TEST(CheckedFile, NothingIsCutFromAFileTooShort) {
  const TemporaryFolder folder;
  const auto path = folder.write("file", "short");
  const std::string message = run_error([&] { CheckedFile::cut_back(path, 6); });
  EXPECT_THAT(message, HasSubstr(path.string() + ": is shorter"));
  EXPECT_THAT(message, HasSubstr("5 bytes where there were 6"));
  EXPECT_THAT(message, HasSubstr("remedy: "));
  EXPECT_EQ(read_all(path), "short");
}

TEST(CheckedFile, AppendingAndCuttingFollowNoLinks) {
  const TemporaryFolder folder;
  const auto precious = folder.write("precious", "precious");
  const auto link = folder.path() / "link";
  std::filesystem::create_symlink(precious, link);
  EXPECT_THAT(run_error([&] { CheckedFile(link, CheckedFile::Mode::append); }),
              HasSubstr("link: cannot open: it is a symbolic link"));
  EXPECT_THAT(run_error([&] { CheckedFile::cut_back(link, 0); }), HasSubstr("symbolic link"));
  EXPECT_EQ(read_all(precious), "precious");
  EXPECT_THAT(run_error([&] { CheckedFile("/dev/null", CheckedFile::Mode::append); }),
              HasSubstr("/dev/null: is not a regular file"));
  EXPECT_THAT(run_error([&] { CheckedFile::cut_back(folder.path() / "missing", 0); }),
              HasSubstr("missing: cannot open: No such file"));
}

TEST(WriteFileKeepingPrevious, KeepsWhatWasThere) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "new";
  const auto previous = folder.path() / "old";
  write_file_keeping_previous(path, previous, "1");
  EXPECT_FALSE(std::filesystem::exists(previous));
  write_file_keeping_previous(path, previous, "2");
  write_file_keeping_previous(path, previous, "3");
  EXPECT_EQ(read_all(path), "3");
  EXPECT_EQ(read_all(previous), "2");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 2);
}

}  // namespace
}  // namespace starpmc
