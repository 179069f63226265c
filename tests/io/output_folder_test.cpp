#include "io/output_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "kernels/base/error.hpp"
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
  EXPECT_THAT(message, HasSubstr("starpmc resume"));
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
  EXPECT_THAT(left, testing::UnorderedElementsAre("notes.txt", "grid-x.bin", "sub"));
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
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
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

TEST(OutputFolder, AFolderNamedAsAResultIsRefusedBeforeAnythingIsRemoved) {
  for (const char* name : {"energies.csv", "report.html", "summary.json", "settings.cfg",
                           "trajectory.xtc", "chain-0/run.log"}) {
    const TemporaryFolder folder;
    const auto notes = folder.write(std::string(name) + "/notes.txt", "precious");
    const auto checkpoint = folder.write("checkpoint.cbor", "starpmc checkpoint 1");
    for (const bool overwrite : {true, false}) {
      const std::string message = input_error(folder.path(), overwrite);
      EXPECT_THAT(message, HasSubstr("holds a folder that has the name of a run's file, found '" +
                                     (folder.path() / name).string()));
      EXPECT_THAT(message, HasSubstr("remedy: move it away"));
      try {
        OutputFolder::check(folder.path(), overwrite);
        ADD_FAILURE() << "check() has no objection";
      } catch (const InputError& error) {
        EXPECT_EQ(error.what(), message);
      }
    }
    EXPECT_EQ(test::read_all(notes), "precious");
    EXPECT_TRUE(std::filesystem::exists(checkpoint));
  }
}

TEST(OutputFolder, ALinkThatLeadsNowhereIsRefused) {
  const TemporaryFolder folder;
  const auto link = folder.path() / "link";
  std::filesystem::create_symlink(folder.path() / "nowhere", link);
  for (const auto& path : {link, link / "below/deeper"}) {
    const std::string message = input_error(path, true);
    EXPECT_THAT(message, HasSubstr("a symbolic link that leads nowhere, found '" + link.string()));
    EXPECT_THAT(message, HasSubstr("remedy: make the folder"));
    EXPECT_THROW(OutputFolder::check(path, true), InputError);
  }
  EXPECT_NO_THROW(OutputFolder::check(folder.path() / "new/folder", true));
  std::filesystem::create_directory(folder.path() / "nowhere");
  EXPECT_NO_THROW(OutputFolder::check(link, true));
}

TEST(OutputFolder, AnOldLockFileIsNotTrusted) {
  const TemporaryFolder folder;
  folder.write(".starpmc.lock", "");
  EXPECT_EQ(input_error(folder.path(), false), "no error");
}

/// A file is known as a run's by what it holds, not by its name alone.
TEST(OutputFolder, OverwritingSparesWhatIsNoRuns) {
  for (const char* name :
       {"energies.csv", "trajectory.h5md", "system.pdb", "final.gro", "final.pdb", "summary.json",
        "settings.cfg", "checkpoint.cbor", "report.html", "report-total.png", "grid-0.bin",
        "timeline.csv", "timeline.svg", "paje.trace", "run.log", "chain-1/energies.csv"}) {
    const TemporaryFolder folder;
    const auto own = folder.write(name, "the user's own, by hand");
    const auto table = folder.write("chain-0/energies.csv", "# starpmc: running totals\n");
    const std::string message = input_error(folder.path(), true);
    EXPECT_THAT(message, HasSubstr(own.string())) << name;
    EXPECT_THAT(message, HasSubstr("remedy: move it away"));
    EXPECT_EQ(test::read_all(own), "the user's own, by hand");
    EXPECT_TRUE(std::filesystem::exists(table));
  }
}

