#include "io/log.hpp"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <mutex>

#include "io/checked_file.hpp"

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

std::shared_ptr<spdlog::sinks::sink> console_sink() {
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  sink->set_level(spdlog::level::warn);
  // On a terminal a progress line may be standing there: the message takes its place.
  sink->set_pattern(isatty(STDERR_FILENO) == 1 ? "\r\033[Kstarpmc: %l: %v" : "starpmc: %l: %v");
  return sink;
}

void use(std::shared_ptr<spdlog::logger> logger) {
  // A log that cannot be written (a full disk) must not end a run whose results still can be; the
  // results' own files report the disk.
  logger->set_error_handler([said = false](const std::string& what) mutable {
    if (!said) std::fprintf(stderr, "starpmc: the log cannot be written: %s\n", what.c_str());
    said = true;
  });
  spdlog::set_default_logger(std::move(logger));
}

void log_to_file(const std::filesystem::path& path, const std::string& level,
                 CheckedFile::Mode mode) {
  auto file = std::make_shared<FileSink>(path, mode);
  file->set_pattern("%Y-%m-%d %H:%M:%S.%e %l: %v");
  const spdlog::sinks_init_list sinks{file, console_sink()};
  auto logger = std::make_shared<spdlog::logger>("starpmc", sinks);
  const auto file_level = spdlog::level::from_str(level);
  file->set_level(file_level);
  logger->set_level(std::min(file_level, spdlog::level::warn));
  use(std::move(logger));
}

}  // namespace

void start_console_logging() { use(std::make_shared<spdlog::logger>("starpmc", console_sink())); }

void start_file_logging(const std::filesystem::path& path, const std::string& level) {
  log_to_file(path, level, CheckedFile::Mode::create_new);
}

void resume_file_logging(const std::filesystem::path& path, const std::string& level) {
  log_to_file(path, level, CheckedFile::Mode::append);
}

void stop_file_logging() { start_console_logging(); }

}  // namespace starpmc
