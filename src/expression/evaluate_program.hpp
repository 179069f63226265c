#pragma once

#include <span>
#include <vector>

#include "expression/evaluate.hpp"
#include "kernels/program.hpp"

namespace starpmc::expression {

/// Outputs of a program, instruction by instruction.
template <class Real>
std::vector<Real> evaluate_program(const Program& program, std::span<const Real> inputs) {
  std::vector<Real> values(inputs.begin(), inputs.end());
  for (const double constant : program.constants) values.push_back(static_cast<Real>(constant));
  for (const auto& [operation, operands] : program.instructions) {
    const auto [a, b, c] = operands;
    values.push_back(evaluate_operation(operation, values[a], values[b], values[c]));
  }
  std::vector<Real> outputs;
  for (const std::uint32_t output : program.outputs) outputs.push_back(values[output]);
  return outputs;
}

}  // namespace starpmc::expression
