#include "expression/program_builder.hpp"

#include <algorithm>
#include <utility>

namespace starpmc::expression {
namespace {

bool is_commutative(Operation operation) {
  using enum Operation;
  return operation == add || operation == multiply || operation == min || operation == max;
}

}  // namespace

Value ProgramBuilder::constant(double value) {
  const auto [found, is_new] =
      constant_values_.try_emplace(value, Value{static_cast<std::uint32_t>(entries_.size())});
  if (is_new) {
    entries_.push_back({Source::constant, static_cast<std::uint32_t>(constants_.size()), {}});
    constants_.push_back(value);
  }
  return found->second;
}

Value ProgramBuilder::emit(Operation operation, Value a, Value b, Value c) {
  if (is_commutative(operation) && b < a) std::swap(a, b);
  const auto [found, is_new] = results_.try_emplace(
      {operation, a, b, c}, Value{static_cast<std::uint32_t>(entries_.size())});
  if (is_new) {
    entries_.push_back({Source::result, 0, {operation, {a.index, b.index, c.index}}});
  }
  return found->second;
}

Value ProgramBuilder::multiply_all(std::vector<Value> values) {
  std::ranges::sort(values, {}, [this](Value value) {
    return std::pair(entries_[value.index].source != Source::constant, value);
  });
  Value product = values.front();
  for (std::size_t i = 1; i < values.size(); ++i) {
    product = emit(Operation::multiply, product, values[i]);
  }
  return product;
}

std::vector<bool> ProgramBuilder::needed_for(std::span<const Value> outputs) const {
  std::vector<bool> needed(entries_.size());
  for (const Value output : outputs) needed[output.index] = true;
  for (std::size_t i = entries_.size(); i-- > 0;) {
    if (!needed[i] || entries_[i].source != Source::result) continue;
    const Instruction& instruction = entries_[i].instruction;
    for (int k = 0; k < operand_count(instruction.operation); ++k) {
      needed[instruction.operands[static_cast<std::size_t>(k)]] = true;
    }
  }
  return needed;
}

Program ProgramBuilder::finish(std::span<const Value> outputs) const {
  const std::vector<bool> needed = needed_for(outputs);
  Program program;
  program.inputs = inputs_;
  std::vector<std::uint32_t> numbers(entries_.size());
  for (std::uint32_t i = 0; i < inputs_.size(); ++i) numbers[i] = i;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!needed[i] || entries_[i].source != Source::constant) continue;
    numbers[i] = program.values();
    program.constants.push_back(constants_[entries_[i].position]);
  }
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!needed[i] || entries_[i].source != Source::result) continue;
    numbers[i] = program.values();
    Instruction instruction{entries_[i].instruction.operation, {}};
    for (int k = 0; k < operand_count(instruction.operation); ++k) {
      const auto operand = static_cast<std::size_t>(k);
      instruction.operands[operand] = numbers[entries_[i].instruction.operands[operand]];
    }
    program.instructions.push_back(instruction);
  }
  for (const Value output : outputs) program.outputs.push_back(numbers[output.index]);
  return program;
}

}  // namespace starpmc::expression
