#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "kernels/program.hpp"

namespace starpmc::expression {

/// A function of the language of expressions.
struct Function {
  std::string_view name;
  int arguments;
  /// The operation it is; none for square and cube, which are powers, like sqrt and recip.
  std::optional<Operation> operation;
};

/// Every function of the language, in the order in which messages list them.
std::span<const Function> functions();

/// The function of this name, or nullptr.
const Function* find_function(std::string_view name);

/// The name an operation has as a function of the language; empty for those written otherwise.
std::string_view function_name(Operation operation);

}  // namespace starpmc::expression
