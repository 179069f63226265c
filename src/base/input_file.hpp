#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace starpmc {

/// What a path leads to where it is not a regular file: "a folder", "a pipe", "a device",
/// "a socket"; empty for a regular file or nothing.
std::string kind_of_other_file(const std::filesystem::path& path);

/// A file of the user's, open for reading. Only regular files: a pipe may never end, and a device
/// has no size that could be checked.
/// @param remedy what to write or do instead
/// @throws InputError if there is no such file, if it is something else, or cannot be opened
std::ifstream open_input_file(const std::filesystem::path& path, std::string_view remedy);

/// Reads over the byte order mark that some editors put before the first line of a text in UTF-8.
/// @param stream at the beginning of the file `path`
/// @throws InputError for the mark of a text in UTF-16, in which no word of ours would be found
void skip_byte_order_mark(std::istream& stream, const std::filesystem::path& path);

/// Size of such a file.
/// @throws InputError if it is larger than `most` bytes
std::size_t checked_file_size(const std::filesystem::path& path, std::size_t most,
                              std::string_view remedy);

/// The path without "." and "..", as far as the same file is meant: "link/.." stays, as it is the
/// folder above the one that a symbolic link leads to, not the one that the link lies in.
std::filesystem::path without_dots(const std::filesystem::path& path);

/// Whether `path` is the name `file`, or leads to it by symbolic links: without that name it finds
/// nothing.
bool is_found_by(const std::filesystem::path& path, const std::filesystem::path& file);

}  // namespace starpmc
