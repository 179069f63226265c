#include "app/run_trace.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "base/checked_file.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/logging.hpp"

namespace starpmc {
namespace {

struct TimelineFile {
  const char* name;
  void (*write)(const Timeline&, const std::filesystem::path&);
};
constexpr std::array<TimelineFile, 3> kFiles{{{"timeline.csv", write_timeline_csv},
                                              {"paje.trace", write_paje_trace},
                                              {"timeline.svg", write_timeline_svg}}};

void warn(const std::string& why) { spdlog::warn("the run's timeline is not written: {}", why); }

}  // namespace

RunTrace::RunTrace(Ranks& ranks, const std::filesystem::path& folder)
    : ranks_(ranks), folder_(folder) {
  ranks.all(nullptr);  // all are here
  agree(ranks, [&] {
    trace_.emplace(temporary_path(folder / fmt::format("timeline-{}.tasks", ranks.rank())));
  });
}

/// Of all ranks; empty where one has failed.
std::vector<TimelinePart> RunTrace::gather(const std::vector<TimelineWorker>& workers) {
  nlohmann::json own;
  try {
    own = trace_->finish(workers).state();
  } catch (const RunError& error) {
    warn(error.what());
  }
  std::vector<TimelinePart> parts;
  for (const nlohmann::json& part : ranks_.all(own)) {
    if (part.is_null()) return {};
    parts.push_back(TimelinePart::from(part));
  }
  return parts;
}

void RunTrace::write(const std::vector<TimelineWorker>& workers) {
  const std::vector<TimelinePart> parts = gather(workers);
  if (ranks_.first() && !parts.empty()) {
    try {
      const Timeline timeline(parts);
      for (const TimelineFile& file : kFiles) file.write(timeline, folder_ / file.name);
    } catch (const RunError& error) {
      warn(error.what());
    }
  }
  ranks_.all(nullptr);  // the recorded tasks have been read
  trace_.reset();
}

void remove_timeline(const std::filesystem::path& folder) {
  for (const TimelineFile& file : kFiles) {
    std::error_code ignored;
    std::filesystem::remove(folder / file.name, ignored);
  }
}

}  // namespace starpmc