TEST(OutputFolder, OverwritingSparesWhatAnotherProgramMayHaveWritten) {
  for (const char* name : {"trajectory.xtc", "qm-worker.log", "chain-0/qm-worker.log"}) {
    const TemporaryFolder folder;
    const auto file = folder.write(name, "GROMACS's");
    const auto table = folder.write("energies.csv", "# starpmc: running totals\n");
    const std::string message = input_error(folder.path(), true);
    EXPECT_THAT(message, HasSubstr(file.string())) << name;
    EXPECT_THAT(message, HasSubstr("another program"));
    EXPECT_EQ(test::read_all(file), "GROMACS's");
    EXPECT_TRUE(std::filesystem::exists(table));
    folder.write("settings.cfg", "# Every option of this run\n");
    EXPECT_EQ(input_error(folder.path(), true), "no error");
    EXPECT_FALSE(std::filesystem::exists(file));
  }
}

TEST(OutputFolder, OverwritingRemovesNoInput) {
  const TemporaryFolder folder;
  for (const char* name : {"run/reference.h5", "run/chain-0/trajectory.h5md", "run/notes.txt"})
    folder.write(name, "");
  const auto run = folder.path() / "run";
  const auto beside = folder.write("beside.h5", "");
  std::filesystem::create_symlink(run / "reference.h5", folder.path() / "link.h5");
  std::filesystem::create_symlink(beside, run / "grid-0.bin");
  const auto refuses = [&](const std::filesystem::path& input) {
    try {
      OutputFolder::check(run, true, std::vector<InputPath>{{"qm.reference", input}});
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), testing::StartsWith("qm.reference"));
      return true;
    }
    return false;
  };
  for (const auto& input : {run / "reference.h5", run / "../run/reference.h5", run / "chain-0",
                            run / "grid-0.bin", folder.path() / "link.h5"})
    EXPECT_TRUE(refuses(input)) << input;
  for (const auto& input : {run / "notes.txt", run, beside, folder.path() / "missing.h5"})
    EXPECT_FALSE(refuses(input)) << input;
}

std::string resume_error(const std::filesystem::path& folder) {
  try {
    const OutputFolder output = OutputFolder::resume(folder, RunState::unfinished);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::vector<std::string> all_below(const std::filesystem::path& folder) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    found.push_back(entry.path().lexically_relative(folder).string());
  return found;
}

TEST(OutputFolder, ResumesAnUnfinishedRunAndRemovesItsTemporaryFilesWhenTold) {
  const TemporaryFolder folder;
  for (const char* name :
       {"settings.cfg", "energies.csv", "checkpoint.cbor", "checkpoint.previous.cbor",
        ".checkpoint.cbor.12.temporary", ".checkpoint.previous.cbor.12.temporary",
        ".trajectory.h5md.12.temporary", ".notes.12.temporary", "chain-3/energies.csv",
        "chain-3/.checkpoint.cbor.12.temporary", "chain-x/.checkpoint.cbor.12.temporary"})
    folder.write(name, "");
  const std::vector<std::string> before = all_below(folder.path());
  const OutputFolder output = OutputFolder::resume(folder.path(), RunState::unfinished);
  EXPECT_THAT(all_below(folder.path()), testing::UnorderedElementsAreArray(before));
  output.remove_temporary_files();
  EXPECT_EQ(output.path(), folder.path());
  EXPECT_EQ(output.file("checkpoint.cbor"), folder.path() / "checkpoint.cbor");
  EXPECT_THAT(all_below(folder.path()),
              testing::UnorderedElementsAre("settings.cfg", "energies.csv", "checkpoint.cbor",
                                            "checkpoint.previous.cbor", ".notes.12.temporary",
                                            "chain-3", "chain-3/energies.csv", "chain-x",
                                            "chain-x/.checkpoint.cbor.12.temporary"));
}

TEST(OutputFolder, ResumesNothingElse) {
  const TemporaryFolder folder;
  EXPECT_THAT(resume_error(folder.path() / "missing"),
              HasSubstr("missing: there is no such folder"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "missing"));
  EXPECT_THAT(resume_error(folder.write("file", "")), HasSubstr("is a file, not a folder"));
  folder.write("other/notes.txt", "");
  EXPECT_THAT(resume_error(folder.path() / "other"),
              HasSubstr("is not the output folder of a run"));
  folder.write("finished/settings.cfg", "");
  folder.write("finished/summary.json", "");
  folder.write("finished/.energies.csv.1.temporary", "");
  const std::string message = resume_error(folder.path() / "finished");
  EXPECT_THAT(message, HasSubstr("holds the results of a finished run"));
  EXPECT_THAT(message, HasSubstr("remedy: "));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "finished/.energies.csv.1.temporary"));
  EXPECT_THAT(all_below(folder.path() / "other"), testing::ElementsAre("notes.txt"));
}

