#include "io/checkpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <bit>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "io/sha256.hpp"
#include "kernels/base/error.hpp"
#include "tests/io/child_process.hpp"
#include "tests/io/temporary_folder.hpp"

namespace starpmc {
namespace {

using nlohmann::json;
using test::read_all;
using test::TemporaryFolder;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Outcome {
  std::optional<json> content;
  std::vector<std::string> warnings;
  std::string refusal;  ///< empty: not refused
};

Outcome read(const std::filesystem::path& folder) {
  Outcome outcome;
  try {
    outcome.content = read_checkpoint(folder, outcome.warnings);
  } catch (const InputError& error) {
    outcome.refusal = error.what();
  }
  return outcome;
}

std::filesystem::path newest(const TemporaryFolder& folder) {
  return folder.path() / "checkpoint.cbor";
}

std::filesystem::path previous(const TemporaryFolder& folder) {
  return folder.path() / "checkpoint.previous.cbor";
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  return names;
}

std::string write_error(const std::filesystem::path& folder, const json& content) {
  try {
    write_checkpoint(folder, content);
  } catch (const RunError& error) {
    return error.what();
  }
  return "no error";
}

/// Replaces checkpoint.cbor and says what reading then gives.
Outcome read_damaged(const TemporaryFolder& folder, const std::string& bytes) {
  folder.write("checkpoint.cbor", bytes);
  return read(folder.path());
}

TEST(Checkpoint, GivesBackEveryBit) {
  const TemporaryFolder folder;
  const json content = {
      {"doubles", {0.1, -0.0, 1.0 / 3, 5e-324, 1.7976931348623157e308, 16777217.0, 1e10, 0.5}},
      {"step", 18446744073709551615U},
      {"negative", -9223372036854775807LL - 1},
      {"bytes", json::binary({0, 1, 255, 0})},
      {"text", "ångström"},
      {"nothing", nullptr},
      {"nested", {{"list", json::array()}, {"yes", true}}}};
  write_checkpoint(folder.path(), content);
  const Outcome outcome = read(folder.path());
  EXPECT_THAT(outcome.warnings, IsEmpty());
  ASSERT_TRUE(outcome.content.has_value());
  EXPECT_EQ(*outcome.content, content);
  for (std::size_t i = 0; i < content["doubles"].size(); ++i) {
    EXPECT_TRUE((*outcome.content)["doubles"][i].is_number_float());
    EXPECT_EQ(std::bit_cast<std::uint64_t>((*outcome.content)["doubles"][i].get<double>()),
              std::bit_cast<std::uint64_t>(content["doubles"][i].get<double>()));
  }
}

TEST(Checkpoint, TheFileIsWhatTheHeaderSays) {
  const TemporaryFolder folder;
  write_checkpoint(folder.path(), {{"a", 1}});
  // RFC 8949: a map of one pair, text of one character, unsigned 1. The digest is sha256sum's:
  // printf '\241\141a\001' | sha256sum
  EXPECT_EQ(read_all(newest(folder)),
            std::string("starpmc checkpoint 7\n"
                        "eb989b4a620fd259ae02181bdab4fc3eb6dc6b45eb7322999bb1416bce318926\n"
                        "\xa1\x61"
                        "a\x01"));
}

TEST(Checkpoint, KeepsTheOneBefore) {
  const TemporaryFolder folder;
  for (int number = 0; number < 3; ++number) write_checkpoint(folder.path(), number);
  EXPECT_EQ(read(folder.path()).content, json(2));
  std::filesystem::remove(newest(folder));
  const Outcome outcome = read(folder.path());
  EXPECT_EQ(outcome.content, json(1));
  EXPECT_THAT(outcome.warnings, IsEmpty());
}

TEST(Checkpoint, LeavesNothingElse) {
  const TemporaryFolder folder;
  for (int number = 0; number < 3; ++number) write_checkpoint(folder.path(), number);
  EXPECT_THAT(names_in(folder.path()),
              testing::UnorderedElementsAre("checkpoint.cbor", "checkpoint.previous.cbor"));
}

TEST(Checkpoint, NoneIsNoReasonToWarn) {
  const TemporaryFolder folder;
  for (const auto& path : {folder.path(), folder.path() / "missing"}) {
    const Outcome outcome = read(path);
    EXPECT_FALSE(outcome.content.has_value());
    EXPECT_THAT(outcome.warnings, IsEmpty());
  }
}

TEST(Checkpoint, TruncatedAnywhereTheOneBeforeIsUsed) {
  const TemporaryFolder folder;
  write_checkpoint(folder.path(), {{"number", 1}});
  write_checkpoint(folder.path(), {{"number", 2}});
  const std::string whole = read_all(newest(folder));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const Outcome outcome = read_damaged(folder, whole.substr(0, length));
    EXPECT_EQ(outcome.content, json({{"number", 1}})) << length;
    EXPECT_THAT(outcome.warnings, ElementsAre(HasSubstr(newest(folder).string()))) << length;
  }
  EXPECT_EQ(read_damaged(folder, whole).content, json({{"number", 2}}));
  EXPECT_THAT(read_damaged(folder, whole + "x").warnings, ElementsAre(HasSubstr("SHA-256")));
}

TEST(Checkpoint, AFlippedBitAnywhereIsSeen) {
  const TemporaryFolder folder;
  write_checkpoint(folder.path(), {{"number", 1}});
  write_checkpoint(folder.path(), {{"number", 2}});
  const std::string whole = read_all(newest(folder));
  const std::size_t version_at = std::string("starpmc checkpoint ").size();
  const std::size_t end_of_line = whole.find('\n');
  for (std::size_t position = 0; position < whole.size(); ++position) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[position] = static_cast<char>(damaged[position] ^ (1 << bit));
      const Outcome outcome = read_damaged(folder, damaged);
      if (damaged.find_first_not_of("0123456789", version_at) == end_of_line &&
          position >= version_at && position < end_of_line) {  // a number all the same
        EXPECT_THAT(outcome.refusal, HasSubstr("version")) << position << ' ' << bit;
        continue;
      }
      EXPECT_EQ(outcome.content, json({{"number", 1}})) << position << ' ' << bit;
      EXPECT_EQ(outcome.warnings.size(), 1U) << position << ' ' << bit;
    }
  }
}

