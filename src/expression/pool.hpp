#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/program.hpp"

namespace starpmc::expression {

/// An expression: a handle of a node in a Pool. Equal expressions of one pool are one node.
struct Node {
  std::uint32_t index = 0;
  bool operator==(const Node&) const = default;
};

enum class Kind : std::uint8_t {
  number,    ///< value
  variable,  ///< name
  sum,       ///< value + factor0 operand0 + factor1 operand1 + ...
  product,   ///< value * operand0^factor0 * operand1^factor1 * ...
  function,  ///< operation(operand0, ...); factors are 0
};

/// A term of a sum (factor: coefficient), a factor of a product (factor: exponent) or an argument.
struct Operand {
  Node node;
  double factor = 0;
  bool operator==(const Operand&) const = default;
};

/// Constants of an expression combine to something that is no finite number.
class ConstantError : public InputError {
 public:
  using InputError::InputError;
};

/// Owner of immutable, hash-consed expressions in simplified form.
///
/// Whatever is built is simplified by rules that hold over the reals wherever both sides are
/// defined, numbers being rounded to double when two of them are combined:
/// - numbers combine; functions of numbers are evaluated (error if the result is not finite);
/// - sums and products are flat, their operands sorted; equal terms and equal bases are collected
///   (2x + 3x = 5x, x^a x^b = x^(a+b) if a + b is exact); x + 0 = x, 1x = x, 0x = 0, x^0 = 1;
/// - a sum in a sum loses its sign only: x - (y + z) = x - y - z; products of sums stay;
/// - 1/(xy) = 1/x 1/y, but other powers of products stay: (x/y)^12; (x^a)^b = x^(ab) if ab is
///   exact, with |x| where a is even and b is no integer; (-x)^a = x^a or -x^a for integers a;
///   |x|^a = x^a for even a; in products, sums begin without a minus: z (y - x) = -z (x - y);
/// - odd and even functions lose a minus sign of their argument; |cx| = |c| |x|, ||x|| = |x|;
///   log(exp(x)) = exp(log(x)) = x; min(x, x) = max(x, x) = select(c, x, x) = x; arguments of min
///   and max are sorted.
///
/// Operands have lower numbers than what they are operands of, so that sweeps need no recursion.
/// The order of operands depends on their content only, not on the history of the pool.
class Pool {
 public:
  /// Most operands of all nodes together; more is an InputError.
  static constexpr std::size_t kMostOperands = 1'000'000;

  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  Node number(double value);  ///< @throws ConstantError unless finite
  Node variable(std::string_view name);
  Node sum(std::span<const Operand> terms, double constant = 0);
  Node product(std::span<const Operand> powers, double coefficient = 1);
  /// Any operation of the language; those of arithmetic become sums and products.
  Node apply(Operation operation, std::span<const Node> arguments);
  /// The node of this kind with other operands.
  Node with_operands(Node node, std::span<const Operand> operands);

  Node sum(std::initializer_list<Operand> terms, double constant = 0) {
    return sum({terms.begin(), terms.size()}, constant);
  }
  Node product(std::initializer_list<Operand> powers, double coefficient = 1) {
    return product({powers.begin(), powers.size()}, coefficient);
  }
  Node apply(Operation operation, std::initializer_list<Node> arguments) {
    return apply(operation, {arguments.begin(), arguments.size()});
  }
  Node power(Node base, double exponent) { return product({{base, exponent}}); }
  Node power(Node base, Node exponent);
  Node scale(Node node, double factor) { return product({{node, 1}}, factor); }

  Kind kind(Node node) const { return records_[node.index].kind; }
  /// Of a number; the constant of a sum; the coefficient of a product.
  double value(Node node) const { return records_[node.index].value; }
  Operation operation(Node node) const { return records_[node.index].operation; }
  std::string_view name(Node node) const { return names_[records_[node.index].name]; }
  std::span<const Operand> operands(Node node) const { return records_[node.index].operands; }
  bool is_number(Node node, double value) const {
    return kind(node) == Kind::number && this->value(node) == value;
  }
  std::size_t size() const { return records_.size(); }
  /// A product with a negative coefficient or a sum whose first term has one.
  bool leads_with_minus(Node node) const;

  /// An order of expressions that depends on their content only.
  std::strong_ordering compare(Node a, Node b) const;

  /// The nodes these expressions consist of, operands before what they are operands of.
  std::vector<Node> reachable(std::span<const Node> roots) const;
  /// The names of all variables, sorted.
  std::vector<std::string> variables(std::span<const Node> roots) const;

 private:
  struct Record {
    Kind kind = Kind::number;
    Operation operation{};
    std::uint32_t name = 0;
    double value = 0;
    std::span<const Operand> operands{};
    std::uint64_t content = 0;  ///< hash of all it consists of, whatever the pool's history
  };
  struct Hash {
    using is_transparent = void;
    const Pool* pool;
    std::size_t operator()(std::uint32_t index) const { return (*this)(pool->records_[index]); }
    std::size_t operator()(const Record& record) const;
  };
  struct Equal {
    using is_transparent = void;
    const Pool* pool;
    bool operator()(std::uint32_t a, std::uint32_t b) const { return a == b; }
    bool operator()(const Record& a, std::uint32_t b) const;
    bool operator()(std::uint32_t a, const Record& b) const { return (*this)(b, a); }
  };

  Node intern(const Record& record);
  std::uint64_t content_hash(const Record& record) const;
  Node call(Operation operation, std::span<const Node> arguments);
  Node simplified_call(Operation operation, std::span<const Node> arguments);
  Node absolute(Node argument);
  std::strong_ordering compare_shallow(const Record& a, const Record& b) const;
  friend class SumBuilder;
  friend class ProductBuilder;

  std::pmr::monotonic_buffer_resource memory_;
  std::size_t operand_count_ = 0;
  std::deque<Record> records_;
  std::deque<std::string> names_;
  std::unordered_map<std::string_view, std::uint32_t> name_numbers_;
  std::unordered_set<std::uint32_t, Hash, Equal> known_{64, Hash{this}, Equal{this}};
};

}  // namespace starpmc::expression
