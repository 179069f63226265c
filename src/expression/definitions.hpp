#pragma once

#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "expression/tokens.hpp"

namespace starpmc::expression {

/// A part of an expression's text between semicolons: the expression itself, which has no name, or
/// a definition.
struct Definition {
  std::string_view name;
  std::span<const Token> tokens;  ///< of its expression; the last is a semicolon or the end
};

/// The parts of a text, each after those whose names it uses.
/// @throws InputError for a part without a name, a name defined twice or by way of itself
std::vector<Definition> order_definitions(std::string_view text, std::span<const Token> tokens);

}  // namespace starpmc::expression
