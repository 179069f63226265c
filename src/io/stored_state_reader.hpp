#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "system/stored_state.hpp"

namespace starpmc {

/// How a file of HDF5 begins.
inline constexpr std::string_view kHdf5Signature = "\211HDF\r\n\032\n";

/// Whether a file is one of HDF5, as trajectory.h5md is.
bool is_hdf5_file(const std::filesystem::path& path);

/// A frame of a trajectory.h5md.
/// @param frame the first is 0; none: the last
/// @throws InputError naming the file and what is wrong with it
StoredState read_stored_state(const std::filesystem::path& trajectory,
                              std::optional<std::uint64_t> frame);

/// The positions of a run, finished or not, at its last checkpoint: of a finished one, at its end.
/// @param folder that of the run, or of one of its chains where there are several
/// @throws InputError naming the folder and what is wrong with it
StoredState read_state_of_run(const std::filesystem::path& folder);

}  // namespace starpmc
