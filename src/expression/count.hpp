#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "kernels/program.hpp"

namespace starpmc::expression {

/// How many instructions of each operation a program has.
struct OperationCounts {
  static constexpr std::size_t kOperations = static_cast<std::size_t>(Operation::select) + 1;
  std::array<std::size_t, kOperations> counts{};

  std::size_t of(Operation operation) const { return counts[static_cast<std::size_t>(operation)]; }
  std::size_t total() const;
};

OperationCounts count_operations(const Program& program);

/// Rough time of a program in additions, for choosing the better of two: a quotient or a root
/// counts as 4, a function as 15, a power as 30.
double estimated_cost(const Program& program);

/// "add", "reciprocal square root", ...
std::string_view operation_name(Operation operation);

}  // namespace starpmc::expression
