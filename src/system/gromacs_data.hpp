#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace starpmc {

/// How to get GROMACS's force fields and water boxes; for error messages.
constexpr std::string_view gromacs_data_remedy =
    "install GROMACS's data ('apt install gromacs-data'), or set GMXLIB to the folder with "
    "oplsaa.ff and spc216.gro";

/// Folders in which GROMACS looks for force fields and water boxes, in its order: those of GMXLIB,
/// GMXDATA/top, and share/gromacs/top of the usual installations. Only those that exist.
std::vector<std::filesystem::path> gromacs_folders();

/// A file of GROMACS's data, for example "spc216.gro".
/// @throws InputError if it is in none of the folders
std::filesystem::path find_gromacs_file(std::string_view name);

}  // namespace starpmc
