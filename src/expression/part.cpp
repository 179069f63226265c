#include "expression/part.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "expression/program_builder.hpp"
#include "kernels/base/error.hpp"

namespace starpmc::expression {
namespace {

class Parter {
 public:
  Parter(const Program& program, std::span<const std::string> varying)
      : program_(program), varies_(program.values()), once_({}), each_({}) {
    for (const std::string& name : varying) {
      const auto found = std::ranges::find(program.inputs, name);
      if (found == program.inputs.end()) {
        throw InputError("expression", "an input that the program does not have", name,
                         "name one of its inputs");
      }
      varies_[static_cast<std::size_t>(found - program.inputs.begin())] = true;
    }
  }

  PartedProgram part() {
    compute_once();
    find_hoisted();
    return {once_.finish(hoisted_), make_each()};
  }

 private:
  const Instruction& instruction(std::uint32_t value) const {
    return program_.instructions[value - program_.first_result()];
  }
  bool is_constant(std::uint32_t value) const {
    return value >= program_.first_constant() && value < program_.first_result();
  }
  std::span<const std::uint32_t> operands(std::uint32_t value) const {
    const Instruction& found = instruction(value);
    return std::span(found.operands)
        .first(static_cast<std::size_t>(operand_count(found.operation)));
  }

  void compute_once() {
    std::vector<std::string> fixed;
    for (std::uint32_t i = 0; i < program_.inputs.size(); ++i) {
      if (varies_[i]) varying_.push_back(i);
      if (!varies_[i]) fixed.push_back(program_.inputs[i]);
    }
    once_ = ProgramBuilder(fixed);
    std::size_t next_fixed = 0;
    for (std::uint32_t value = 0; value < program_.values(); ++value) {
      if (value < program_.first_constant()) {
        once_values_.push_back(varies_[value] ? Value{} : once_.input(next_fixed++));
      } else if (is_constant(value)) {
        once_values_.push_back(
            once_.constant(program_.constants[value - program_.first_constant()]));
      } else {
        varies_[value] =
            std::ranges::any_of(operands(value), [this](auto operand) { return varies_[operand]; });
        once_values_.push_back(varies_[value] ? Value{} : copy(value, once_, once_values_));
      }
    }
  }

  template <class Values>
  Value copy(std::uint32_t value, ProgramBuilder& builder, Values& values) const {
    const Instruction& original = instruction(value);
    const auto of = [&](std::size_t i) {
      return i < operands(value).size() ? values[original.operands[i]] : Value{};
    };
    return builder.emit(original.operation, of(0), of(1), of(2));
  }

  /// What does not vary and is an operand of what does, or an output.
  void find_hoisted() {
    const auto use = [this](std::uint32_t value) {
      if (varies_[value] || is_constant(value) || positions_.contains(value)) return;
      positions_.emplace(value, hoisted_.size());
      hoisted_.push_back(once_values_[value]);
    };
    for (std::uint32_t value = program_.first_result(); value < program_.values(); ++value) {
      if (varies_[value]) std::ranges::for_each(operands(value), use);
    }
    std::ranges::for_each(program_.outputs, use);
  }

  Program make_each() {
    std::vector<std::string> inputs;
    for (const std::uint32_t number : varying_) inputs.push_back(program_.inputs[number]);
    for (std::size_t i = 0; i < hoisted_.size(); ++i) {
      inputs.push_back("coefficient" + std::to_string(i));
    }
    each_ = ProgramBuilder(inputs);
    std::unordered_map<std::uint32_t, Value> values;
    for (std::size_t i = 0; i < varying_.size(); ++i) values[varying_[i]] = each_.input(i);
    for (const auto& [value, position] : positions_) {
      values[value] = each_.input(varying_.size() + position);
    }
    for (std::uint32_t value = program_.first_constant(); value < program_.values(); ++value) {
      if (is_constant(value)) {
        values[value] = each_.constant(program_.constants[value - program_.first_constant()]);
      } else if (varies_[value]) {
        values[value] = copy(value, each_, values);
      }
    }
    std::vector<Value> outputs;
    for (const std::uint32_t output : program_.outputs) outputs.push_back(values.at(output));
    return each_.finish(outputs);
  }

  const Program& program_;
  std::vector<bool> varies_;
  ProgramBuilder once_;
  ProgramBuilder each_;
  std::vector<std::uint32_t> varying_;
  std::vector<Value> once_values_;
  std::vector<Value> hoisted_;
  std::unordered_map<std::uint32_t, std::size_t> positions_;
};

}  // namespace

PartedProgram part(const Program& program, std::span<const std::string> varying) {
  return Parter(program, varying).part();
}

}  // namespace starpmc::expression
