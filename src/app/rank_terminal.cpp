#include "app/rank_terminal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>

#include "io/log.hpp"

namespace starpmc {
namespace {

/// Standard error of the process that started this one, if that is a terminal; empty otherwise.
std::filesystem::path launcher_terminal() {
  std::error_code error;
  auto path = std::filesystem::read_symlink(fmt::format("/proc/{}/fd/2", getppid()), error);
  const std::string name = path.string();
  const bool is_terminal = name.starts_with("/dev/pts/") || name.starts_with("/dev/tty");
  return error || !is_terminal ? std::filesystem::path() : path;
}

std::size_t columns_of(const std::filesystem::path& terminal) {
  constexpr std::size_t kUsual = 80;
  const int descriptor = open(terminal.c_str(), O_RDONLY | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0) return kUsual;
  winsize size{};
  const bool known = ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  close(descriptor);
  return known ? size.ws_col : kUsual;
}

class ForwardingSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit ForwardingSink(std::function<void(int, const std::string&)> take)
      : take_(std::move(take)) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    take_(static_cast<int>(message.level), {message.payload.data(), message.payload.size()});
  }
  void flush_() override {}

 private:
  std::function<void(int, const std::string&)> take_;
};

}  // namespace

Progress progress_of_ranks(const Ranks& ranks) {
  if (ranks.size() == 1) return Progress::to_standard_error();
  Progress::Sink sink;
  if (!ranks.first()) {
    sink.write = [](std::string_view) {};
    return Progress(std::move(sink));
  }
  const std::filesystem::path terminal = launcher_terminal();
  if (terminal.empty() || Progress::json_wanted()) return Progress::to_standard_error();
  sink.form = Progress::Form::terminal;
  sink.width = [terminal] { return columns_of(terminal); };
  sink.write = [](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  };
  return Progress(std::move(sink));
}

ForwardedLog::ForwardedLog(const std::string& level,
                           std::function<void(int, const std::string&)> take) {
  start_logging_to(std::make_shared<ForwardingSink>(std::move(take)), level);
}

ForwardedLog::~ForwardedLog() { start_console_logging(); }

}  // namespace starpmc
