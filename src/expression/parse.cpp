#include "expression/parse.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/edit_distance.hpp"
#include "expression/definitions.hpp"
#include "expression/functions.hpp"
#include "expression/tokens.hpp"

namespace starpmc::expression {
namespace {

using Names = std::optional<std::span<const std::string>>;

std::string list_of(std::span<const std::string_view> names) {
  constexpr std::size_t kShown = 60;
  std::string list;
  for (const std::string_view name : names.first(std::min(kShown, names.size()))) {
    if (!list.empty()) list += ", ";
    list += name;
  }
  return names.size() > kShown ? list + ", ..." : list;
}

/// "did you mean ...? known: ..."
std::string suggest_name(std::string_view name, std::span<const std::string_view> known,
                         std::string_view kind) {
  if (known.empty()) return "there are no " + std::string(kind) + " here";
  std::string advice;
  constexpr std::size_t kLongest = 64;
  if (name.size() <= kLongest) {
    const auto distance = [name](std::string_view other) { return edit_distance(name, other); };
    const std::string_view nearest = *std::ranges::min_element(known, {}, distance);
    if (distance(nearest) <= std::max<std::size_t>(1, name.size() / 3)) {
      advice = "did you mean " + std::string(nearest) + "? ";
    }
  }
  return advice + "known " + std::string(kind) + ": " + list_of(known);
}

class Parser {
 public:
  Parser(Pool& pool, std::string_view text, Names known)
      : pool_(pool), text_(text), known_(known) {}

  Node parse_all(std::span<const Definition> parts) {
    Node whole;
    for (const Definition& part : parts) {
      if (!part.name.empty() && known_ && std::ranges::find(*known_, part.name) != known_->end()) {
        fail_at(text_, part.name, "a variable that is given cannot be defined",
                "choose another name");
      }
      next_ = part.tokens.data();
      const Node result = parse_sum();
      if (next_->kind != TokenKind::end && !next_->is(';')) {
        const bool definition = next_->is('=');
        fail_here(
            definition ? "expected a semicolon before the definition"
                       : "expected an operator or the end",
            definition ? "write `expression; name = expression`" : "join terms by + - * / or ^");
      }
      if (part.name.empty()) whole = result;
      if (!part.name.empty()) defined_.emplace(part.name, result);
    }
    return whole;
  }

 private:
  [[noreturn]] void fail_here(std::string_view problem, std::string_view remedy) const {
    fail_at(text_, next_->text, problem, remedy);
  }

  bool take(char symbol) {
    if (!next_->is(symbol)) return false;
    ++next_;
    return true;
  }

  void expect(char symbol, std::string_view problem, std::string_view remedy) {
    if (!take(symbol)) fail_here(problem, remedy);
  }

  /// Building may fail for what constants come to; the message then shows where.
  template <class Build>
  Node build(const Token& at, Build build_node) const {
    try {
      return build_node();
    } catch (const ConstantError&) {
      fail_at(text_, at.text, "the numbers here come to something that is no finite number",
              "constant parts must be real, without division by 0, and neither beyond 1.8e308 nor, "
              "unless 0, below 2.3e-308");
    }
  }

  Node parse_sum() {
    const Token& start = *next_;
    std::vector<Operand> terms{{parse_product(), 1}};
    while (next_->is('+') || next_->is('-')) {
      const double sign = (next_++)->is('+') ? 1 : -1;
      terms.push_back({parse_product(), sign});
    }
    if (terms.size() == 1) return terms[0].node;
    return build(start, [&] { return pool_.sum(terms); });
  }

  Node parse_product() {
    const Token& start = *next_;
    std::vector<Operand> factors{{parse_signed(), 1}};
    while (next_->is('*') || next_->is('/')) {
      const double exponent = (next_++)->is('*') ? 1 : -1;
      if (exponent > 0 && next_->is('*')) {
        fail_here("expected a number, a name, - or (", "write powers by ^, as in r^2");
      }
      factors.push_back({parse_signed(), exponent});
    }
    if (factors.size() == 1) return factors[0].node;
    return build(start, [&] { return pool_.product(factors); });
  }

