#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace starpmc::opencl {

/// Text of some kernel files one after another, with every #include "..." replaced by the file's
/// text: an include path given to a device's compiler could not hold spaces.
/// @param folder what the names and the includes are relative to
/// @throws RunError where a file cannot be read
std::string source_text(const std::filesystem::path& folder,
                        std::span<const std::string_view> names);

}  // namespace starpmc::opencl
