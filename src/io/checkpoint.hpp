#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace starpmc {

/// Writes `content` as checkpoint.cbor of the folder and keeps the one before as
/// checkpoint.previous.cbor; at every instant, be it a kill or a power cut, at least one of them is
/// whole. Symbolic links of these names are replaced, never followed.
///
/// The file: a line "starpmc checkpoint 5" (5: the format's version), a line with the SHA-256 of
/// the rest in 64 hexadecimal digits, then `content` as CBOR (RFC 8949). Finite doubles keep their
/// bits, integers their values, binary values their bytes.
/// @throws RunError naming the file and the system's reason (disk full); the earlier ones are
/// intact
void write_checkpoint(const std::filesystem::path& folder, const nlohmann::json& content);

/// The newest whole checkpoint of the folder; empty where there is no file of these names.
/// @param warnings gets a line, with the file and the reason, where the newest is torn, foreign or
///                 unreadable and the previous one is used
/// @throws InputError naming the files where none can be used, and where one that would be used has
///         another version of the format, however whole the other is: an older one would give up
///         steps made since
std::optional<nlohmann::json> read_checkpoint(const std::filesystem::path& folder,
                                              std::vector<std::string>& warnings);

/// The same file format, of any name, without the one before: replaced as a whole.
/// @throws RunError naming the file and the system's reason (disk full); the earlier one is intact
void write_checkpoint_file(const std::filesystem::path& path, const nlohmann::json& content);

/// @param reason why it cannot be used, where it cannot; empty where there is no such file
std::optional<nlohmann::json> read_checkpoint_file(const std::filesystem::path& path,
                                                   std::string& reason);

/// Leaves the newest one.
void remove_previous_checkpoint(const std::filesystem::path& folder);

/// The newest one's file.
std::filesystem::path checkpoint_path(const std::filesystem::path& folder);

}  // namespace starpmc
