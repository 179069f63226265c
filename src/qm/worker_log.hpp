#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace starpmc {

/// What a worker says on its standard error, in bounded memory: of a flood the end is kept.
class WorkerLog {
 public:
  static constexpr std::size_t kMostBytes = 1 << 20;

  void append(std::string_view bytes);
  /// Fit to be shown, see shown_text(); says how much of the beginning is missing.
  std::string text() const;
  /// Of that the last 20 lines or 8 KiB.
  std::string last_lines() const;

 private:
  std::string bytes_;
  std::size_t dropped_ = 0;
};

}  // namespace starpmc
