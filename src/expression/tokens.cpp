#include "expression/tokens.hpp"

#include <algorithm>
#include <charconv>

#include "kernels/base/error.hpp"

namespace starpmc::expression {
namespace {

// The classes of <cctype> depend on the locale.
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
/// Bytes of UTF-8 that go on with a character begun before.
bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::size_t skip_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

/// Length of the number that `rest` begins with.
std::size_t number_length(std::string_view text, std::string_view rest) {
  std::size_t end = skip_digits(rest, 0);
  if (end < rest.size() && rest[end] == '.') end = skip_digits(rest, end + 1);
  if (end == 1 && rest[0] == '.') {
    fail_at(text, rest.substr(0, 1), "a point without digits", "write a number such as 0.5");
  }
  if (end < rest.size() && (rest[end] == 'e' || rest[end] == 'E')) {
    std::size_t digits = end + 1;
    if (digits < rest.size() && (rest[digits] == '+' || rest[digits] == '-')) ++digits;
    const std::size_t after = skip_digits(rest, digits);
    if (after == digits) {
      fail_at(text, rest.substr(0, digits), "a number without the digits of its exponent",
              "write it like 1.5e-3");
    }
    end = after;
  }
  return end;
}

Token number_token(std::string_view text, std::string_view rest) {
  Token token{TokenKind::number, rest.substr(0, number_length(text, rest)), 0};
  const auto [end, problem] =
      std::from_chars(token.text.data(), token.text.data() + token.text.size(), token.value);
  if (problem != std::errc()) {
    fail_at(text, token.text, "a number beyond the range of double",
            "numbers other than 0 must lie between 2.3e-308 and 1.8e308");
  }
  return token;
}

Token next_token(std::string_view text, std::string_view rest) {
  const char first = rest.front();
  if (is_digit(first) || first == '.') return number_token(text, rest);
  if (is_letter(first)) {
    const auto* const end =
        std::ranges::find_if_not(rest, [](char c) { return is_letter(c) || is_digit(c); });
    return {TokenKind::name, rest.substr(0, static_cast<std::size_t>(end - rest.begin())), 0};
  }
  if (std::string_view("+-*/^(),;=").find(first) == std::string_view::npos) {
    std::size_t length = 1;
    while (length < rest.size() && continues_character(rest[length])) ++length;
    fail_at(text, rest.substr(0, length), "a character that no expression has",
            "use numbers, names and + - * / ^ ( ) , ; =");
  }
  return {TokenKind::symbol, rest.substr(0, 1), 0};
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return !continues_character(c); }));
}

}  // namespace

std::vector<Token> cut_into_tokens(std::string_view text) {
  std::vector<Token> tokens;
  std::size_t at = 0;
  while (at < text.size()) {
    if (is_space(text[at])) {
      ++at;
      continue;
    }
    tokens.push_back(next_token(text, text.substr(at)));
    at += tokens.back().text.size();
  }
  tokens.push_back({TokenKind::end, text.substr(text.size()), 0});
  return tokens;
}

void fail_at(std::string_view text, std::string_view at, std::string_view problem,
             std::string_view remedy) {
  constexpr std::size_t kBefore = 60;
  constexpr std::size_t kAfter = 20;
  const auto offset = static_cast<std::size_t>(at.data() - text.data());
  std::size_t begin = offset > kBefore ? offset - kBefore : 0;
  std::size_t end = std::min(text.size(), offset + std::max<std::size_t>(at.size(), 1) + kAfter);
  while (begin > 0 && continues_character(text[begin])) --begin;
  while (end < text.size() && continues_character(text[end])) ++end;
  std::string shown = begin > 0 ? "..." : "";
  std::string caret(shown.size() + characters(text.substr(begin, offset - begin)), ' ');
  for (const char c : text.substr(begin, end - begin)) {
    shown += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
  if (end < text.size()) shown += "...";
  caret += '^';
  const std::string place =
      "expression, column " + std::to_string(characters(text.substr(0, offset)) + 1);
  const std::string after = std::string(remedy) + "\n    " + shown + "\n    " + caret;
  throw InputError(place, problem, at.empty() ? "the end" : at, after);
}

}  // namespace starpmc::expression
