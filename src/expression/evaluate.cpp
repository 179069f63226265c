#include "expression/evaluate.hpp"

#include <cmath>
#include <unordered_map>

namespace starpmc::expression {
namespace {

template <class Real>
Real evaluate_transcendental(Operation operation, Real a, Real b) {
  switch (operation) {
    case Operation::exp:
      return std::exp(a);
    case Operation::log:
      return std::log(a);
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
      return std::pow(a, b);
  }
}

template <class Real>
Real evaluate_node(const Pool& pool, Node node, const std::vector<Real>& values) {
  const auto operands = pool.operands(node);
  const auto of = [&](std::size_t i) {
    return i < operands.size() ? values[operands[i].node.index] : Real(0);
  };
  auto result = static_cast<Real>(pool.value(node));
  if (pool.kind(node) == Kind::sum) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      result += static_cast<Real>(operands[i].factor) * of(i);
    }
  } else if (pool.kind(node) == Kind::product) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      result *= std::pow(of(i), static_cast<Real>(operands[i].factor));
    }
  } else if (pool.kind(node) == Kind::function) {
    result = evaluate_operation(pool.operation(node), of(0), of(1), of(2));
  }
  return result;
}

}  // namespace

template <class Real>
Real evaluate_operation(Operation operation, Real a, Real b, Real c) {
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
      return a < 0 ? Real(0) : Real(1);
    case Operation::delta:
      return a == 0 ? Real(1) : Real(0);
    case Operation::select:
      return a == 0 ? c : b;
    default:
      return evaluate_transcendental(operation, a, b);
  }
}

template <class Real>
std::vector<Real> evaluate(const Pool& pool, std::span<const Node> roots,
                           const std::map<std::string, Real, std::less<>>& arguments) {
  std::vector<Real> values(pool.size());
  for (const Node node : pool.reachable(roots)) {
    if (pool.kind(node) == Kind::variable) {
      const auto found = arguments.find(pool.name(node));
      if (found == arguments.end()) {
        throw InputError("expression", "a variable without a value", pool.name(node),
                         "give it one");
      }
      values[node.index] = found->second;
    } else {
      values[node.index] = evaluate_node(pool, node, values);
    }
  }
  std::vector<Real> results;
  for (const Node root : roots) results.push_back(values[root.index]);
  return results;
}

template float evaluate_operation(Operation, float, float, float);
template double evaluate_operation(Operation, double, double, double);
template long double evaluate_operation(Operation, long double, long double, long double);
template std::vector<float> evaluate(const Pool&, std::span<const Node>,
                                     const std::map<std::string, float, std::less<>>&);
template std::vector<double> evaluate(const Pool&, std::span<const Node>,
                                      const std::map<std::string, double, std::less<>>&);
template std::vector<long double> evaluate(const Pool&, std::span<const Node>,
                                           const std::map<std::string, long double, std::less<>>&);

}  // namespace starpmc::expression
