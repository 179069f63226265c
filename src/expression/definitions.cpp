#include "expression/definitions.hpp"

#include <algorithm>
#include <string>

#include "expression/functions.hpp"

namespace starpmc::expression {
namespace {

void check_name(std::string_view text, std::span<const Token> tokens) {
  if (tokens[0].kind == TokenKind::name && tokens[1].is('=')) {
    if (find_function(tokens[0].text) == nullptr) return;
    fail_at(text, tokens[0].text, "a function's name cannot be defined", "choose another name");
  }
  const Token& wrong = tokens[tokens[0].kind == TokenKind::name ? 1 : 0];
  fail_at(text, wrong.text, "expected a definition after the semicolon",
          "write `; name = expression`");
}

std::vector<Definition> cut_into_definitions(std::string_view text, std::span<const Token> tokens) {
  std::vector<Definition> parts;
  while (!tokens.empty()) {
    const auto last = std::ranges::find_if(
        tokens, [](const Token& token) { return token.is(';') || token.kind == TokenKind::end; });
    const auto length = static_cast<std::size_t>(last - tokens.begin()) + 1;
    std::span<const Token> part = tokens.first(length);
    tokens = tokens.subspan(length);
    std::string_view name;
    if (!parts.empty()) {
      if (length == 1) continue;  // a semicolon at the end, or two of them, define nothing
      check_name(text, part);
      name = part[0].text;
      part = part.subspan(2);
    }
    parts.push_back({name, part});
  }
  return parts;
}

/// Depth-first search without recursion: a text may define thousands of names in a chain.
class Orderer {
 public:
  Orderer(std::string_view text, std::vector<Definition> parts)
      : text_(text), parts_(std::move(parts)), states_(parts_.size()) {
    for (std::size_t i = 1; i < parts_.size(); ++i) {
      if (!numbers_.emplace(parts_[i].name, i).second) {
        fail_at(text_, parts_[i].name, "a name is defined twice", "keep one of the definitions");
      }
    }
  }

  std::vector<Definition> order() {
    for (std::size_t i = 0; i < parts_.size(); ++i) visit(i);
    return std::move(ordered_);
  }

 private:
  enum class State : std::uint8_t { waiting, open, finished };
  struct Visit {
    std::size_t part;
    std::size_t next_token;
  };

  void visit(std::size_t root) {
    if (states_[root] != State::waiting) return;
    states_[root] = State::open;
    std::vector<Visit> path{{root, 0}};
    while (!path.empty()) {
      const std::size_t part = path.back().part;
      if (path.back().next_token == parts_[part].tokens.size()) {
        states_[part] = State::finished;
        ordered_.push_back(parts_[part]);
        path.pop_back();
        continue;
      }
      const Token& token = parts_[part].tokens[path.back().next_token++];
      if (token.kind != TokenKind::name) continue;
      const auto used = numbers_.find(token.text);
      if (used == numbers_.end() || states_[used->second] == State::finished) continue;
      if (states_[used->second] == State::open) fail_at_cycle(path, used->second, token);
      states_[used->second] = State::open;
      path.push_back({used->second, 0});
    }
  }

  [[noreturn]] void fail_at_cycle(const std::vector<Visit>& path, std::size_t first,
                                  const Token& token) const {
    constexpr std::ptrdiff_t kShown = 5;
    auto step = std::ranges::find(path, first, &Visit::part);
    std::string names;
    if (path.end() - step > kShown) {
      names = "... -> ";
      step = path.end() - kShown;
    }
    for (; step != path.end(); ++step) names += std::string(parts_[step->part].name) + " -> ";
    fail_at(text_, token.text, "a name is defined by way of itself",
            "break the circle " + names + std::string(token.text));
  }

  std::string_view text_;
  std::vector<Definition> parts_;
  std::vector<State> states_;
  std::unordered_map<std::string_view, std::size_t> numbers_;
  std::vector<Definition> ordered_;
};

}  // namespace

std::vector<Definition> order_definitions(std::string_view text, std::span<const Token> tokens) {
  return Orderer(text, cut_into_definitions(text, tokens)).order();
}

}  // namespace starpmc::expression
