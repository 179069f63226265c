#include "expression/print.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "expression/functions.hpp"

namespace starpmc::expression {
namespace {

constexpr std::size_t kLongestPlain = 2000;
constexpr int kDeepestPlain = 200;
constexpr std::size_t kLongest = 10'000'000;

/// How tightly the outermost operator of a text binds.
enum class Binding : std::uint8_t { sum, sign, product, power, primary };

struct Text {
  std::string text;
  Binding binding = Binding::primary;
  int depth = 0;
};

class Printer {
 public:
  explicit Printer(const Pool& pool) : pool_(pool), texts_(pool.size()), has_name_(pool.size()) {}

  /// The text, or nothing if it is too long or too deep without definitions.
  std::string plain(Node root) {
    for (const Node node : pool_.reachable({&root, 1})) {
      texts_[node.index] = compose(node);
      const Text& text = texts_[node.index];
      if (text.text.size() > kLongestPlain || text.depth > kDeepestPlain) return {};
    }
    return texts_[root.index].text;
  }

  std::string with_definitions(Node root) {
    const std::vector<Node> nodes = pool_.reachable({&root, 1});
    const std::vector<bool> named = choose_named(nodes, root);
    const std::string prefix = unused_prefix(nodes);
    std::string definitions;
    int count = 0;
    for (const Node node : nodes) {
      Text text = compose(node);
      if (named[node.index] || (text.depth > kDeepestPlain && node != root)) {
        const std::string name = prefix + std::to_string(++count);
        definitions += "; " + name + " = " + text.text;
        text = {name, Binding::primary, 0};
        has_name_[node.index] = true;
      }
      if (definitions.size() + text.text.size() > kLongest) {
        throw InputError("expression", "its text becomes too long (limit: 10,000,000 characters)",
                         "", "write a simpler one");
      }
      texts_[node.index] = std::move(text);
    }
    return texts_[root.index].text + definitions;
  }

 private:
  /// Those that more than one node refers to, and which are no mere number or variable.
  std::vector<bool> choose_named(const std::vector<Node>& nodes, Node root) const {
    std::vector<int> uses(pool_.size());
    for (const Node node : nodes) {
      for (const Operand& operand : pool_.operands(node)) ++uses[operand.node.index];
    }
    std::vector<bool> named(pool_.size());
    for (const Node node : nodes) {
      named[node.index] = node != root && uses[node.index] > 1 && !pool_.operands(node).empty();
    }
    return named;
  }

  /// Such that no variable begins with it.
  std::string unused_prefix(const std::vector<Node>& nodes) const {
    std::string prefix = "t";
    for (const Node node : nodes) {
      if (pool_.kind(node) != Kind::variable) continue;
      while (pool_.name(node).starts_with(prefix)) prefix += '_';
    }
    return prefix;
  }

  Text compose(Node node) const {
    Text text;
    for (const Operand& operand : pool_.operands(node)) {
      text.depth = std::max(text.depth, texts_[operand.node.index].depth + 1);
    }
    switch (pool_.kind(node)) {
      case Kind::number:
        text.text = print_number(pool_.value(node));
        text.binding = pool_.value(node) < 0 ? Binding::sign : Binding::primary;
        break;
      case Kind::variable:
        text.text = pool_.name(node);
        break;
      case Kind::sum:
        compose_sum(node, text);
        break;
      case Kind::product:
        compose_product(pool_.value(node), pool_.operands(node), text);
        break;
      case Kind::function:
        compose_function(node, text);
        break;
    }
    return text;
  }

  std::string bound(Node node, Binding least) const {
    const Text& text = texts_[node.index];
    return text.binding >= least ? text.text : in_parentheses(text.text);
  }

  static std::string in_parentheses(std::string_view text) {
    std::string result(1, '(');
    result += text;
    result += ')';
    return result;
  }

  void compose_sum(Node node, Text& text) const {
    text.binding = Binding::sum;
    for (const Operand& term : pool_.operands(node)) {
      const bool negative = term.factor < 0;
      text.text += text.text.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
      if (pool_.kind(term.node) == Kind::product && !has_name_[term.node.index]) {
        Text product;
        compose_product(std::abs(term.factor), pool_.operands(term.node), product);
        text.text += product.text;
        continue;
      }
      if (std::abs(term.factor) != 1) text.text += print_number(std::abs(term.factor)) + "*";
      text.text += bound(term.node, Binding::product);
    }
    const double constant = pool_.value(node);
    if (constant != 0) {
      text.text += constant < 0 ? " - " : " + ";
      text.text += print_number(std::abs(constant));
    }
  }

  void compose_product(double coefficient, std::span<const Operand> powers, Text& text) const {
    text.binding = coefficient < 0 ? Binding::sign : Binding::product;
    std::string above;
    if (std::abs(coefficient) != 1) above = print_number(std::abs(coefficient));
    std::string below;
    int below_count = 0;
    for (const Operand& power : powers) {
      std::string& side = power.factor < 0 ? below : above;
      if (!side.empty()) side += '*';
      side += power_text(power.node, std::abs(power.factor));
      if (power.factor < 0) ++below_count;
    }
    if (above.empty()) above += '1';
    if (coefficient < 0) text.text += '-';
    text.text += above;
    if (below_count > 0) text.text += '/';
    text.text += below_count > 1 ? in_parentheses(below) : below;
    if (powers.size() == 1 && coefficient == 1 && below_count == 0 && powers[0].factor != 0.5) {
      text.binding = Binding::power;
    } else if (powers.size() == 1 && coefficient == 1 && below_count == 0) {
      text.binding = Binding::primary;
    }
  }

  std::string power_text(Node base, double exponent) const {
    if (exponent == 1) return bound(base, Binding::product);
    if (exponent == 0.5) return "sqrt(" + texts_[base.index].text + ")";
    return bound(base, Binding::primary) + "^" + print_number(exponent);
  }

  void compose_function(Node node, Text& text) const {
    const auto operands = pool_.operands(node);
    if (pool_.operation(node) == Operation::power) {
      text.text =
          bound(operands[0].node, Binding::primary) + "^" + bound(operands[1].node, Binding::power);
      text.binding = Binding::power;
      return;
    }
    text.text = function_name(pool_.operation(node));
    char before = '(';
    for (const Operand& operand : operands) {
      text.text += before;
      text.text += texts_[operand.node.index].text;
      before = ',';
    }
    text.text += ')';
  }

  const Pool& pool_;
  std::vector<Text> texts_;
  std::vector<bool> has_name_;
};

}  // namespace

std::string print_number(double value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

std::string print(const Pool& pool, Node node) {
  Printer printer(pool);
  const std::string plain = printer.plain(node);
  return plain.empty() ? Printer(pool).with_definitions(node) : plain;
}

}  // namespace starpmc::expression
