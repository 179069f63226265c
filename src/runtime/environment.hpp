#pragma once

#include <cstdlib>
#include <string>

namespace starpmc {

/// The value of an environment variable; "" where it is not set.
inline std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace starpmc