TEST(Checkpoint, WhereNoneCanBeUsedBothAreNamed) {
  const TemporaryFolder folder;
  folder.write("checkpoint.cbor", "starpmc chec");
  folder.write("checkpoint.previous.cbor", "a novel\n");
  const Outcome outcome = read(folder.path());
  EXPECT_FALSE(outcome.content.has_value());
  EXPECT_THAT(outcome.refusal,
              AllOf(HasSubstr(newest(folder).string() + ": cannot be used: it is torn"),
                    HasSubstr(previous(folder).string() +
                              ": cannot be used: it is not a checkpoint of starpmc"),
                    HasSubstr("--output.folder")));
}

TEST(Checkpoint, AnotherVersionIsRefusedHoweverWholeTheOther) {
  const TemporaryFolder folder;
  for (int number = 0; number < 2; ++number) write_checkpoint(folder.path(), number);
  const std::string whole = read_all(newest(folder));
  for (const char* version : {"1", "2", "10"}) {
    const std::string other =
        std::string("starpmc checkpoint ") + version + whole.substr(whole.find('\n'));
    const Outcome outcome = read_damaged(folder, other);
    EXPECT_FALSE(outcome.content.has_value());
    EXPECT_THAT(outcome.refusal,
                AllOf(HasSubstr(newest(folder).string()), HasSubstr("this starpmc reads version 7"),
                      HasSubstr(std::string("has version ") + version + " "),
                      HasSubstr("release of starpmc that wrote it")));
    EXPECT_EQ(read_all(newest(folder)), other);
  }
  // A damaged one hides the other version behind it.
  folder.write("checkpoint.previous.cbor", read_all(newest(folder)));
  EXPECT_THAT(read_damaged(folder, "torn").refusal, HasSubstr(previous(folder).string()));
}

TEST(Checkpoint, ADigestOfWhatIsNoCborIsNotEnough) {
  const TemporaryFolder folder;
  Sha256 hash;
  hash.add("\xff");
  const Outcome outcome =
      read_damaged(folder, "starpmc checkpoint 7\n" + hash.hexadecimal_digest() + "\n\xff");
  EXPECT_FALSE(outcome.content.has_value());
  EXPECT_THAT(outcome.refusal, HasSubstr("not CBOR"));
}

