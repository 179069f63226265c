#pragma once

#include <string>
#include <vector>

namespace starpmc {

/// A program takes the place of this process (execve(2)), without a shell between.
/// @param command its path and its arguments
/// @throws RunError when it cannot be started
[[noreturn]] void replace_process(std::vector<std::string> command);
/// @param environment its, as NAME=VALUE
[[noreturn]] void replace_process(std::vector<std::string> command,
                                  std::vector<std::string> environment);

}  // namespace starpmc
