#pragma once

#include <filesystem>

namespace starpmc {

/// Folder of the data files that belong to the program (opls_types.txt): the environment variable
/// STARPMC_DATA, else the source tree the program was built from, else the folder it was installed
/// into, else share/starpmc/data beside the executable's folder. The first that exists.
/// @throws InputError if there is none
std::filesystem::path data_folder();

/// Folder of the runnable inputs that come with the program (configs/), searched the same way; the
/// environment variable is STARPMC_CONFIGS.
std::filesystem::path configs_folder();

}  // namespace starpmc
