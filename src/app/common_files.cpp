#include "app/common_files.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

namespace fs = std::filesystem;

/// 0: it is not there
std::int64_t written(const fs::path& file) {
  std::error_code error;
  const auto time = fs::last_write_time(file, error);
  return error ? 0 : static_cast<std::int64_t>(time.time_since_epoch().count());
}

}  // namespace

void await_common_files(Ranks& ranks, std::span<const fs::path> files) {
  if (ranks.size() == 1) return;
  std::vector<std::int64_t> times;
  std::ranges::transform(files, std::back_inserter(times), written);
  const std::vector<std::int64_t> expected = ranks.all(times).front();
  agree(ranks, [&] {
    constexpr int kLooks = 100;
    for (int look = 0; !std::ranges::equal(files, expected, {}, written); ++look) {
      if (look == kLooks) {
        throw InputError("output.folder", "is not the folder that rank 0 writes to",
                         files.front().parent_path().string(),
                         "choose a folder on a file system that all nodes share");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  });
}

}  // namespace starpmc
