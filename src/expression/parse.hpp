#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "expression/pool.hpp"

namespace starpmc::expression {

/// Bytes a text may have, and parentheses, calls and exponents that may be open at one place.
inline constexpr std::size_t kLongestText = 1'000'000;
inline constexpr int kDeepestNesting = 500;

/// Reads an expression in the language of OpenMM's custom forces (Lepton):
/// `4*epsilon*((sigma/r)^12-(sigma/r)^6); sigma=0.5*(sigma1+sigma2);
/// epsilon=sqrt(epsilon1*epsilon2)`
///
/// + - * / from the left; ^ from the right and before a minus sign: -x^2 = -(x^2), 2^3^2 = 2^9,
/// 2^-x^2 = 2^(-(x^2)). After the expression come definitions, `; name = expression`, each of which
/// may use any other, but not itself. Functions: see functions(). Unlike Lepton, a name defined
/// twice and a number without digits in its exponent are errors.
///
/// @param known variables there may be; definitions may not have their names. Without it, any.
/// @throws InputError that shows the text with a caret below what is wrong
Node parse(Pool& pool, std::string_view text,
           std::optional<std::span<const std::string>> known = std::nullopt);

}  // namespace starpmc::expression
