#include "analysis/state_document.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

/// Short enough for a message, whatever the document holds.
std::string shown(const nlohmann::json& value) {
  if (value.is_structured()) return fmt::format("an {} of {}", value.type_name(), value.size());
  if (value.is_number() || value.is_boolean()) return value.dump();
  return value.type_name();
}

}  // namespace

StateDocument::StateDocument(std::string_view owner, const nlohmann::json& document)
    : owner_(owner), document_(document) {
  if (!document.is_object())
    refuse(fmt::format("should be an object with its values, not {}", shown(document)));
}

void StateDocument::refuse(std::string_view problem) const {
  throw RunError(fmt::format("saved state of the {}: {}", owner_, problem));
}

const nlohmann::json& StateDocument::at(std::string_view key) const {
  const auto found = document_.find(std::string(key));
  if (found == document_.end()) refuse(fmt::format("'{}' is missing", key));
  return *found;
}

std::uint64_t StateDocument::count(std::string_view key) const {
  const nlohmann::json& value = at(key);
  if (!value.is_number_integer() || (!value.is_number_unsigned() && value.get<std::int64_t>() < 0))
    refuse(fmt::format("'{}' should be a whole number of at least 0, not {}", key, shown(value)));
  return value.get<std::uint64_t>();
}

const nlohmann::json& StateDocument::object(std::string_view key) const {
  const nlohmann::json& value = at(key);
  if (!value.is_object())
    refuse(fmt::format("'{}' should be an object, not {}", key, shown(value)));
  return value;
}

double StateDocument::number(std::string_view key) const {
  const nlohmann::json& value = at(key);
  if (!value.is_number() || !std::isfinite(value.get<double>()))
    refuse(fmt::format("'{}' should be a finite number, not {}", key, shown(value)));
  return value.get<double>();
}

double StateDocument::sum_of_squares(std::string_view key) const {
  const double sum = number(key);
  if (sum < 0) refuse(fmt::format("'{}' is a sum of squares and cannot be {}", key, sum));
  return sum;
}

std::vector<double> StateDocument::numbers(std::string_view key, std::uint64_t size) const {
  const nlohmann::json& values = at(key);
  if (!values.is_array() || values.size() != size)
    refuse(fmt::format("'{}' should be an array of {}, not {}", key, size, shown(values)));
  std::vector<double> numbers;
  numbers.reserve(values.size());
  for (const nlohmann::json& value : values) {
    if (!value.is_number() || !std::isfinite(value.get<double>())) {
      refuse(fmt::format("'{}[{}]' should be a finite number, not {}", key, numbers.size(),
                         shown(value)));
    }
    numbers.push_back(value.get<double>());
  }
  return numbers;
}

std::vector<double> StateDocument::sums_of_squares(std::string_view key, std::uint64_t size) const {
  std::vector<double> sums = numbers(key, size);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i] < 0)
      refuse(fmt::format("'{}[{}]' is a sum of squares and cannot be {}", key, i, sums[i]));
  }
  return sums;
}

}  // namespace starpmc
