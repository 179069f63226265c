#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace starpmc::expression {

enum class TokenKind : std::uint8_t { number, name, symbol, end };

/// A piece of an expression's text; `text` is part of that text.
struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
  double value = 0;  ///< of a number

  bool is(char symbol) const { return kind == TokenKind::symbol && text.front() == symbol; }
};

/// Cuts a text into numbers, names (letters, digits and _, not beginning with a digit) and the
/// symbols + - * / ^ ( ) , ; =. The last token is the end.
/// @throws InputError for anything else and for a number beyond the range of double
std::vector<Token> cut_into_tokens(std::string_view text);

/// An error at a place of an expression: says the column, and shows the text with a caret below.
/// @param at       the part of `text` that is wrong
/// @param problem  what is wrong or what was expected
[[noreturn]] void fail_at(std::string_view text, std::string_view at, std::string_view problem,
                          std::string_view remedy);

}  // namespace starpmc::expression
