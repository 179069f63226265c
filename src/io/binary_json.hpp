#pragma once

#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "kernels/base/error.hpp"

namespace starpmc {

/// Numbers as a byte string of a checkpoint: every bit, and no more space than in memory.
template <class T>
nlohmann::json to_binary(std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  std::vector<std::uint8_t> copy(bytes.size());
  if (!bytes.empty()) std::memcpy(copy.data(), bytes.data(), bytes.size());
  return nlohmann::json::binary(std::move(copy));
}
template <class T>
nlohmann::json to_binary(const std::vector<T>& values) {
  return to_binary(std::span<const T>(values));
}

/// @throws RunError where the byte string does not hold `values.size()` numbers
template <class T>
void from_binary(const nlohmann::json& binary, const std::string& name, std::span<T> values) {
  const auto& bytes = binary.get_binary();
  if (bytes.size() != values.size_bytes()) {
    throw RunError("the checkpoint holds " + std::to_string(bytes.size() / sizeof(T)) +
                   " values of the " + name + ", the system has " + std::to_string(values.size()));
  }
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
}

template <class T>
std::vector<T> vector_from_binary(const nlohmann::json& binary) {
  const auto& bytes = binary.get_binary();
  if (bytes.size() % sizeof(T) != 0) throw RunError("the checkpoint holds half a number");
  std::vector<T> values(bytes.size() / sizeof(T));
  from_binary(binary, "vector", std::span<T>(values));
  return values;
}

}  // namespace starpmc
