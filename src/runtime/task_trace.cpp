#include "runtime/task_trace.hpp"

#include <starpu.h>

#include <cmath>

namespace starpmc {
namespace {

std::int64_t nanoseconds(double seconds) { return std::llround(1e9 * seconds); }

}  // namespace

TaskTrace::TaskTrace(const std::filesystem::path& spool)
    : spool_(spool), start_seconds_(1e-6 * starpu_timing_now()) {
  attach(this);
}

TaskTrace::~TaskTrace() {
  starpu_task_wait_for_all();
  attach(nullptr);
}

void TaskTrace::on_task(const codelets::TaskRecord& record) noexcept {
  spool_.add(
      static_cast<std::uint32_t>(record.worker),
      {nanoseconds(record.started - start_seconds_), nanoseconds(record.ended - start_seconds_),
       record.label.window, record.label.chain, static_cast<std::uint32_t>(record.codelet)});
}

TimelinePart TaskTrace::finish(const std::vector<TimelineWorker>& workers) {
  attach(nullptr);
  spool_.close();
  TimelinePart part{
      spool_.path(), nanoseconds(1e-6 * starpu_timing_now() - start_seconds_), workers, {}};
  for (const codelets::Codelet* codelet : codelets::Codelet::all()) {
    const codelets::TaskDisplay& display = codelet->display();
    part.codelets.push_back({codelet->name(), display.name, display.colour});
  }
  return part;
}

}  // namespace starpmc
