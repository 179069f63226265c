#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace starpmc {

/// A value that is left out where there is none.
template <class Value>
void put(nlohmann::json& document, const char* name, const std::optional<Value>& value) {
  if (value) document[name] = *value;
}

template <class Value>
void take(const nlohmann::json& document, const char* name, std::optional<Value>& value) {
  if (document.contains(name)) value = document.at(name).get<Value>();
}

}  // namespace starpmc
