// The timeline as text: a table, and a trace in Paje's format.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <queue>

#include "io/timeline.hpp"

namespace starpmc {
namespace {

/// A field of a CSV file (RFC 4180).
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

/// A string of a Paje file: its format has no way to write a quotation mark or a line's end in one.
std::string paje_string(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    const bool is_control = static_cast<unsigned char>(c) < ' ';
    result += c == '"' ? '\'' : is_control ? ' ' : c;
  }
  return result + '"';
}

constexpr double kNanosecondsPerMillisecond = 1e6;
constexpr double kNanosecondsPerSecond = 1e9;

/// The events that are used. Numbers are the file's own.
enum PajeEvent {
  kDefineContainerType,
  kDefineStateType,
  kDefineEntityValue,
  kCreateContainer,
  kDestroyContainer,
  kSetTask,
  kSetIdle
};

constexpr const char* kPajeHeader = R"(%EventDef PajeDefineContainerType 0
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineStateType 1
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineEntityValue 2
% Alias string
% Type string
% Name string
% Color color
%EndEventDef
%EventDef PajeCreateContainer 3
% Time date
% Alias string
% Type string
% Container string
% Name string
%EndEventDef
%EventDef PajeDestroyContainer 4
% Time date
% Type string
% Name string
%EndEventDef
%EventDef PajeSetState 5
% Time date
% Type string
% Container string
% Value string
% Chain string
% Window string
%EndEventDef
%EventDef PajeSetState 6
% Time date
% Type string
% Container string
% Value string
%EndEventDef
)";

/// Writes a timeline's events in the order of their times.
class PajeWriter {
 public:
  PajeWriter(const Timeline& timeline, CheckedFile& file)
      : timeline_(timeline), file_(file), worker_end_ns_(timeline.workers().size(), 0) {}

  void write() {
    file_.write(kPajeHeader);
    define();
    timeline_.for_each([this](const Timeline::Visit& visit) {
      idle_until(visit.shown_start_ns);
      begin(visit);
    });
    idle_until(INT64_MAX);
    std::int64_t end = timeline_.end_ns();
    for (const std::int64_t last : worker_end_ns_) end = std::max(end, last);
    for (std::size_t i = 0; i < timeline_.workers().size(); ++i) {
      line("{} {:.9f} Worker w{}\n", static_cast<int>(kDestroyContainer), seconds(end), i);
    }
    line("{} {:.9f} Run run\n", static_cast<int>(kDestroyContainer), seconds(end));
  }

 private:
  struct End {
    std::int64_t ns;
    std::size_t worker;
    friend auto operator<=>(const End&, const End&) = default;
  };

  static double seconds(std::int64_t ns) { return static_cast<double>(ns) / kNanosecondsPerSecond; }

  template <class... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    text_.clear();
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    file_.write(text_);
  }

  void define() {
    line("{} Run 0 \"Run\"\n", static_cast<int>(kDefineContainerType));
    line("{} Worker Run \"Worker\"\n", static_cast<int>(kDefineContainerType));
    line("{} Task Worker \"Task\"\n", static_cast<int>(kDefineStateType));
    line("{} idle Task \"idle\" \"0.93 0.93 0.93\"\n", static_cast<int>(kDefineEntityValue));
    for (std::size_t i = 0; i < timeline_.codelets().size(); ++i) {
      const TimelineCodelet& codelet = timeline_.codelets()[i];
      const auto part = [&](unsigned shift) { return ((codelet.colour >> shift) & 0xFFU) / 255.0; };
      line("{} c{} Task {} \"{:.3f} {:.3f} {:.3f}\"\n", static_cast<int>(kDefineEntityValue), i,
           paje_string(codelet.name), part(16), part(8), part(0));
    }
    line("{} 0.000000000 run Run 0 \"starpmc\"\n", static_cast<int>(kCreateContainer));
    for (std::size_t i = 0; i < timeline_.workers().size(); ++i) {
      line("{} 0.000000000 w{} Worker run {}\n", static_cast<int>(kCreateContainer), i,
           paje_string(timeline_.workers()[i].name));
      line("{} 0.000000000 Task w{} idle\n", static_cast<int>(kSetIdle), i);
    }
  }

  /// The ends of tasks up to a time, but those at which the worker's next task begins.
  void idle_until(std::int64_t ns) {
    while (!ends_.empty() && ends_.top().ns < ns) {
      const End end = ends_.top();
      ends_.pop();
      // Another task may have begun at this very time.
      if (worker_end_ns_[end.worker] != end.ns) continue;
      line("{} {:.9f} Task w{} idle\n", static_cast<int>(kSetIdle), seconds(end.ns), end.worker);
    }
  }

  void begin(const Timeline::Visit& visit) {
    const auto number = [](std::int64_t value) {
      return value == TimelineTask::kNone ? std::string("\"\"") : std::to_string(value);
    };
    line("{} {:.9f} Task w{} c{} {} {}\n", static_cast<int>(kSetTask),
         seconds(visit.shown_start_ns), visit.worker, visit.codelet, number(visit.task.chain),
         number(visit.task.window));
    worker_end_ns_[visit.worker] = visit.shown_end_ns;
    ends_.push({visit.shown_end_ns, visit.worker});
  }

  const Timeline& timeline_;
  CheckedFile& file_;
  std::string text_;
  std::vector<std::int64_t> worker_end_ns_;  ///< of its last task so far
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

}  // namespace

void write_timeline_csv(const Timeline& timeline, const std::filesystem::path& path) {
  write_long_file_atomically(path, [&](CheckedFile& file) {
    file.write("worker,worker_name,codelet,chain,window,start_ms,end_ms\n");
    std::vector<std::string> names;
    for (const TimelineWorker& worker : timeline.workers()) {
      names.push_back(fmt::format("{},{}", worker.id, csv_field(worker.name)));
    }
    std::string line;
    timeline.for_each([&](const Timeline::Visit& visit) {
      const TimelineTask& task = visit.task;
      const auto number = [](std::int64_t value) {
        return value == TimelineTask::kNone ? std::string() : std::to_string(value);
      };
      line.clear();
      fmt::format_to(std::back_inserter(line), "{},{},{},{},{:.4f},{:.4f}\n", names[visit.worker],
                     timeline.codelets()[visit.codelet].codelet, number(task.chain),
                     number(task.window),
                     static_cast<double>(task.started_ns) / kNanosecondsPerMillisecond,
                     static_cast<double>(task.ended_ns) / kNanosecondsPerMillisecond);
      file.write(line);
    });
  });
}

void write_paje_trace(const Timeline& timeline, const std::filesystem::path& path) {
  write_long_file_atomically(path, [&](CheckedFile& file) { PajeWriter(timeline, file).write(); });
}

}  // namespace starpmc
