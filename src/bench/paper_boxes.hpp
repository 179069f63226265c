#pragma once

#include <filesystem>

namespace starpmc {

/// The boxes of configs/bench-A.cfg, -B, -C and -R are too large for the source tree: makes those
/// that a configuration file names as {cache}/bench/bench-A.gro and that are not there, as
/// `starpmc solvate` would. Files are complete when they have their names.
/// @throws InputError where GROMACS's data are missing; RunError where the cache cannot be written
void make_paper_boxes_of(const std::filesystem::path& configuration);

}  // namespace starpmc
