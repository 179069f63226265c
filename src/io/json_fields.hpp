#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace starpmc {

template <class Value>
void put(nlohmann::json& document, const char* name, const Value& value) {
  document[name] = value;
}
/// A value that is left out where there is none.
template <class Value>
void put(nlohmann::json& document, const char* name, const std::optional<Value>& value) {
  if (value) document[name] = *value;
}

template <class Value>
void take(const nlohmann::json& document, const char* name, Value& value) {
  document.at(name).get_to(value);
}
template <class Value>
void take(const nlohmann::json& document, const char* name, std::optional<Value>& value) {
  if (document.contains(name)) value = document.at(name).get<Value>();
}

/// For a list of a record's fields that serves both ways: field("name", record.member) for each.
struct PutFields {
  nlohmann::json& document;
  void operator()(const char* name, const auto& value) const { put(document, name, value); }
};
struct TakeFields {
  const nlohmann::json& document;
  void operator()(const char* name, auto& value) const { take(document, name, value); }
};

}  // namespace starpmc
