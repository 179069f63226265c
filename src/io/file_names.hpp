#pragma once

#include <string_view>

namespace starpmc {

// By their names alone, which files and folders are a run's.

inline constexpr const char* settings_name = "settings.cfg";
inline constexpr const char* summary_name = "summary.json";
/// A profile's, whose images are runs in folders below.
inline constexpr const char* profile_settings_name = "profile.cfg";
inline constexpr const char* profile_topology_name = "profile-topology.sha256";

/// One that a run or its report leaves.
bool is_result_name(std::string_view name);
/// .NAME.PID.temporary, as write_file_atomically() names it.
bool is_temporary_name(std::string_view name);
/// chain-N, N without leading zeros
bool is_chain_folder_name(std::string_view name);

}  // namespace starpmc
