#pragma once

#include <cstdlib>
#include <string>

namespace starpmc {

/// The value of an environment variable; "" where it is not set.
inline std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Whether it asks for what it names: set, and not 0.
inline bool is_on(const char* name) {
  const std::string value = environment(name);
  return !value.empty() && value != "0";
}

}  // namespace starpmc
