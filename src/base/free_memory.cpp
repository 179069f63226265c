#include "base/free_memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <string>

namespace starpmc {
namespace {

namespace fs = std::filesystem;

constexpr double kUnlimited = std::numeric_limits<double>::infinity();
constexpr double kBytesOfMegabyte = 1 << 20;

/// Names of a version's files of a control group.
struct Names {
  const char* limit;
  const char* used;
  const char* given_back;  ///< of memory.stat: cached files that are dropped for who needs memory
};
constexpr Names version_2{"memory.max", "memory.current", "inactive_file"};
constexpr Names version_1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};

/// The number behind a name in lines of both; none: there is no such line or file.
std::optional<double> value_of(const fs::path& file, const std::string& wanted) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    double value = 0;
    if (words >> name >> value && name == wanted) return value;
  }
  return std::nullopt;
}

/// None for "max", too.
std::optional<double> number_in(const fs::path& file) {
  std::ifstream text(file);
  double number = 0;
  if (text >> number) return number;
  return std::nullopt;
}

double left_in(const fs::path& group, const Names& names) {
  const auto limit = number_in(group / names.limit);
  const auto used = number_in(group / names.used);
  if (!limit || !used) return kUnlimited;
  const double given_back = value_of(group / "memory.stat", names.given_back).value_or(0);
  return std::max(0.0, *limit - *used + std::min(given_back, *used));
}

struct Mount {
  std::string root;  ///< the control group that is seen at its place
  fs::path place;
};

/// Where the control groups with memory's limits are, of version 1 and 2 (proc(5), mountinfo).
std::map<const Names*, Mount> mounts(const fs::path& root) {
  std::map<const Names*, Mount> found;
  std::ifstream lines(root / "proc/self/mountinfo");
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string skipped;
    std::string of_mount;
    std::string place;
    words >> skipped >> skipped >> skipped >> of_mount >> place;
    while (words >> skipped && skipped != "-") {
    }
    std::string type;
    std::string options;
    words >> type >> skipped >> options;
    const bool has_memory = ("," + options + ",").find(",memory,") != std::string::npos;
    if (type == "cgroup2") found[&version_2] = {of_mount, place};
    if (type == "cgroup" && has_memory) found[&version_1] = {of_mount, place};
  }
  return found;
}

/// The group's folder below the mount's place; none: it is the place itself, as in a container that
/// sees its own group only.
fs::path below(const Mount& mount, const std::string& group) {
  const fs::path relative = fs::path(group).lexically_relative(mount.root);
  return relative.empty() || *relative.begin() == ".." || relative == "." ? fs::path() : relative;
}

/// What is left in a group and in all above it that are seen.
double left_in_all(const fs::path& root, const Mount& mount, const std::string& group,
                   const Names& names) {
  fs::path folder = root / mount.place.relative_path();
  double left = left_in(folder, names);
  for (const fs::path& part : below(mount, group)) {
    folder /= part;
    left = std::min(left, left_in(folder, names));
  }
  return left;
}

/// proc(5), cgroup: lines of number:controllers:group, without controllers for version 2.
double left_in_groups(const fs::path& root) {
  double left = kUnlimited;
  const auto all = mounts(root);
  std::ifstream lines(root / "proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool has_memory = ("," + controllers + ",").find(",memory,") != std::string::npos;
    if (!controllers.empty() && !has_memory) continue;
    const auto mount = all.find(controllers.empty() ? &version_2 : &version_1);
    if (mount == all.end()) continue;
    left = std::min(left, left_in_all(root, mount->second, line.substr(second + 1), *mount->first));
  }
  return left;
}

}  // namespace

double free_memory_mb(const fs::path& root) {
  constexpr double kBytesOfKilobyte = 1024;
  const auto kilobytes = value_of(root / "proc/meminfo", "MemAvailable:");
  const double of_machine = kilobytes ? *kilobytes * kBytesOfKilobyte : kUnlimited;
  return std::min(of_machine, left_in_groups(root)) / kBytesOfMegabyte;
}

}  // namespace starpmc
