#include "expression/functions.hpp"

#include <algorithm>
#include <array>

namespace starpmc::expression {
namespace {

constexpr std::array<Function, 26> kFunctions = {{
    {"sqrt", 1, Operation::square_root}, {"exp", 1, Operation::exp},
    {"log", 1, Operation::log},          {"sin", 1, Operation::sin},
    {"cos", 1, Operation::cos},          {"tan", 1, Operation::tan},
    {"asin", 1, Operation::asin},        {"acos", 1, Operation::acos},
    {"atan", 1, Operation::atan},        {"atan2", 2, Operation::atan2},
    {"sinh", 1, Operation::sinh},        {"cosh", 1, Operation::cosh},
    {"tanh", 1, Operation::tanh},        {"erf", 1, Operation::erf},
    {"erfc", 1, Operation::erfc},        {"abs", 1, Operation::abs},
    {"floor", 1, Operation::floor},      {"ceil", 1, Operation::ceil},
    {"min", 2, Operation::min},          {"max", 2, Operation::max},
    {"step", 1, Operation::step},        {"delta", 1, Operation::delta},
    {"select", 3, Operation::select},    {"square", 1, std::nullopt},
    {"cube", 1, std::nullopt},           {"recip", 1, Operation::reciprocal},
}};

}  // namespace

std::span<const Function> functions() { return kFunctions; }

const Function* find_function(std::string_view name) {
  const auto* const found = std::ranges::find(kFunctions, name, &Function::name);
  return found == kFunctions.end() ? nullptr : found;
}

std::string_view function_name(Operation operation) {
  const auto* const found =
      std::ranges::find(kFunctions, std::optional<Operation>(operation), &Function::operation);
  return found == kFunctions.end() ? std::string_view{} : found->name;
}

}  // namespace starpmc::expression
