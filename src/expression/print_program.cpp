#include "expression/print_program.hpp"

#include <fmt/format.h>

#include "expression/count.hpp"
#include "expression/functions.hpp"
#include "expression/print.hpp"

namespace starpmc::expression {
namespace {

std::string print_instruction(const Instruction& instruction,
                              const std::vector<std::string>& names) {
  const std::string& a = names[instruction.operands[0]];
  const std::string& b = names[instruction.operands[1]];
  switch (instruction.operation) {
    case Operation::add:
      return fmt::format("{} + {}", a, b);
    case Operation::subtract:
      return fmt::format("{} - {}", a, b);
    case Operation::multiply:
      return fmt::format("{}*{}", a, b);
    case Operation::divide:
      return fmt::format("{}/{}", a, b);
    case Operation::negate:
      return fmt::format("-{}", a);
    case Operation::reciprocal:
      return fmt::format("1/{}", a);
    case Operation::reciprocal_square_root:
      return fmt::format("1/sqrt({})", a);
    case Operation::power:
      return fmt::format("{}^{}", a, b);
    default:
      break;
  }
  std::string text(function_name(instruction.operation));
  for (int k = 0; k < operand_count(instruction.operation); ++k) {
    text += k == 0 ? "(" : ", ";
    text += names[instruction.operands[static_cast<std::size_t>(k)]];
  }
  text += ')';
  return text;
}

}  // namespace

std::vector<std::string> value_names(const Program& program) {
  std::vector<std::string> names = program.inputs;
  for (const double constant : program.constants) names.push_back(print_number(constant));
  for (std::uint32_t value = program.first_result(); value < program.values(); ++value) {
    names.push_back(fmt::format("v{}", value));
  }
  return names;
}

std::vector<std::string> print_program(const Program& program) {
  const std::vector<std::string> names = value_names(program);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    lines.push_back(names[program.first_result() + i] + " = " +
                    print_instruction(program.instructions[i], names));
  }
  return lines;
}

std::string print_counts(const Program& program) {
  const OperationCounts counts = count_operations(program);
  std::string text = std::to_string(counts.total());
  const char* separator = ": ";
  for (std::size_t i = 0; i < OperationCounts::kOperations; ++i) {
    if (counts.counts[i] == 0) continue;
    text += separator + std::to_string(counts.counts[i]) + " ";
    text += operation_name(static_cast<Operation>(i));
    separator = ", ";
  }
  return text;
}

}  // namespace starpmc::expression
