#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace starpmc {

/// The parts one after another.
inline std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

}  // namespace starpmc
