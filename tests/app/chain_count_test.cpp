#include "app/chain_count.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include <cmath>
#include <string>

#include "base/free_memory.hpp"
#include "tests/system/temporary_folder.hpp"

namespace starpmc {
namespace {

TEST(ChainCount, OnePerCoreThatWaitsForAQmWorker) {
  EXPECT_EQ(automatic_chains(16, 1, 1500, 1e6), 16U);
  EXPECT_EQ(automatic_chains(2, 0, 1500, 1e6), 2U);
}

TEST(ChainCount, MemoryIsTheLimit) {
  // The first worker has its memory already; four fifths of 10,000 MB hold five more.
  EXPECT_EQ(automatic_chains(16, 0, 1500, 10000), 6U);
  EXPECT_EQ(automatic_chains(16, 0, 1500, 1000), 1U);
  EXPECT_EQ(automatic_chains(16, 0, 1500, 0), 1U);
}

TEST(ChainCount, PureSamplingKeepsDevicesBusy) {
  EXPECT_EQ(automatic_chains(15, 1, 0, 1e6), 4U);
  EXPECT_EQ(automatic_chains(14, 2, 0, 1e6), 8U);
  EXPECT_EQ(automatic_chains(2, 0, 0, 1e6), 2U);
  EXPECT_EQ(automatic_chains(0, 0, 0, 1e6), 1U);
}

/// A system's files with 8000 MB free, and the control groups that a test makes.
class FreeMemory : public testing::Test {
 protected:
  FreeMemory() {
    folder_.write("proc/meminfo", "MemTotal: 16384000 kB\nMemAvailable: 8192000 kB\n");
  }

  void of_process(const std::string& mountinfo, const std::string& groups) const {
    folder_.write("proc/self/mountinfo",
                  "29 23 0:26 / /proc rw shared:5 - proc proc rw\n" + mountinfo);
    folder_.write("proc/self/cgroup", groups);
  }
  /// A group of version 2; its numbers in MB, but for the limit, which may be a word.
  void group(const std::string& path, const std::string& limit, int used, int inactive) const {
    const std::string folder = "sys/fs/cgroup/" + path;
    folder_.write(folder + "/memory.max", limit + "\n");
    folder_.write(folder + "/memory.current", bytes(used) + "\n");
    folder_.write(folder + "/memory.stat",
                  "anon 5\ninactive_file " + bytes(inactive) + "\nactive_file 77\n");
  }
  void group_of_version_1(const std::string& path, const std::string& limit, int used,
                          int inactive) const {
    const std::string folder = "sys/fs/cgroup/memory/" + path;
    folder_.write(folder + "/memory.limit_in_bytes", limit + "\n");
    folder_.write(folder + "/memory.usage_in_bytes", bytes(used) + "\n");
    folder_.write(folder + "/memory.stat",
                  "inactive_file 1\ntotal_inactive_file " + bytes(inactive) + "\n");
  }
  static std::string bytes(int megabytes) { return std::to_string(megabytes * 1048576L); }
  double found() const { return free_memory_mb(folder_ / ""); }

 private:
  test::TemporaryFolder folder_;
};

constexpr const char* kVersion2 =
    "31 23 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* kVersion1 =
    "32 31 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "33 31 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

TEST_F(FreeMemory, OfAMachineWithoutGroups) { EXPECT_EQ(found(), 8000); }

TEST_F(FreeMemory, TheNearestLimitOfAllGroupsAboveCounts) {
  of_process(kVersion2, "0::/slurm/job_7/step_0\n");
  group("slurm/job_7/step_0", "max", 900, 0);
  group("slurm/job_7", bytes(4000), 1500, 300);
  group("slurm", bytes(20000), 1600, 0);
  EXPECT_EQ(found(), 2800) << "files in the cache are given back";
  group("slurm", bytes(4000), 2000, 0);
  EXPECT_EQ(found(), 2000);
  group("slurm/job_7/step_0", bytes(1000), 1200, 0);
  EXPECT_EQ(found(), 0);
  group("slurm/job_7/step_0", "max", 0, 0);
  group("slurm/job_7", "max", 0, 0);
  group("slurm", bytes(64000), 2000, 0);
  EXPECT_EQ(found(), 8000) << "of the machine";
}

TEST_F(FreeMemory, OfGroupsOfVersion1) {
  of_process(kVersion1, "5:cpu,cpuacct:/\n4:memory:/slurm/job_7\n0::/\n");
  group_of_version_1("slurm/job_7", bytes(4000), 1500, 500);
  group_of_version_1("slurm", "9223372036854771712", 9000, 0);
  EXPECT_EQ(found(), 3000);
}

/// Its own group is the mount's root, or stands at its place under another name.
TEST_F(FreeMemory, InAContainer) {
  group(".", bytes(3000), 1000, 0);
  of_process(kVersion2, "0::/\n");
  EXPECT_EQ(found(), 2000);
  of_process("31 23 0:27 /docker/ab /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0::/docker/ab\n");
  EXPECT_EQ(found(), 2000);
  of_process(kVersion2, "0::/../../other\n");
  EXPECT_EQ(found(), 2000);
}

TEST_F(FreeMemory, NonsenseIsNoLimit) {
  of_process(std::string("31\n\n- cgroup2\n") + kVersion2, "nonsense\n0:\n0::/gone\n");
  EXPECT_EQ(found(), 8000);
  EXPECT_EQ(free_memory_mb("/nonexistent"), INFINITY);
}

TEST(QmWorkers, AreAsManyAsUpdatesCanBeMadeAtATime) {
  Settings::QmSection settings;
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  EXPECT_EQ(qm_workers(settings, 1), 1U);
  EXPECT_EQ(qm_workers(settings, cores), cores);
  EXPECT_EQ(qm_workers(settings, 7 * cores), cores);
  settings.device = "gpu";
  EXPECT_EQ(qm_workers(settings, 7 * cores), std::min(cores, 8U));
  EXPECT_EQ(qm_workers(settings, 1), 1U);
  settings.workers = 12;
  EXPECT_EQ(qm_workers(settings, 16), 12U) << "as asked";
  settings.workers.reset();
  settings.device = "cpu";
  settings.threads = static_cast<int>(2 * cores);
  EXPECT_EQ(qm_workers(settings, 3), 1U);
  settings.workers = 3;
  EXPECT_EQ(qm_workers(settings, 7), 3U);
  EXPECT_EQ(qm_workers(settings, 2), 2U);
  settings.engine = "psi4";
  EXPECT_EQ(qm_workers(settings, 7), 7U) << "it cannot go on from another chain's density";
}

}  // namespace
}  // namespace starpmc
