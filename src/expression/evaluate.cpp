#include "expression/evaluate.hpp"

#include <cmath>

#include "kernels/scalar/standard_operation.hpp"

namespace starpmc::expression {
namespace {

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
  return scalar::standard_operation(operation, a, b, c);
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
