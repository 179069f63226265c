#pragma once

#include <array>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "expression/evaluate.hpp"
#include "expression/functions.hpp"
#include "expression/print.hpp"

namespace starpmc::expression {

/// Values of the variables of generated expressions: r, x, y.
using Arguments = std::array<long double, 3>;

/// A text and, independently of parser and trees, what it stands for.
struct Generated {
  std::string text;
  std::function<long double(const Arguments&)> evaluate;
};

/// Random expressions over all operations, whose values are real for positive r, x and y below 3.
class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  Generated make(int depth) {
    if (depth == 0) return leaf();
    switch (pick(8)) {
      case 0:
        return leaf();
      case 1:
      case 2:
        return binary(depth);
      case 3:
        return integer_power(depth);
      case 4:
        return repeated(depth);
      case 5:
        return guarded_power(depth);
      default:
        return call(depth);
    }
  }

 private:
  int pick(int count) { return std::uniform_int_distribution<int>(0, count - 1)(random_); }

  Generated leaf() {
    constexpr std::array<const char*, 3> kNames = {"r", "x", "y"};
    if (pick(4) == 0) {
      const double value =
          std::array{0.5, 1.0, 2.0, 3.0, 0.3, 1.7}[static_cast<std::size_t>(pick(6))];
      return {print_number(value), [value](const Arguments&) { return value; }};
    }
    const auto i = static_cast<std::size_t>(pick(3));
    return {kNames[i], [i](const Arguments& arguments) { return arguments[i]; }};
  }

  Generated binary(int depth) {
    const Generated a = make(depth - 1);
    const Generated b = make(depth - 1);
    const char symbol = "+-*/"[pick(4)];
    if (symbol == '/') {
      return {"(" + a.text + ")/((" + b.text + ")^2 + 0.3)", [=](const Arguments& arguments) {
                const long double divisor = b.evaluate(arguments);
                return a.evaluate(arguments) / (divisor * divisor + static_cast<long double>(0.3));
              }};
    }
    return {"(" + a.text + ")" + symbol + "(" + b.text + ")", [=](const Arguments& arguments) {
              const long double left = a.evaluate(arguments);
              const long double right = b.evaluate(arguments);
              return symbol == '+' ? left + right : symbol == '-' ? left - right : left * right;
            }};
  }

  /// Powers of a quotient, as pair potentials have them.
  Generated integer_power(int depth) {
    const Generated a = pick(2) == 0 ? leaf() : make(depth - 1);
    const int n = pick(12) + 1;
    if (pick(2) == 0) {
      return {"(sin(" + a.text + ")/r)^" + std::to_string(n), [=](const Arguments& arguments) {
                return std::pow(std::sin(a.evaluate(arguments)) / arguments[0],
                                static_cast<long double>(n));
              }};
    }
    return {"cos(" + a.text + ")*r^-" + std::to_string(n), [=](const Arguments& arguments) {
              return std::cos(a.evaluate(arguments)) *
                     std::pow(arguments[0], static_cast<long double>(-n));
            }};
  }

  /// The same part twice: something to collect, to cancel and to share.
  Generated repeated(int depth) {
    const Generated a = make(depth - 1);
    const Generated b = make(depth - 1);
    return {"-(" + a.text + ")*(" + b.text + ") - 2*(" + a.text + ") + 3*(" + a.text + ") + (" +
                b.text + ")*(" + a.text + ")^2",
            [=](const Arguments& arguments) {
              const long double p = a.evaluate(arguments);
              const long double q = b.evaluate(arguments);
              return -p * q - 2 * p + 3 * p + q * p * p;
            }};
  }

  Generated guarded_power(int depth) {
    const Generated a = make(depth - 1);
    const double e =
        std::array{0.5, 1.5, -0.5, -2.5, 0.7, 1.7, -1.3}[static_cast<std::size_t>(pick(7))];
    const std::string base = "(abs(" + a.text + ") + 0.2)";
    if (pick(3) == 0) {
      return {base + "^(sin(y*r))", [=](const Arguments& arguments) {
                return std::pow(std::abs(a.evaluate(arguments)) + static_cast<long double>(0.2),
                                std::sin(arguments[2] * arguments[0]));
              }};
    }
    return {base + "^" + print_number(e), [=](const Arguments& arguments) {
              return std::pow(std::abs(a.evaluate(arguments)) + static_cast<long double>(0.2),
                              static_cast<long double>(e));
            }};
  }

  /// Any function of the language, of arguments that it is defined for.
  Generated call(int depth) {
    const auto all = functions();
    const Function& function = all[static_cast<std::size_t>(pick(static_cast<int>(all.size())))];
    std::array<Generated, 3> arguments;
    std::string text = std::string(function.name) + "(";
    for (int i = 0; i < function.arguments; ++i) {
      auto& argument = arguments[static_cast<std::size_t>(i)];
      argument = confine(function.name, make(depth - 1));
      text += (i > 0 ? ", " : "") + argument.text;
    }
    const std::string name(function.name);
    const auto operation = function.operation;
    return {text + ")", [=](const Arguments& at) {
              const auto of = [&](std::size_t i) {
                return arguments[i].evaluate ? arguments[i].evaluate(at) : 0.0L;
              };
              if (name == "square") return of(0) * of(0);
              if (name == "cube") return of(0) * of(0) * of(0);
              return evaluate_operation(*operation, of(0), of(1), of(2));
            }};
  }

  static Generated confine(std::string_view name, const Generated& a) {
    if (name == "sqrt" || name == "log" || name == "recip" || name == "atan2") {
      return {"square(" + a.text + ") + 0.4", [=](const Arguments& arguments) {
                const long double value = a.evaluate(arguments);
                return value * value + static_cast<long double>(0.4);
              }};
    }
    if (name == "select" || name == "abs" || name == "step" || name == "delta") return a;
    if (name == "min" || name == "max" || name == "floor" || name == "ceil") return a;
    return {"0.9*sin(" + a.text + ")", [=](const Arguments& arguments) {
              return static_cast<long double>(0.9) * std::sin(a.evaluate(arguments));
            }};
  }

  std::mt19937 random_;
};

}  // namespace starpmc::expression
