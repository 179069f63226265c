#include "kernels/scaled_program.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace starpmc {
namespace {

/// Powers of the unit that values but r^2 may be scaled by.
constexpr int kLargestPower = 2;

/// A value of the new program: that of the old one times unit^power.
struct Scaled {
  std::uint32_t value = 0;
  int power = 0;
  bool constant = false;
};

class Scaling {
 public:
  explicit Scaling(const Program& program) : program_(program) {
    result_.inputs = {program.inputs.front(), "unit"};
    result_.constants = program.constants;
    values_.push_back({0, -2});
    for (std::uint32_t i = 0; i < program.constants.size(); ++i) {
      values_.push_back({result_.first_constant() + i, 0, true});
    }
  }

  Program result() {
    for (const Instruction& instruction : program_.instructions) {
      const Scaled scaled = compute(instruction);
      const bool allowed = scaled.power >= 0 && scaled.power <= kLargestPower;
      values_.push_back(allowed ? scaled : at(scaled, 0));
    }
    result_.outputs = {at(values_[program_.outputs.front()], 1).value};
    return std::move(result_);
  }

 private:
  std::uint32_t append(Operation operation, std::uint32_t a, std::uint32_t b = 0,
                       std::uint32_t c = 0) {
    result_.instructions.push_back({operation, {a, b, c}});
    return result_.values() - 1;
  }

  /// unit^power.
  std::uint32_t unit(int power) {
    if (power == 1) return 1;
    const auto found = units_.find(power);
    if (found != units_.end()) return found->second;
    const std::uint32_t value =
        power < 0 ? append(Operation::reciprocal, unit(-power))
                  : append(Operation::multiply, unit(power / 2), unit(power - power / 2));
    return units_[power] = value;
  }

  /// The same value at another scale.
  Scaled at(const Scaled& from, int power) {
    if (from.power == power) return from;
    const auto [found, is_new] = converted_.try_emplace({from.value, power});
    if (is_new) {
      const std::uint32_t factor = unit(power - from.power);
      found->second = {append(Operation::multiply, from.value, factor), power, from.constant};
    }
    return found->second;
  }

  Scaled compute(const Instruction& instruction) {
    const Scaled a = values_[instruction.operands[0]];
    const Scaled b = values_[instruction.operands[1]];
    switch (instruction.operation) {
      case Operation::multiply:
        return product(a, b);
      case Operation::add:
      case Operation::subtract:
      case Operation::min:
      case Operation::max:
        return of_equal_scale(instruction.operation, a, b);
      case Operation::negate:
      case Operation::abs:
        if (a.power < 0) break;
        return {append(instruction.operation, a.value), a.power};
      case Operation::reciprocal:
        return {append(instruction.operation, a.value), -a.power};
      case Operation::square_root:
      case Operation::reciprocal_square_root:
        if (a.power % 2 != 0) break;
        return {append(instruction.operation, a.value),
                instruction.operation == Operation::square_root ? a.power / 2 : -a.power / 2};
      default:
        break;
    }
    return unscaled(instruction);
  }

  Scaled product(const Scaled& a, const Scaled& b) {
    if (a.constant != b.constant) {
      const Scaled& varying = a.constant ? b : a;
      const Scaled factor = at(a.constant ? a : b, std::max(0, -varying.power));
      return {append(Operation::multiply, varying.value, factor.value),
              varying.power + factor.power};
    }
    // r of r^2 and 1/r
    if (a.power + b.power == -1) {
      return {append(Operation::multiply, a.value, b.value), -1};
    }
    const int power = std::max(a.power, 0) + std::max(b.power, 0);
    const bool allowed = power <= kLargestPower;
    const auto scale = [&](const Scaled& x) { return at(x, allowed ? std::max(x.power, 0) : 0); };
    const Scaled x = scale(a);
    const Scaled y = scale(b);
    return {append(Operation::multiply, x.value, y.value), x.power + y.power};
  }

  Scaled of_equal_scale(Operation operation, const Scaled& a, const Scaled& b) {
    const int power = std::max({a.power, b.power, 0});
    return {append(operation, at(a, power).value, at(b, power).value), power};
  }

  Scaled unscaled(const Instruction& instruction) {
    std::array<std::uint32_t, 3> operands{};
    const auto count = static_cast<std::size_t>(operand_count(instruction.operation));
    for (std::size_t i = 0; i < count; ++i) {
      operands[i] = at(values_[instruction.operands[i]], 0).value;
    }
    return {append(instruction.operation, operands[0], operands[1], operands[2]), 0};
  }

  const Program& program_;
  Program result_;
  std::vector<Scaled> values_;  ///< per value of the old program
  std::map<int, std::uint32_t> units_;
  std::map<std::pair<std::uint32_t, int>, Scaled> converted_;
};

}  // namespace

Program in_length_unit(const Program& program) { return Scaling(program).result(); }

}  // namespace starpmc
