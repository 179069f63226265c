#pragma once

#include <filesystem>

namespace starpmc {

/// Whether what has the name of a run's file may be removed as one: it begins as those of this name
/// do, or is empty. What the QM program has said can be anything. Not looked into are temporary
/// files and what is no regular file, as a symbolic link.
bool looks_like_a_runs(const std::filesystem::path& path);

}  // namespace starpmc
