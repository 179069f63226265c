#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace starpmc {

/// Reads one object of a saved state. Everything throws RunError that names the owner, the key,
/// and what was found where something else was expected.
class StateDocument {
 public:
  /// @param owner    what the state is of, for messages
  /// @param document must be an object and outlive this
  StateDocument(std::string_view owner, const nlohmann::json& document);

  std::uint64_t count(std::string_view key) const;
  const nlohmann::json& object(std::string_view key) const;
  /// Finite.
  double number(std::string_view key) const;
  double sum_of_squares(std::string_view key) const;
  /// Finite numbers, as many as `size`.
  std::vector<double> numbers(std::string_view key, std::uint64_t size) const;
  /// As numbers(), none of them negative.
  std::vector<double> sums_of_squares(std::string_view key, std::uint64_t size) const;

  [[noreturn]] void refuse(std::string_view problem) const;

 private:
  const nlohmann::json& at(std::string_view key) const;

  std::string owner_;
  const nlohmann::json& document_;
};

}  // namespace starpmc
