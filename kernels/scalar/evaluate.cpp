#include "kernels/scalar/evaluate.hpp"

#include <algorithm>

#include "kernels/base/error.hpp"
#include "kernels/scalar/functions.hpp"
#include "kernels/scalar/standard_operation.hpp"

namespace starpmc::scalar {
namespace {

/// The operations of <cmath>.
struct StandardFunctions {
  template <class Real>
  static Real apply(Operation operation, Real a, Real b, Real c) {
    return standard_operation(operation, a, b, c);
  }
};

/// The operations that have the same bits on every device.
struct ExactFunctions {
  static double apply(Operation operation, double a, double b, double c) {
    switch (operation) {
      case Operation::negate:
        return exact_negate(a);
      case Operation::reciprocal_square_root:
        return exact_reciprocal_square_root(a);
      case Operation::power:
        return exact_power(a, b);
#define STARPMC_CASE(name) \
  case Operation::name:    \
    return exact_##name(a);
        STARPMC_ELEMENTARY_FUNCTIONS(STARPMC_CASE)
#undef STARPMC_CASE
      case Operation::atan2:
        return exact_atan2(a, b);
      case Operation::abs:
        return exact_abs(a);
      case Operation::ceil:
        return exact_ceil(a);
      default:
        return StandardFunctions::apply(operation, a, b, c);  // correctly rounded by the standard
    }
  }
};

template <class Functions, class Real>
void evaluate_with(const Program& program, std::span<const Real> inputs, std::span<Real> outputs,
                   std::vector<Real>& values) {
  if (inputs.size() != program.inputs.size() || outputs.size() != program.outputs.size()) {
    throw RunError("a program of " + std::to_string(program.inputs.size()) + " inputs and " +
                   std::to_string(program.outputs.size()) + " outputs was evaluated with " +
                   std::to_string(inputs.size()) + " and " + std::to_string(outputs.size()));
  }
  values.assign(inputs.begin(), inputs.end());
  for (const double constant : program.constants) values.push_back(static_cast<Real>(constant));
  for (const Instruction& instruction : program.instructions) {
    const auto [a, b, c] = instruction.operands;
    values.push_back(
        Functions::apply(instruction.operation, values.at(a), values.at(b), values.at(c)));
  }
  std::ranges::transform(program.outputs, outputs.begin(),
                         [&](std::uint32_t value) { return values.at(value); });
}

}  // namespace

template <class Real>
void evaluate(const Program& program, std::span<const Real> inputs, std::span<Real> outputs,
              std::vector<Real>& values) {
  evaluate_with<StandardFunctions>(program, inputs, outputs, values);
}

template void evaluate(const Program&, std::span<const float>, std::span<float>,
                       std::vector<float>&);
template void evaluate(const Program&, std::span<const double>, std::span<double>,
                       std::vector<double>&);

void evaluate_exact(const Program& program, std::span<const double> inputs,
                    std::span<double> outputs, std::vector<double>& values) {
  evaluate_with<ExactFunctions>(program, inputs, outputs, values);
}

}  // namespace starpmc::scalar
