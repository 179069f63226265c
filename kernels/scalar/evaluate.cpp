#include "kernels/scalar/evaluate.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/base/error.hpp"
#include "kernels/scalar/functions.hpp"

namespace starpmc::scalar {
namespace {

/// The operations of <cmath>.
struct StandardFunctions {
  template <class Real>
  static Real apply(Operation operation, Real a, Real b, Real c) {
    switch (operation) {
      case Operation::add:
        return a + b;
      case Operation::subtract:
        return a - b;
      case Operation::multiply:
        return a * b;
      case Operation::divide:
        return a / b;
      case Operation::negate:
        return -a;
      case Operation::reciprocal:
        return 1 / a;
      case Operation::square_root:
        return std::sqrt(a);
      case Operation::reciprocal_square_root:
        return 1 / std::sqrt(a);
      case Operation::power:
        return std::pow(a, b);
      case Operation::exp:
        return std::exp(a);
      case Operation::log:
        return std::log(a);
      case Operation::abs:
        return std::abs(a);
      case Operation::floor:
        return std::floor(a);
      case Operation::ceil:
        return std::ceil(a);
      case Operation::min:
        return b < a ? b : a;
      case Operation::max:
        return a < b ? b : a;
      case Operation::step:
        return a < 0 ? Real{0} : Real{1};
      case Operation::delta:
        return a == 0 ? Real{1} : Real{0};
      case Operation::select:
        return a == 0 ? c : b;
      default:
        return further(operation, a, b);
    }
  }

 private:
  template <class Real>
  static Real further(Operation operation, Real a, Real b) {
    switch (operation) {
      case Operation::sin:
        return std::sin(a);
      case Operation::cos:
        return std::cos(a);
      case Operation::tan:
        return std::tan(a);
      case Operation::asin:
        return std::asin(a);
      case Operation::acos:
        return std::acos(a);
      case Operation::atan:
        return std::atan(a);
      case Operation::atan2:
        return std::atan2(a, b);
      case Operation::sinh:
        return std::sinh(a);
      case Operation::cosh:
        return std::cosh(a);
      case Operation::tanh:
        return std::tanh(a);
      case Operation::erf:
        return std::erf(a);
      case Operation::erfc:
        return std::erfc(a);
      default:
        throw RunError("an instruction of a program has no operation");
    }
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
      case Operation::exp:
        return exact_exp(a);
      case Operation::log:
        return exact_log(a);
      case Operation::sin:
        return exact_sin(a);
      case Operation::cos:
        return exact_cos(a);
      case Operation::tan:
        return exact_tan(a);
      case Operation::asin:
        return exact_asin(a);
      case Operation::acos:
        return exact_acos(a);
      case Operation::atan:
        return exact_atan(a);
      case Operation::atan2:
        return exact_atan2(a, b);
      case Operation::sinh:
        return exact_sinh(a);
      case Operation::cosh:
        return exact_cosh(a);
      case Operation::tanh:
        return exact_tanh(a);
      case Operation::erf:
        return exact_erf(a);
      case Operation::erfc:
        return exact_erfc(a);
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
