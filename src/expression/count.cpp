#include "expression/count.hpp"

#include <numeric>

namespace starpmc::expression {
namespace {

double cost_of(Operation operation) {
  using enum Operation;
  switch (operation) {
    case add:
    case subtract:
    case multiply:
    case negate:
    case abs:
    case floor:
    case ceil:
    case min:
    case max:
    case step:
    case delta:
    case select:
      return 1;
    case divide:
    case reciprocal:
    case square_root:
    case reciprocal_square_root:
      return 4;
    case power:
      return 30;
    default:
      return 15;
  }
}

}  // namespace

std::size_t OperationCounts::total() const {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

OperationCounts count_operations(const Program& program) {
  OperationCounts counts;
  for (const Instruction& instruction : program.instructions) {
    ++counts.counts[static_cast<std::size_t>(instruction.operation)];
  }
  return counts;
}

double estimated_cost(const Program& program) {
  double cost = 0;
  for (const Instruction& instruction : program.instructions)
    cost += cost_of(instruction.operation);
  return cost;
}

std::string_view operation_name(Operation operation) {
  constexpr std::array<std::string_view, OperationCounts::kOperations> kNames = {
      "add",    "subtract",   "multiply",    "divide",
      "negate", "reciprocal", "square root", "reciprocal square root",
      "power",  "exp",        "log",         "sin",
      "cos",    "tan",        "asin",        "acos",
      "atan",   "atan2",      "sinh",        "cosh",
      "tanh",   "erf",        "erfc",        "abs",
      "floor",  "ceil",       "min",         "max",
      "step",   "delta",      "select"};
  return kNames[static_cast<std::size_t>(operation)];
}

}  // namespace starpmc::expression
