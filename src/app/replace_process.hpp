#pragma once

#include <string>
#include <vector>

namespace starpmc {

/// A program takes the place of this process (execv(3)), without a shell between.
/// @param command its path and its arguments
/// @throws RunError when it cannot be started
[[noreturn]] void replace_process(std::vector<std::string> command);

}  // namespace starpmc
