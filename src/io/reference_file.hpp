#pragma once

#include <filesystem>
#include <string>

#include "qm/solute_reference.hpp"

namespace starpmc {

/// reference.h5: HDF5, whole or not there.
/// @throws RunError naming the file and the system's reason
void write_reference(const std::filesystem::path& path, const SoluteReference& reference);

/// @param place   the option that names the file, or the file itself, for messages
/// @param remedy  what to do where it cannot be used
/// @throws InputError where it is missing, no such file, cut or damaged
SoluteReference read_reference(const std::filesystem::path& path, const std::string& place,
                               const std::string& remedy);

/// What differs between the solute and level of theory of a reference and those of a run, one thing
/// by name with both values; empty: nothing.
std::string difference(const ReferenceIdentity& found, const ReferenceIdentity& expected);

/// SHA-256 of all that sampling depends on.
std::string digest(const SoluteReference& reference);

}  // namespace starpmc
