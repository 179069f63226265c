#pragma once

#include <string_view>

namespace starpmc {

// By their names alone, which files and folders are a run's.

inline constexpr const char* settings_name = "settings.cfg";
inline constexpr const char* summary_name = "summary.json";

/// One that a run or its report leaves.
bool is_result_name(std::string_view name);
/// .NAME.PID.temporary, as write_file_atomically() names it.
bool is_temporary_name(std::string_view name);
/// chain-N, N without leading zeros
bool is_chain_folder_name(std::string_view name);

}  // namespace starpmc
