// The timeline of a run: what threads record comes back in order, whatever its length.
#include "io/timeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "kernels/base/error.hpp"
#include "tests/io/temporary_folder.hpp"

namespace starpmc {
namespace {

using test::read_all;
using test::TemporaryFolder;

const std::vector<TimelineCodelet> kCodelets{{"starpmc_a", "A & B", 0x112233},
                                             {"starpmc_b", "b", 0xFF0000}};

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TimelinePart part_of(TimelineSpool& spool, int workers, std::int64_t end_ns) {
  spool.close();
  TimelinePart part{spool.path(), end_ns, {}, kCodelets};
  for (int i = 0; i < workers; ++i) part.workers.push_back({i, "CPU " + std::to_string(i)});
  return part;
}

std::vector<Timeline::Visit> visits(const Timeline& timeline) {
  std::vector<Timeline::Visit> all;
  timeline.for_each([&](const Timeline::Visit& visit) { all.push_back(visit); });
  return all;
}

TEST(Timeline, TasksOfManyThreadsComeBackInTheOrderTheyStarted) {
  const TemporaryFolder folder;
  TimelineSpool spool(folder.path() / "spool");
  constexpr int kThreads = 4;
  constexpr std::int64_t kTasks = 20000;  // several times the buffer
  std::vector<std::thread> threads;
  for (int worker = 0; worker < kThreads; ++worker) {
    threads.emplace_back([&, worker] {
      for (std::int64_t i = 0; i < kTasks; ++i) {
        const std::int64_t start = 100 * i + worker;
        spool.add(static_cast<std::uint32_t>(worker),
                  {start, start + 90, i, worker, static_cast<std::uint32_t>(i % 2)});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Timeline timeline({part_of(spool, kThreads, 100 * kTasks)});
  const auto all = visits(timeline);
  ASSERT_EQ(all.size(), kThreads * kTasks);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto window = static_cast<std::int64_t>(i) / kThreads;
    const auto worker = static_cast<std::int32_t>(i % kThreads);
    ASSERT_EQ(all[i].worker, i % kThreads);
    ASSERT_EQ(all[i].task.window, window);
    ASSERT_EQ(all[i].task.chain, worker);
    ASSERT_EQ(all[i].codelet, static_cast<std::size_t>(window % 2));
    ASSERT_EQ(all[i].shown_start_ns, 100 * window + worker);
    ASSERT_EQ(all[i].shown_end_ns, all[i].shown_start_ns + 90);
  }
}

TEST(Timeline, OverlappingTasksOfADeviceAreShownOneAfterAnother) {
  const TemporaryFolder folder;
  TimelineSpool spool(folder.path() / "spool");
  spool.add(0, {0, 100, 0, 0, 0});
  spool.add(0, {20, 150, 1, 0, 1});
  spool.add(0, {30, 140, 2, 0, 0});
  spool.add(1, {120, 130, TimelineTask::kNone, TimelineTask::kNone, 1});
  const Timeline timeline({part_of(spool, 2, 200)});
  const auto all = visits(timeline);
  ASSERT_EQ(all.size(), 4);
  const auto shown = [&](std::size_t i) {
    return std::pair(all[i].shown_start_ns, all[i].shown_end_ns);
  };
  EXPECT_EQ(shown(0), std::pair(std::int64_t{0}, std::int64_t{100}));
  EXPECT_EQ(shown(1), std::pair(std::int64_t{100}, std::int64_t{150}));
  EXPECT_EQ(all[2].worker, 1U);
  EXPECT_EQ(shown(3), std::pair(std::int64_t{150}, std::int64_t{150}));
  EXPECT_EQ(all[3].task.started_ns, 30);

  write_timeline_csv(timeline, folder.path() / "timeline.csv");
  EXPECT_THAT(lines_of(folder.path() / "timeline.csv"),
              testing::ElementsAre(
                  "worker,worker_name,codelet,chain,window,start_ms,end_ms",
                  "0,CPU 0,starpmc_a,0,0,0.0000,0.0001", "0,CPU 0,starpmc_b,0,1,0.0000,0.0001",
                  "1,CPU 1,starpmc_b,,,0.0001,0.0001", "0,CPU 0,starpmc_a,0,2,0.0000,0.0001"));
}

TEST(Timeline, OfTwoProcessesHasTheWorkersOfBoth) {
  const TemporaryFolder folder;
  TimelineSpool first(folder.path() / "first");
  TimelineSpool second(folder.path() / "second");
  first.add(0, {10, 20, 0, 0, 0});
  second.add(0, {5, 15, 0, 1, 0});
  TimelinePart other = part_of(second, 1, 300);
  other.codelets = {{"starpmc_b", "b", 0xFF0000}};
  other.workers[0].name = "rank 1 (\"node\", b): CPU 0";
  other = TimelinePart::from(other.state());
  const Timeline timeline({part_of(first, 1, 200), other});
  EXPECT_EQ(timeline.codelets(), kCodelets);
  EXPECT_EQ(timeline.end_ns(), 300);
  const auto all = visits(timeline);
  ASSERT_EQ(all.size(), 2);
  EXPECT_EQ(all[0].worker, 1U);
  EXPECT_EQ(all[0].codelet, 1U);
  EXPECT_EQ(all[1].worker, 0U);
  write_timeline_csv(timeline, folder.path() / "t.csv");
  EXPECT_EQ(lines_of(folder.path() / "t.csv")[1],
            "0,\"rank 1 (\"\"node\"\", b): CPU 0\",starpmc_b,1,0,0.0000,0.0000");
  write_paje_trace(timeline, folder.path() / "t.trace");
  EXPECT_THAT(read_all(folder.path() / "t.trace"),
              testing::HasSubstr("w1 Worker run \"rank 1 ('node', b): CPU 0\""));
}

TEST(Timeline, PictureOfManyTasksStaysSmall) {
  const TemporaryFolder folder;
  TimelineSpool spool(folder.path() / "spool");
  constexpr int kWorkers = 40;
  std::mt19937 random(1);  // NOLINT: the same tasks each time
  std::exponential_distribution<double> nanoseconds(1e-4);
  std::int64_t end = 0;
  for (std::uint32_t worker = 0; worker < kWorkers; ++worker) {
    std::int64_t now = 0;
    for (int i = 0; i < 10000; ++i) {
      const auto length = static_cast<std::int64_t>(nanoseconds(random));
      spool.add(worker, {now, now + length, i, 0, static_cast<std::uint32_t>(random() % 2)});
      now += length + 500;
    }
    end = std::max(end, now);
  }
  const Timeline timeline({part_of(spool, kWorkers, end)});
  write_timeline_svg(timeline, folder.path() / "t.svg");
  const std::string picture = read_all(folder.path() / "t.svg");
  EXPECT_LT(picture.size(), 3'000'000U);
  EXPECT_THAT(picture, testing::HasSubstr(">A &amp; B</text>"));
  EXPECT_THAT(picture, testing::EndsWith("</svg>\n"));
}

TEST(Timeline, TornSpoolIsRefused) {
  const TemporaryFolder folder;
  TimelineSpool spool(folder.path() / "spool");
  spool.add(0, {0, 1, 0, 0, 0});
  const TimelinePart part = part_of(spool, 1, 1);
  std::filesystem::resize_file(spool.path(), std::filesystem::file_size(spool.path()) - 1);
  EXPECT_THROW(Timeline({part}), RunError);
}

TEST(Timeline, FilesAreWholeOrMissing) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "file";
  EXPECT_THROW(write_long_file_atomically(path,
                                          [](CheckedFile& file) {
                                            file.write("half a li");
                                            throw RunError("disk full");
                                          }),
               RunError);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

/// No file of this process may grow beyond a size while it lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, SIG_DFL);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
};

TEST(Timeline, FullDiskIsToldAtTheEnd) {
  const TemporaryFolder folder;
  TimelineSpool spool(folder.path() / "spool");
  const FileSizeLimit limit(100'000);
  for (int i = 0; i < 20000; ++i) spool.add(0, {i, i + 1, 0, 0, 0});  // does not throw
  EXPECT_THROW(spool.close(), RunError);
}

}  // namespace
}  // namespace starpmc
