#include <algorithm>
#include <array>
#include <cmath>

#include "expression/evaluate.hpp"
#include "expression/number_rules.hpp"
#include "expression/pool.hpp"

namespace starpmc::expression {
namespace {

bool is_odd_function(Operation operation) {
  using enum Operation;
  constexpr std::array kOdd = {sin, tan, asin, atan, sinh, tanh, erf};
  return std::ranges::find(kOdd, operation) != kOdd.end();
}

bool is_even_function(Operation operation) {
  return operation == Operation::cos || operation == Operation::cosh;
}

}  // namespace

Node Pool::power(Node base, Node exponent) {
  if (kind(exponent) == Kind::number) return power(base, value(exponent));
  if (is_number(base, 1)) return base;
  return call(Operation::power, std::array{base, exponent});
}

Node Pool::apply(Operation operation, std::span<const Node> arguments) {
  const Node a = arguments[0];
  switch (operation) {
    case Operation::add:
      return sum({{a, 1}, {arguments[1], 1}});
    case Operation::subtract:
      return sum({{a, 1}, {arguments[1], -1}});
    case Operation::multiply:
      return product({{a, 1}, {arguments[1], 1}});
    case Operation::divide:
      return product({{a, 1}, {arguments[1], -1}});
    case Operation::negate:
      return scale(a, -1);
    case Operation::reciprocal:
      return power(a, -1);
    case Operation::square_root:
      return power(a, 0.5);
    case Operation::reciprocal_square_root:
      return power(a, -0.5);
    case Operation::power:
      return power(a, arguments[1]);
    default:
      break;
  }
  const bool all_numbers =
      std::ranges::all_of(arguments, [this](Node node) { return kind(node) == Kind::number; });
  if (!all_numbers) return simplified_call(operation, arguments);
  std::array<double, 3> numbers{};
  std::ranges::transform(arguments, numbers.begin(), [this](Node node) { return value(node); });
  return number(evaluate_operation(operation, numbers[0], numbers[1], numbers[2]));
}

Node Pool::simplified_call(Operation operation, std::span<const Node> arguments) {
  const Node a = arguments[0];
  const auto is_call = [this](Node node, Operation called) {
    return kind(node) == Kind::function && this->operation(node) == called;
  };
  if (leads_with_minus(a)) {
    if (is_odd_function(operation)) return scale(apply(operation, {scale(a, -1)}), -1);
    if (is_even_function(operation)) return call(operation, std::array{scale(a, -1)});
  }
  switch (operation) {
    case Operation::abs:
      return absolute(a);
    case Operation::log:
      if (is_call(a, Operation::exp)) return operands(a)[0].node;
      break;
    case Operation::exp:
      if (is_call(a, Operation::log)) return operands(a)[0].node;
      break;
    case Operation::min:
    case Operation::max:
      if (a == arguments[1]) return a;
      if (compare(a, arguments[1]) > 0) return call(operation, std::array{arguments[1], a});
      break;
    case Operation::select:
      if (arguments[1] == arguments[2]) return arguments[1];
      if (kind(a) == Kind::number) return value(a) != 0 ? arguments[1] : arguments[2];
      break;
    default:
      break;
  }
  return call(operation, arguments);
}

Node Pool::absolute(Node argument) {
  if (kind(argument) == Kind::product) {
    if (value(argument) != 1) {
      const Node rest = product(operands(argument));
      return scale(absolute(rest), std::abs(value(argument)));
    }
    const bool even = std::ranges::all_of(
        operands(argument), [](const Operand& power) { return is_even(power.factor); });
    if (even) return argument;
  }
  if (kind(argument) == Kind::number) return number(std::abs(value(argument)));
  if (leads_with_minus(argument)) argument = sum({{argument, -1}});
  if (kind(argument) == Kind::function && operation(argument) == Operation::abs) return argument;
  return call(Operation::abs, std::array{argument});
}

Node Pool::call(Operation operation, std::span<const Node> arguments) {
  std::array<Operand, 3> operands;
  std::ranges::transform(arguments, operands.begin(), [](Node node) { return Operand{node, 0}; });
  return intern({.kind = Kind::function,
                 .operation = operation,
                 .operands = std::span(operands).first(arguments.size())});
}

}  // namespace starpmc::expression
