#include <algorithm>
#include <cmath>
#include <map>

#include "expression/translate.hpp"

namespace starpmc::expression {
namespace {

/// Writes the instructions of an expression as often as it occurs.
class NaiveTranslator {
 public:
  NaiveTranslator(const Pool& pool, std::vector<std::string> inputs) : pool_(pool) {
    program_.inputs = std::move(inputs);
  }

  Program translate(std::span<const Node> outputs) {
    collect_constants(outputs);
    for (const Node output : outputs) program_.outputs.push_back(value(output));
    return std::move(program_);
  }

 private:
  static constexpr std::size_t kMostInstructions = 1'000'000;
  static constexpr int kDeepest = 2000;

  void collect_constants(std::span<const Node> outputs) {
    const auto add = [this](double number) {
      if (constants_.emplace(number, static_cast<std::uint32_t>(constants_.size())).second) {
        program_.constants.push_back(number);
      }
    };
    add(1);
    for (const Node node : pool_.reachable(outputs)) {
      add(std::abs(pool_.value(node)));
      add(pool_.value(node));
      for (const Operand& operand : pool_.operands(node)) add(std::abs(operand.factor));
    }
  }

  std::uint32_t constant(double number) const {
    return program_.first_constant() + constants_.at(number);
  }

  std::uint32_t emit(Operation operation, std::uint32_t a, std::uint32_t b = 0,
                     std::uint32_t c = 0) {
    program_.instructions.push_back({operation, {a, b, c}});
    if (program_.instructions.size() > kMostInstructions) {
      throw InputError("expression", "too large to translate one to one", "",
                       "the limit is 1,000,000 instructions");
    }
    return program_.values() - 1;
  }

  std::uint32_t value(Node node) {
    if (++depth_ > kDeepest) {
      throw InputError("expression", "nested too deeply to translate one to one", "",
                       "the limit is 2,000 levels");
    }
    std::uint32_t result = 0;
    switch (pool_.kind(node)) {
      case Kind::number:
        result = constant(pool_.value(node));
        break;
      case Kind::variable:
        result = input(node);
        break;
      case Kind::sum:
        result = sum(node);
        break;
      case Kind::product:
        result = product(pool_.operands(node), pool_.value(node));
        break;
      case Kind::function:
        result = function(node);
        break;
    }
    --depth_;
    return result;
  }

  std::uint32_t input(Node node) const {
    const auto found = std::ranges::find(program_.inputs, pool_.name(node));
    if (found == program_.inputs.end()) {
      throw InputError("expression", "a variable that is not given", pool_.name(node),
                       "use the variables that are given, or define it");
    }
    return static_cast<std::uint32_t>(found - program_.inputs.begin());
  }

  std::uint32_t function(Node node) {
    std::array<std::uint32_t, 3> arguments{};
    const auto operands = pool_.operands(node);
    for (std::size_t i = 0; i < operands.size(); ++i) arguments[i] = value(operands[i].node);
    return emit(pool_.operation(node), arguments[0], arguments[1], arguments[2]);
  }

  std::uint32_t sum(Node node) {
    bool first = true;
    std::uint32_t total = 0;
    for (const Operand& term : pool_.operands(node)) {
      const double size = std::abs(term.factor);
      std::uint32_t next = 0;
      if (pool_.kind(term.node) == Kind::product) {
        next = product(pool_.operands(term.node), size);
      } else {
        next = value(term.node);
        if (size != 1) next = emit(Operation::multiply, constant(size), next);
      }
      if (first) {
        total = term.factor < 0 ? emit(Operation::negate, next) : next;
      } else {
        total = emit(term.factor < 0 ? Operation::subtract : Operation::add, total, next);
      }
      first = false;
    }
    const double number = pool_.value(node);
    if (number == 0) return total;
    return emit(number < 0 ? Operation::subtract : Operation::add, total,
                constant(std::abs(number)));
  }

  std::uint32_t product(std::span<const Operand> powers, double coefficient) {
    std::optional<std::uint32_t> total;
    if (std::abs(coefficient) != 1) total = constant(std::abs(coefficient));
    for (const Operand& power : powers) {
      if (power.factor < 0) continue;
      const std::uint32_t next = this->power(power);
      total = total ? emit(Operation::multiply, *total, next) : next;
    }
    for (const Operand& power : powers) {
      if (power.factor > 0) continue;
      if (!total) total = constant(1);
      total = emit(Operation::divide, *total, this->power(power));
    }
    return coefficient < 0 ? emit(Operation::negate, *total) : *total;
  }

  std::uint32_t power(const Operand& power) {
    const std::uint32_t base = value(power.node);
    const double size = std::abs(power.factor);
    if (size == 1) return base;
    if (size == 0.5) return emit(Operation::square_root, base);
    return emit(Operation::power, base, constant(size));
  }

  const Pool& pool_;
  Program program_;
  std::map<double, std::uint32_t> constants_;
  int depth_ = 0;
};

}  // namespace

Program translate_naively(const Pool& pool, std::span<const Node> outputs,
                          std::vector<std::string> inputs) {
  if (inputs.empty()) inputs = pool.variables(outputs);
  return NaiveTranslator(pool, std::move(inputs)).translate(outputs);
}

}  // namespace starpmc::expression
