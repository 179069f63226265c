#include "io/output_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "error.hpp"
#include "tests/io/child_process.hpp"
#include "tests/io/temporary_folder.hpp"

namespace starpmc {
namespace {

using test::TemporaryFolder;
using testing::HasSubstr;

std::string input_error(const std::filesystem::path& folder, bool overwrite) {
  try {
    const OutputFolder output(folder, overwrite);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(OutputFolder, CreatesTheFolderWithItsParents) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "a/b/c";
  const OutputFolder output(path, false);
  EXPECT_TRUE(std::filesystem::is_directory(path));
  EXPECT_EQ(output.file("energies.csv"), path / "energies.csv");
  EXPECT_EQ(output.file("grid-12.bin"), path / "grid-12.bin");
  EXPECT_THROW(output.file("notes.txt"), std::logic_error);
  EXPECT_THROW(output.file("../energies.csv"), std::logic_error);
}

TEST(OutputFolder, RefusesAFinishedRun) {
  const TemporaryFolder folder;
  folder.write("summary.json", "{}");
  folder.write("energies.csv", "");
  const std::string message = input_error(folder.path(), false);
  EXPECT_THAT(message, HasSubstr("finished run"));
  EXPECT_THAT(message, HasSubstr(folder.path().string()));
  EXPECT_THAT(message, HasSubstr("--output.overwrite true"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "summary.json"));
}

TEST(OutputFolder, RefusesAnUnfinishedRun) {
  const TemporaryFolder folder;
  folder.write("energies.csv", "");
  const std::string message = input_error(folder.path(), false);
  EXPECT_THAT(message, HasSubstr("unfinished run"));
  EXPECT_THAT(message, HasSubstr("--output.overwrite true"));
}

TEST(OutputFolder, OverwritingRemovesOwnFilesOnly) {
  const TemporaryFolder folder;
  const auto outside = folder.write("outside.txt", "precious");
  for (const char* name : {"run/summary.json", "run/grid-3.bin", "run/.summary.json.123.temporary",
                           "run/notes.txt", "run/grid-x.bin", "run/sub/energies.csv"})
    folder.write(name, "");
  std::filesystem::create_symlink(outside, folder.path() / "run/run.log");
  const OutputFolder output(folder.path() / "run", true);
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "run"))
    left.push_back(entry.path().filename().string());
  EXPECT_THAT(left,
              testing::UnorderedElementsAre("notes.txt", "grid-x.bin", "sub", ".starpmc.lock"));
  EXPECT_EQ(test::read_all(outside), "precious");
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "run/sub/energies.csv"));
}

TEST(OutputFolder, ForeignFilesAreNoObstacle) {
  const TemporaryFolder folder;
  folder.write("notes.txt", "");
  EXPECT_EQ(input_error(folder.path(), false), "no error");
}

TEST(OutputFolder, MayItselfBeALink) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "scratch");
  std::filesystem::create_symlink(folder.path() / "scratch", folder.path() / "results");
  EXPECT_EQ(input_error(folder.path() / "results", false), "no error");
}

TEST(OutputFolder, ASecondRunIsRefusedWhileTheFirstLives) {
  const TemporaryFolder folder;
  std::optional<OutputFolder> first(std::in_place, folder.path(), false);
  const int status = test::exit_status_of([&] {
    const std::string message = input_error(folder.path(), true);
    return message.find("another run is writing") != std::string::npos ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
  first.reset();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_EQ(input_error(folder.path(), false), "no error");
}

TEST(OutputFolder, AKilledRunLeavesNoLock) {
  const TemporaryFolder folder;
  const int status = test::exit_status_of([&] {
    const OutputFolder output(folder.path(), false);
    return raise(SIGKILL);
  });
  EXPECT_EQ(status, -1);
  EXPECT_EQ(input_error(folder.path(), false), "no error");
}

TEST(OutputFolder, AFileInItsPlace) {
  const TemporaryFolder folder;
  const auto file = folder.write("results", "precious");
  const std::string message = input_error(file, true);
  EXPECT_THAT(message, HasSubstr("is a file, not a folder"));
  EXPECT_EQ(test::read_all(file), "precious");
  EXPECT_THROW(OutputFolder(file / "below", false), RunError);
}

TEST(OutputFolder, AFolderNamedAsAResultIsNotRemoved) {
  const TemporaryFolder folder;
  folder.write("energies.csv/notes.txt", "precious");
  EXPECT_THROW(OutputFolder(folder.path(), true), RunError);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "energies.csv/notes.txt"));
}

TEST(OutputFolder, ALinkInPlaceOfTheLockIsNotFollowed) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "run");
  std::filesystem::create_symlink(folder.path() / "elsewhere", folder.path() / "run/.starpmc.lock");
  EXPECT_THROW(OutputFolder(folder.path() / "run", true), RunError);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "elsewhere"));
}

}  // namespace
}  // namespace starpmc
