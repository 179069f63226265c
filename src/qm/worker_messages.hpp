// How WorkerEngine makes requests and reads answers: for its sources.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "qm/message.hpp"
#include "qm/worker_engine.hpp"

namespace starpmc {

inline MessageArray positions_array(std::string name, const std::vector<Vector3>& positions) {
  MessageArray array{std::move(name), {positions.size(), 3}, {}};
  array.values.reserve(3 * positions.size());
  for (const Vector3& position : positions) {
    array.values.insert(array.values.end(), {position.x, position.y, position.z});
  }
  return array;
}

inline MessageArray vector_array(std::string name, std::span<const double> values) {
  return {std::move(name), {values.size()}, {values.begin(), values.end()}};
}

/// Row `row` of a two-dimensional array.
inline std::vector<double> row_of(const MessageArray& array, std::size_t row) {
  const auto first = array.values.begin() + static_cast<std::ptrdiff_t>(row * array.shape[1]);
  return {first, first + static_cast<std::ptrdiff_t>(array.shape[1])};
}

inline double largest_magnitude(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

/// get() alone would take true for 1 and cut 1e300 to some integer.
template <typename Value>
Value value_of(const nlohmann::json& value) {
  using std::numeric_limits;
  const bool fits =
      !std::is_same_v<Value, int> ||
      (value.is_number_integer() && value.get<double>() >= numeric_limits<int>::min() &&
       value.get<double>() <= numeric_limits<int>::max());
  if (!fits || (std::is_same_v<Value, double> && !value.is_number())) {
    throw nlohmann::json::type_error::create(302, "not such a number", nullptr);
  }
  return value.get<Value>();
}

template <typename Number>
Number WorkerEngine::field(const Message& message, const std::string& name) {
  try {
    return value_of<Number>(message.header.at(name));
  } catch (const nlohmann::json::exception&) {
    process().fail(
        fmt::format("field {} of '{}' is missing or malformed", name, text(message, "type")));
  }
}

template <typename Number>
std::optional<Number> WorkerEngine::optional_field(const Message& message,
                                                   const std::string& name) {
  if (!message.header.contains(name)) return std::nullopt;
  return field<Number>(message, name);
}

}  // namespace starpmc
