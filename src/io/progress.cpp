#include "io/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/environment.hpp"
#include "kernels/base/logging.hpp"

namespace starpmc {
namespace {

using std::chrono::duration;
using std::chrono::milliseconds;

constexpr milliseconds shown_interval{200};
constexpr std::chrono::seconds log_interval{10};
constexpr std::size_t narrowest = 20;

std::size_t terminal_columns() {
  winsize size{};
  constexpr std::size_t standard = 80;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return standard;
  return size.ws_col;
}

std::string rate_text(double per_second, const std::string& unit) {
  if (per_second >= 100) return fmt::format("{:.0f} {}s/s", per_second, unit);
  return fmt::format("{:.3g} {}s/s", per_second, unit);
}

void write_to_standard_error(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

nlohmann::ordered_json known(double value, bool is_known) {
  return is_known ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

}  // namespace

std::string format_duration(double seconds_in_all) {
  constexpr double largest = 1e9;
  const auto whole =
      static_cast<std::uint64_t>(std::clamp(std::round(seconds_in_all), 0.0, largest));
  const auto minutes = whole / 60;
  const auto hours = minutes / 60;
  if (minutes == 0) return fmt::format("{} s", whole);
  if (hours == 0) return fmt::format("{} min {:02} s", minutes, whole % 60);
  if (hours < 24) return fmt::format("{} h {:02} min", hours, minutes % 60);
  return fmt::format("{} d {:02} h", hours / 24, hours % 24);
}

Progress::Progress(Sink sink) : sink_(std::move(sink)), start_(sink_.now()), last_write_(start_) {}

bool Progress::json_wanted() { return environment("STARPMC_PROGRESS") == "json"; }

Progress Progress::to_standard_error() {
  Sink sink;
  if (json_wanted()) {
    sink.form = Form::json_lines;
    sink.write = [](std::string_view line) { write_to_standard_error(std::string(line) + '\n'); };
  } else if (isatty(STDERR_FILENO) == 1) {
    sink.form = Form::terminal;
    sink.width = terminal_columns;
    sink.write = write_to_standard_error;
  } else {
    sink.write = [](std::string_view line) { spdlog::info("{}", line); };
  }
  return Progress(std::move(sink));
}

std::string Progress::line(const ProgressState& state, double steps_per_second,
                           double remaining_seconds, std::size_t width) {
  const double done = state.total_steps == 0 ? 1
                                             : static_cast<double>(state.step) /
                                                   static_cast<double>(state.total_steps);
  // The most wanted first: a narrow terminal cuts the line at its end.
  // 99.96 % must not read 100.0 %.
  std::string text = fmt::format("{:5.1f} %", std::floor(done * 1000) / 10);
  if (remaining_seconds >= 0) text += "  ETA " + format_duration(remaining_seconds);
  if (!state.phase.empty()) text += "  " + state.phase;
  const bool counts = !state.unit.empty();
  if (counts) text += fmt::format("  {} {}/{}", state.unit, state.step, state.total_steps);
  if (counts && steps_per_second >= 0) text += "  " + rate_text(steps_per_second, state.unit);
  if (!std::isnan(state.acceptance)) text += fmt::format("  acceptance {:.3f}", state.acceptance);
  if (state.qm_updates > 0) text += fmt::format("  QM {}/{}", state.qm_update, state.qm_updates);
  if (text.size() > width) text.resize(width);
  return text;
}

std::string Progress::json_line(const ProgressState& state, double steps_per_second,
                                double remaining_seconds) {
  nlohmann::ordered_json told = {
      {"phase", state.phase},
      {"unit", state.unit},
      {"step", state.step},
      {"total_steps", state.total_steps},
      {"acceptance", known(state.acceptance, !std::isnan(state.acceptance))},
      {"qm_update", state.qm_update},
      {"qm_updates", state.qm_updates},
      {"steps_per_second", known(steps_per_second, steps_per_second >= 0)},
      {"remaining_seconds", known(remaining_seconds, remaining_seconds >= 0)},
  };
  return nlohmann::ordered_json{{"progress", std::move(told)}}.dump();
}

void Progress::update(const ProgressState& state) {
  const auto now = sink_.now();
  if (!started_) {
    started_ = true;
    start_ = now;
    last_write_ = now;
    first_step_ = state.step;
    last_ = state;
    if (sink_.form != Form::text) write(state, now);
    return;
  }
  if (state.step < last_.step || state.unit != last_.unit) {
    // Something else is counted: it has an estimate of its own.
    start_ = now;
    first_step_ = state.step;
  }
  last_ = state;
  const milliseconds interval = sink_.form == Form::text ? log_interval : shown_interval;
  if (now - last_write_ >= interval) write(state, now);
}

void Progress::write(const ProgressState& state, Clock::time_point now) {
  const double elapsed_seconds = duration<double>(now - start_).count();
  const auto steps_done = static_cast<double>(state.step - std::min(first_step_, state.step));
  const bool rate_known = elapsed_seconds > 0 && steps_done > 0;
  const double rate = rate_known ? steps_done / elapsed_seconds : -1;
  const auto left =
      static_cast<double>(state.total_steps - std::min(state.step, state.total_steps));
  const double remaining_seconds = rate_known ? left / rate : -1;
  last_write_ = now;
  if (sink_.form == Form::json_lines) return sink_.write(json_line(state, rate, remaining_seconds));
  if (sink_.form == Form::text)
    return sink_.write(line(state, rate, remaining_seconds, std::string::npos));
  // A line as wide as the terminal would wrap, and then could not be rewritten.
  const std::size_t width = std::max(sink_.width(), narrowest) - 1;
  sink_.write("\r" + line(state, rate, remaining_seconds, width) + "\033[K");
}

void Progress::finish() {
  if (!started_) return;
  write(last_, sink_.now());
  if (sink_.form == Form::terminal) sink_.write("\n");
  started_ = false;
}

}  // namespace starpmc
