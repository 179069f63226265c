#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "io/sha256.hpp"

namespace starpmc {

/// What the user may do where a run cannot go on with a file.
std::string how_to_put_right(std::string_view what);

/// How far a file has come that only grows at its end: what a checkpoint keeps of it.
struct FileExtent {
  std::uint64_t bytes = 0;
  std::string sha256;  ///< of these bytes, 64 hexadecimal digits
};

/// The hash of a file's beginning, for a run that is to go on after it. Symbolic links are not
/// followed.
/// @throws InputError naming the file and what is wrong with it if it is missing, no regular file,
///         shorter than `extent`, or begins with other bytes
Sha256 hash_of_beginning(const std::filesystem::path& path, const FileExtent& extent);

}  // namespace starpmc
