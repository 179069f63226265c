#pragma once

#include <spdlog/common.h>

#include <filesystem>
#include <memory>
#include <string>

namespace starpmc {

// Each of these may be called while other threads log.

/// Sets up spdlog's default logger: everything from `level` on into the file (created, must not
/// exist), warnings and errors also to standard error. Before it is called spdlog warns on standard
/// error only if start_console_logging() was.
/// @param level trace, debug, info, warning or error
/// @throws RunError if the file cannot be created
void start_file_logging(const std::filesystem::path& path, const std::string& level);

/// The same for a resumed run: appends to the file, which is created if it is missing. Symbolic
/// links are not followed.
/// @throws RunError if the file cannot be opened
void resume_file_logging(const std::filesystem::path& path, const std::string& level);

/// Warnings and errors to standard error, nothing else (before there is an output folder).
void start_console_logging();

/// To this alone.
/// @param level at most; warnings always
void start_logging_to(std::shared_ptr<spdlog::sinks::sink> sink, const std::string& level);

/// Writes out and closes the log file; logging goes on to standard error.
void stop_file_logging();

}  // namespace starpmc