TEST(OutputFolder, ALiveRunIsNotResumed) {
  const TemporaryFolder folder;
  std::optional<OutputFolder> first(std::in_place, folder.path(), false);
  folder.write("settings.cfg", "");
  const auto refused = [&] {
    return resume_error(folder.path()).find("another run is writing") != std::string::npos ? 0 : 1;
  };
  EXPECT_EQ(test::exit_status_of(refused), 0);
  first.reset();
  const OutputFolder resumed = OutputFolder::resume(folder.path(), RunState::unfinished);
  EXPECT_EQ(test::exit_status_of(refused), 0);
}

TEST(OutputFolder, GivesEveryChainItsFolder) {
  const TemporaryFolder folder;
  const OutputFolder output(folder.path(), false);
  for (const unsigned chain : {0U, 12U, 12U}) {
    const ChainFolder own(output.chain_folder(chain));
    EXPECT_EQ(own.path(), folder.path() / ("chain-" + std::to_string(chain)));
    EXPECT_TRUE(std::filesystem::is_directory(own.path()));
    EXPECT_EQ(own.file("energies.csv"), own.path() / "energies.csv");
    EXPECT_THROW(own.file("notes.txt"), std::logic_error);
  }
}

TEST(OutputFolder, AChainsFolderIsNoLinkAndNoFile) {
  const TemporaryFolder folder;
  const OutputFolder output(folder.path() / "run", false);
  std::filesystem::create_directory(folder.path() / "elsewhere");
  std::filesystem::create_symlink(folder.path() / "elsewhere", folder.path() / "run/chain-0");
  folder.write("run/chain-1", "precious");
  EXPECT_THROW(output.chain_folder(0), RunError);
  EXPECT_THROW(output.chain_folder(1), RunError);
}

TEST(OutputFolder, FilesOfChainsAreAnEarlierRuns) {
  const TemporaryFolder folder;
  folder.write("chain-0/notes.txt", "");
  folder.write("chain-01/energies.csv", "");
  std::filesystem::create_directory(folder.path() / "chain-2");
  EXPECT_NO_THROW(OutputFolder::check(folder.path(), false));
  folder.write("chain-1/energies.csv", "");
  EXPECT_THROW(OutputFolder::check(folder.path(), false), InputError);
  EXPECT_THAT(input_error(folder.path(), false),
              HasSubstr("unfinished run (chain-1/energies.csv)"));
}

TEST(OutputFolder, OverwritingClearsChains) {
  const TemporaryFolder folder;
  const auto outside = folder.write("outside/energies.csv", "precious");
  for (const char* name :
       {"run/chain-0/energies.csv", "run/chain-0/.energies.csv.1.temporary", "run/chain-1/run.log",
        "run/chain-1/notes.txt", "run/chain-01/energies.csv", "run/chain-2/sub/energies.csv"})
    folder.write(name, "");
  std::filesystem::create_directory(folder.path() / "run/chain-9");
  std::filesystem::create_symlink(outside.parent_path(), folder.path() / "run/chain-3");
  std::filesystem::create_symlink(outside, folder.path() / "run/chain-0/trajectory.h5md");
  const OutputFolder output(folder.path() / "run", true);
  EXPECT_THAT(all_below(folder.path() / "run"),
              testing::UnorderedElementsAre("chain-1", "chain-1/notes.txt", "chain-01",
                                            "chain-01/energies.csv", "chain-2", "chain-2/sub",
                                            "chain-2/sub/energies.csv"));
  EXPECT_EQ(test::read_all(outside), "precious");
}

}  // namespace
}  // namespace starpmc
