#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace starpmc {

/// Coordinates and a topology, neither of which is of use without the other.
struct FilePair {
  std::filesystem::path coordinates;
  std::filesystem::path topology;
};

/// Writes both under temporary names beside their own, and gives them their own names, in the place
/// of earlier files, once `read` has read them. Where they cannot be written or read, earlier files
/// stay.
/// @param read given the temporary names; messages of what it throws get the files' own
/// @throws what `read` throws as InputError or RunError; RunError if a file cannot be written
void write_readable_pair(const FilePair& files, std::string_view coordinates,
                         std::string_view topology,
                         const std::function<void(const FilePair&)>& read);

}  // namespace starpmc
