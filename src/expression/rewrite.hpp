#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "expression/pool.hpp"

namespace starpmc::expression {

/// What rewriting for a translation has to know; see TranslationOptions.
struct RewriteContext {
  std::optional<std::string> squared_variable;
  std::vector<std::string> varying;  ///< variables, not inputs; empty: all
};

/// (x/r)^12 -> (x^2/r^2)^6 where only r^2 is given and every power of x/r is even: spares a root.
std::vector<Node> square_even_powers(Pool& pool, std::span<const Node> roots,
                                     const RewriteContext& context);

/// (f v)^n -> f^n v^n and f (v + w) -> f v + f w for what does not vary, f, so that it is part of
/// few coefficients. Powers up to 16: the parts' powers must stay in the range of float.
std::vector<Node> gather_coefficients(Pool& pool, std::span<const Node> roots,
                                      const RewriteContext& context);

/// f v^12 + g v^6 -> v^6 (f v^6 + g) for what varies.
std::vector<Node> take_out_factors(Pool& pool, std::span<const Node> roots,
                                   const RewriteContext& context);

}  // namespace starpmc::expression
