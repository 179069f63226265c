#pragma once

#include <filesystem>
#include <span>

#include "mpi/ranks.hpp"

namespace starpmc {

/// Waits until every rank sees files as rank 0 has written them: a network file system may take
/// seconds to show what is new. All ranks call it, with the same files.
/// @throws AgreedFailure where a rank has a folder of its own by that name
void await_common_files(Ranks& ranks, std::span<const std::filesystem::path> files);

}  // namespace starpmc
