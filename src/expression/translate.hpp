#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "expression/pool.hpp"

namespace starpmc::expression {

struct TranslationOptions {
  /// Inputs of the program in their order; empty: all variables, sorted, the squared one by the
  /// name of its square.
  std::vector<std::string> inputs{};
  /// A variable that is positive and given as its square, such as the distance r.
  std::optional<std::string> squared_variable{};
  /// The input that gives the square.
  std::string square_input = "r_squared";
  /// Inputs that vary from evaluation to evaluation, for part(): what depends on the others only is
  /// gathered into values of its own, and the instructions that are left are as few as possible.
  /// Empty: all.
  std::vector<std::string> varying{};
};

/// Translates expressions into one program, jointly: what several of them contain is computed
/// once; all powers of a base come from one chain (PowerTable); a product is divided once, and what
/// divides several products is inverted once. Of several forms of the expressions, equal over the
/// reals (powers of products split or not, common factors taken out of sums or not), the cheapest
/// is taken.
/// @return a program whose outputs are the expressions in their order
/// @throws InputError for a variable that is no input, or that has the name of the square
Program translate(Pool& pool, std::span<const Node> outputs,
                  const TranslationOptions& options = {});

/// A one-to-one translation, for comparison: every operation where it stands, every power by the
/// operation `power`, nothing shared.
/// @throws InputError beyond a million instructions
Program translate_naively(const Pool& pool, std::span<const Node> outputs,
                          std::vector<std::string> inputs = {});

}  // namespace starpmc::expression
