#pragma once

#include <filesystem>

namespace starpmc {

/// What this process may still take: what the machine has free (MemAvailable of /proc/meminfo), or
/// less where a limit of its control groups is nearer, as those of batch jobs and containers are.
/// Infinite where nothing is told.
/// @param root where the system's files are, for tests
double free_memory_mb(const std::filesystem::path& root = "/");

}  // namespace starpmc