  Node parse_signed() {
    const Token& start = *next_;
    bool negative = false;
    while (take('-')) negative = !negative;
    const Node node = parse_power();
    return negative ? build(start, [&] { return pool_.scale(node, -1); }) : node;
  }

  Node parse_power() {
    const Token& start = *next_;
    const Node base = parse_primary();
    if (!take('^')) return base;
    enter();
    const Node exponent = parse_signed();
    --depth_;
    return build(start, [&] { return pool_.power(base, exponent); });
  }

  Node parse_primary() {
    const Token& token = *next_;
    if (token.kind == TokenKind::number) {
      ++next_;
      return pool_.number(token.value);
    }
    if (token.kind == TokenKind::name) {
      ++next_;
      return next_->is('(') ? parse_call(token) : named(token);
    }
    if (!take('(')) {
      fail_here("expected a number, a name, - or (", "complete the expression before it");
    }
    enter();
    const Node inside = parse_sum();
    --depth_;
    expect(')', "expected ) or an operator", "close every ( by a )");
    return inside;
  }

  void enter() {
    if (++depth_ > kDeepestNesting) {
      fail_here("nested too deeply (limit: " + std::to_string(kDeepestNesting) + " levels)",
                "name parts of it by definitions: `; name = expression`");
    }
  }

  Node named(const Token& token) const {
    const auto defined = defined_.find(token.text);
    if (defined != defined_.end()) return defined->second;
    const Function* function = find_function(token.text);
    if (function != nullptr) {
      fail_at(text_, token.text, "a function without arguments",
              "write " + std::string(token.text) + "(...)");
    }
    if (known_ && std::ranges::find(*known_, token.text) == known_->end()) {
      std::vector<std::string_view> names(known_->begin(), known_->end());
      for (const auto& [name, node] : defined_) names.push_back(name);
      std::ranges::sort(names);
      fail_at(text_, token.text, "unknown variable", suggest_name(token.text, names, "variables"));
    }
    return pool_.variable(token.text);
  }

  Node parse_call(const Token& name) {
    const Function* function = find_function(name.text);
    if (function == nullptr) {
      std::vector<std::string_view> names;
      for (const Function& one : functions()) names.push_back(one.name);
      fail_at(text_, name.text, "unknown function", suggest_name(name.text, names, "functions"));
    }
    ++next_;
    enter();
    std::array<Node, 3> arguments;
    const std::string usage = std::string(name.text) + " takes " +
                              std::to_string(function->arguments) +
                              (function->arguments == 1 ? " argument" : " arguments");
    for (int i = 0; i < function->arguments; ++i) {
      if (i > 0) expect(',', "expected a comma and another argument", usage);
      arguments[static_cast<std::size_t>(i)] = parse_sum();
    }
    if (next_->is(',')) fail_here("too many arguments", usage);
    expect(')', "expected ) or an operator", usage);
    --depth_;
    return build(name, [&] { return call(*function, arguments); });
  }

  Node call(const Function& function, const std::array<Node, 3>& arguments) const {
    if (!function.operation) return pool_.power(arguments[0], function.name == "square" ? 2 : 3);
    return pool_.apply(*function.operation,
                       std::span(arguments).first(static_cast<std::size_t>(function.arguments)));
  }

  Pool& pool_;
  std::string_view text_;
  Names known_;
  const Token* next_ = nullptr;
  int depth_ = 0;
  std::unordered_map<std::string_view, Node> defined_;
};

}  // namespace

Node parse(Pool& pool, std::string_view text, Names known) {
  if (text.size() > kLongestText) {
    throw InputError("expression",
                     "too long: " + std::to_string(text.size()) +
                         " bytes (limit: " + std::to_string(kLongestText) + ")",
                     "", "write a shorter one");
  }
  const std::vector<Token> tokens = cut_into_tokens(text);
  return Parser(pool, text, known).parse_all(order_definitions(text, tokens));
}

}  // namespace starpmc::expression
