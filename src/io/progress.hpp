#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace starpmc {

/// What a progress report tells.
struct ProgressState {
  std::uint64_t step = 0;
  std::uint64_t total_steps = 0;
  double acceptance = 0;         ///< accepted / tried moves; NaN: there are none
  std::uint64_t qm_update = 0;   ///< updates begun so far; 0: none
  std::uint64_t qm_updates = 0;  ///< updates expected in all; 0: no QM
  std::string phase;             ///< "equilibration", "production", "QM update", ...
  std::string unit = "step";     ///< what is counted; empty: nothing worth showing
};

/// Progress of a run: one line rewritten in place on a terminal, a log line now and then elsewhere,
/// or lines of JSON for the program that started this one.
class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  enum class Form { text, terminal, json_lines };

  struct Sink {
    Form form = Form::text;
    /// Receives raw text for a terminal, whole lines (no newline) otherwise.
    std::function<void(std::string_view)> write;
    std::function<std::size_t()> width = [] { return std::size_t{80}; };  ///< terminal columns
    std::function<Clock::time_point()> now = [] { return Clock::now(); };
  };

  explicit Progress(Sink sink);
  /// To standard error if that is a terminal, or in JSON where json_wanted(); to the log every ten
  /// seconds otherwise.
  static Progress to_standard_error();
  /// Whether the environment has STARPMC_PROGRESS=json.
  static bool json_wanted();

  /// Cheap; writes at most every 0.2 s (terminal, JSON) or 10 s (log).
  void update(const ProgressState& state);
  /// Writes the last state and ends the line.
  void finish();

  /// The line itself, cut to `width` columns. Negative seconds or rate: not known yet.
  static std::string line(const ProgressState& state, double steps_per_second,
                          double remaining_seconds, std::size_t width);
  /// {"progress": {...}}, with null for what is not known.
  static std::string json_line(const ProgressState& state, double steps_per_second,
                               double remaining_seconds);

 private:
  void write(const ProgressState& state, Clock::time_point now);

  Sink sink_;
  Clock::time_point start_;
  Clock::time_point last_write_;
  std::uint64_t first_step_ = 0;
  bool started_ = false;
  ProgressState last_;
};

/// "59 s", "3 min 20 s", "2 h 05 min", "3 d 04 h".
std::string format_duration(double seconds);

}  // namespace starpmc
