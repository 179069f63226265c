#include "io/log.hpp"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/checked_file.hpp"

namespace starpmc {
namespace {

/// Lines of the log, each handed to the system at once; opened as strictly as every other output.
class FileSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  FileSink(const std::filesystem::path& path, CheckedFile::Mode mode) : file_(path, mode) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    file_.write({line.data(), line.size()});
    file_.flush();
  }
  void flush_() override { file_.flush(); }

 private:
  CheckedFile file_;
};

/// Shows each warning once, however many runs of this process give it: a profile's images warn of
/// the same box, each in its own file.
class Console : public spdlog::sinks::stderr_sink_mt {
 public:
  /// Called by Sinks alone, under its lock.
  void log(const spdlog::details::log_msg& message) override {
    static std::set<std::string> shown;
    const std::string text(message.payload.data(), message.payload.size());
    if (message.level == spdlog::level::warn && !shown.insert(text).second) return;
    spdlog::sinks::stderr_sink_mt::log(message);
  }
};

std::shared_ptr<spdlog::sinks::sink> console_sink() {
  auto sink = std::make_shared<Console>();
  sink->set_level(spdlog::level::warn);
  // On a terminal a progress line may be standing there: the message takes its place.
  sink->set_pattern(isatty(STDERR_FILENO) == 1 ? "\r\033[Kstarpmc: %l: %v" : "starpmc: %l: %v");
  return sink;
}

/// Where the lines go. spdlog's default logger may not be replaced while other threads log by it,
/// so that there is one from start to end and this changes.
class Sinks : public spdlog::sinks::base_sink<std::mutex> {
 public:
  void replace(std::vector<spdlog::sink_ptr> sinks) {
    const std::lock_guard lock(mutex_);
    sinks_.swap(sinks);
  }

 protected:
  /// A failure of one keeps the others from nothing.
  void sink_it_(const spdlog::details::log_msg& message) override {
    std::exception_ptr failure;
    for (const spdlog::sink_ptr& each : sinks_) {
      if (!each->should_log(message.level)) continue;
      try {
        each->log(message);
      } catch (...) {
        failure = std::current_exception();
      }
    }
    if (failure != nullptr) std::rethrow_exception(failure);
  }
  void flush_() override {
    for (const spdlog::sink_ptr& each : sinks_) each->flush();
  }

 private:
  std::vector<spdlog::sink_ptr> sinks_;
};

struct ProgramLog {
  std::shared_ptr<Sinks> sinks = std::make_shared<Sinks>();
  std::shared_ptr<spdlog::logger> logger = std::make_shared<spdlog::logger>("starpmc", sinks);
  std::atomic<bool> failure_told = false;

  ProgramLog() {
    // A log that cannot be written (a full disk) must not end a run whose results still can be; the
    // results' own files report the disk.
    logger->set_error_handler([this](const std::string& what) {
      if (failure_told.exchange(true)) return;
      std::fprintf(stderr, "starpmc: the log cannot be written: %s\n", what.c_str());
    });
  }
};

void use(std::vector<spdlog::sink_ptr> sinks, spdlog::level::level_enum level) {
  static ProgramLog log;
  log.sinks->replace(std::move(sinks));
  log.logger->set_level(level);
  log.failure_told = false;
  if (spdlog::default_logger_raw() != log.logger.get()) spdlog::set_default_logger(log.logger);
}

void log_to_file(const std::filesystem::path& path, const std::string& level,
                 CheckedFile::Mode mode) {
  auto file = std::make_shared<FileSink>(path, mode);
  file->set_pattern("%Y-%m-%d %H:%M:%S.%e %l: %v");
  const auto file_level = spdlog::level::from_str(level);
  file->set_level(file_level);
  use({file, console_sink()}, std::min(file_level, spdlog::level::warn));
}

}  // namespace

void start_console_logging() { use({console_sink()}, spdlog::level::info); }

void start_logging_to(spdlog::sink_ptr sink, const std::string& level) {
  use({std::move(sink)}, std::min(spdlog::level::from_str(level), spdlog::level::warn));
}

void start_file_logging(const std::filesystem::path& path, const std::string& level) {
  log_to_file(path, level, CheckedFile::Mode::create_new);
}

void resume_file_logging(const std::filesystem::path& path, const std::string& level) {
  log_to_file(path, level, CheckedFile::Mode::append);
}

void stop_file_logging() { start_console_logging(); }

}  // namespace starpmc
