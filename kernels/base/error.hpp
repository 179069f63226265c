#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace starpmc {

/// Bad input (exit status 2). Says where, what is wrong, what was found, and what would be right.
class InputError : public std::runtime_error {
 public:
  /// @param place   file, file:line, or configuration key
  /// @param problem what is wrong, one clause
  /// @param found   the value found, or empty where there is none
  /// @param remedy  what to write or do instead
  InputError(std::string_view place, std::string_view problem, std::string_view found,
             std::string_view remedy);
};

/// Failure at run time (exit status 1): a device, the QM worker, the disk.
class RunError : public std::runtime_error {
 public:
  explicit RunError(const std::string& what) : std::runtime_error(what) {}
};

}  // namespace starpmc