TEST(Checkpoint, WritingReplacesLinksAndFollowsNone) {
  const TemporaryFolder folder;
  const auto precious = folder.write("elsewhere/precious", "precious");
  const auto run = folder.path() / "run";
  std::filesystem::create_directory(run);
  for (const char* name : {"checkpoint.cbor", "checkpoint.previous.cbor"})
    std::filesystem::create_symlink(precious, run / name);
  EXPECT_THAT(read(run).refusal, AllOf(HasSubstr("checkpoint.cbor: cannot be used: it is a symb"),
                                       HasSubstr("checkpoint.previous.cbor: cannot be used: it is "
                                                 "a symbolic link")));
  for (int number = 0; number < 2; ++number) write_checkpoint(run, number);
  EXPECT_EQ(read_all(precious), "precious");
  EXPECT_EQ(read(run).content, json(1));
  for (const char* name : {"checkpoint.cbor", "checkpoint.previous.cbor"})
    EXPECT_FALSE(std::filesystem::is_symlink(run / name)) << name;
}

TEST(Checkpoint, AFolderOrAPipeInPlaceIsReported) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(newest(folder));
  ASSERT_EQ(mkfifo(previous(folder).c_str(), 0600), 0);
  for (const auto& path : {newest(folder), previous(folder)}) {
    EXPECT_THAT(read(folder.path()).refusal,
                HasSubstr(path.string() + ": cannot be used: it is not a regular file"));
  }
  EXPECT_THAT(write_error(folder.path(), 1), HasSubstr(newest(folder).string()));
  EXPECT_THAT(names_in(folder.path()),
              testing::UnorderedElementsAre("checkpoint.cbor", "checkpoint.previous.cbor"));
}

TEST(Checkpoint, FullDiskLeavesTheEarlierOnes) {
  const TemporaryFolder folder;
  for (int number = 0; number < 2; ++number) write_checkpoint(folder.path(), number);
  const int status = test::exit_status_of([&] {
    test::limit_file_size(1000);
    const std::string message = write_error(folder.path(), std::string(5000, 'x'));
    return message.find("File too large") != std::string::npos ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read(folder.path()).content, json(1));
  std::filesystem::remove(newest(folder));
  EXPECT_EQ(read(folder.path()).content, json(0));
  EXPECT_EQ(names_in(folder.path()).size(), 1U);
}

/// Writes checkpoints 1, 2, ... and tells each on a pipe once it is written.
[[noreturn]] void write_until_killed(const std::filesystem::path& folder, int pipe) {
  for (int number = 1;; ++number) {
    write_checkpoint(folder, {{"number", number}, {"ballast", std::string(20000, 'x')}});
    if (write(pipe, &number, sizeof number) != sizeof number) _exit(1);
  }
}

TEST(Checkpoint, AKillAtAnyMomentLeavesTheLastOneWritten) {
  constexpr int kills = 40;
  for (int kill_number = 0; kill_number < kills; ++kill_number) {
    const TemporaryFolder folder;
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) write_until_killed(folder.path(), ends[1]);
    close(ends[1]);
    int last = 0;
    ASSERT_EQ(::read(ends[0], &last, sizeof last), ssize_t{sizeof last});
    std::this_thread::sleep_for(std::chrono::microseconds(311 * kill_number));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    for (int number = 0; ::read(ends[0], &number, sizeof number) == sizeof number;) last = number;
    close(ends[0]);
    const Outcome outcome = read(folder.path());
    EXPECT_THAT(outcome.warnings, IsEmpty());
    ASSERT_TRUE(outcome.content.has_value());
    EXPECT_GE((*outcome.content)["number"], last);
    EXPECT_LE((*outcome.content)["number"], last + 1);
  }
}

TEST(Checkpoint, ADamagedNewestNeverTakesThePlaceOfTheWholeOneTooEarly) {
  const TemporaryFolder folder;
  for (int number = 0; number < 2; ++number) write_checkpoint(folder.path(), number);
  folder.write("checkpoint.cbor", "starpmc check");
  const int status = test::exit_status_of([&] {
    test::limit_file_size(1000);
    return write_error(folder.path(), std::string(5000, 'x')) == "no error" ? 1 : 0;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read(folder.path()).content, json(0));
  write_checkpoint(folder.path(), 2);
  EXPECT_EQ(read(folder.path()).content, json(2));
}

}  // namespace
}  // namespace starpmc
