#pragma once

#include <filesystem>
#include <optional>

namespace starpmc {

/// As a shell would find it: a path is taken as it is, a bare name is looked up in the PATH.
/// @return none: there is none that may be executed
std::optional<std::filesystem::path> find_program(const std::filesystem::path& program);

}  // namespace starpmc
