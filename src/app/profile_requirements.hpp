#pragma once

#include <filesystem>

#include "app/inputs.hpp"
#include "system/solute_path.hpp"
#include "system/system.hpp"

namespace starpmc {

/// @throws InputError where the configuration is not one for a profile
void require_profile(const Inputs& inputs);

/// @param file that the path was read from
/// @throws InputError where its atoms are not those of the QM molecule, in their order
void require_same_atoms(const std::filesystem::path& file, const SolutePath& path,
                        const Solute& solute);

/// @throws InputError where titles of images say that they were made for another electronic state
void require_same_state(const Inputs& inputs, const SolutePath& path);

}  // namespace starpmc
