#include "kernels/opencl/host/emit.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <span>

#include "kernels/base/error.hpp"
#include "kernels/elementary_functions.hpp"
#include "kernels/fused_program.hpp"
#include "kernels/joined.hpp"

namespace starpmc::opencl {
namespace {

std::string hexadecimal(double value) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value < 0 ? "-INFINITY" : "INFINITY";
  std::array<char, 64> digits{};  // of the number without "0x"; whatever the user's language
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), std::abs(value),
                                 std::chars_format::hex)
                       .ptr;
  return joined({std::signbit(value) ? "-0x" : "0x", std::string_view(digits.data(), end)});
}

std::string numbered(char letter, std::size_t number) {
  std::string name(1, letter);
  return name.append(std::to_string(number));
}
std::string value_name(std::uint32_t value) { return numbered('v', value); }

std::string call(std::string_view function, std::span<const std::string> arguments) {
  std::string text(function);
  std::string_view separator = "(";
  for (const std::string& argument : arguments) {
    text += joined({separator, argument});
    separator = ", ";
  }
  return text + ")";
}

void check_name(std::string_view name) {
  const auto letter = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0 ||
      !std::ranges::all_of(name, letter)) {
    throw RunError("'" + std::string(name) + "' is no name for an OpenCL function");
  }
}

/// Name of the function of the device that computes an operation; empty for what operators do.
std::string_view device_function(Operation operation) {
  switch (operation) {
    case Operation::square_root:
      return "sqrt";
    case Operation::reciprocal_square_root:
      return "rsqrt";
    case Operation::power:
      return "pow";
#define STARPMC_CASE(name) \
  case Operation::name:    \
    return #name;
      STARPMC_ELEMENTARY_FUNCTIONS(STARPMC_CASE)
#undef STARPMC_CASE
    case Operation::atan2:
      return "atan2";
    case Operation::abs:
      return "fabs";
    case Operation::floor:
      return "floor";
    case Operation::ceil:
      return "ceil";
    default:
      return {};
  }
}

/// Name of the pair functions' own one, for squared distances; empty: none.
std::string_view function_of_square(Operation operation) {
  switch (operation) {
    case Operation::reciprocal_square_root:
      return "reciprocal_square_root";
    case Operation::square_root:
      return "root_of_square";
    case Operation::reciprocal:
      return "reciprocal_of_square";
    default:
      return {};
  }
}

/// The same in functions.h and angle_functions.h.
std::string exact_function(Operation operation) {
  switch (operation) {
    case Operation::square_root:
    case Operation::floor:
      return std::string(device_function(operation));
    case Operation::reciprocal_square_root:
      return "exact_reciprocal_square_root";
    case Operation::power:
      return "exact_power";
    case Operation::abs:
      return "exact_abs";
    case Operation::negate:
      return "exact_negate";
    case Operation::min:
      return "exact_min";
    case Operation::max:
      return "exact_max";
    case Operation::step:
      return "exact_step";
    case Operation::delta:
      return "exact_delta";
    case Operation::select:
      return "exact_choice";
    default:
      break;
  }
  const std::string_view name = device_function(operation);
  return name.empty() ? std::string() : joined({"exact_", name});
}

/// What operators compute, of operands of one type T.
std::string with_operators(Operation operation, std::span<const std::string> x,
                           const std::string& type) {
  const std::string zero = joined({"(", type, ")(0)"});
  const std::string one = joined({"(", type, ")(1)"});
  switch (operation) {
    case Operation::add:
      return joined({x[0], " + ", x[1]});
    case Operation::subtract:
      return joined({x[0], " - ", x[1]});
    case Operation::multiply:
      return joined({x[0], " * ", x[1]});
    case Operation::divide:
      return joined({x[0], " / ", x[1]});
    case Operation::negate:
      return joined({"-", x[0]});
    case Operation::reciprocal:
      return joined({one, " / ", x[0]});
    case Operation::min:
      return joined({x[1], " < ", x[0], " ? ", x[1], " : ", x[0]});
    case Operation::max:
      return joined({x[0], " < ", x[1], " ? ", x[1], " : ", x[0]});
    case Operation::step:
      return joined({x[0], " < ", zero, " ? ", zero, " : ", one});
    case Operation::delta:
      return joined({x[0], " == ", zero, " ? ", one, " : ", zero});
    case Operation::select:
      return joined({x[0], " == ", zero, " ? ", x[2], " : ", x[1]});
    default:
      throw RunError("an instruction of a program has no operation");
  }
}

class Emitter {
 public:
  Emitter(const starpmc::Program& program, const FunctionOptions& options)
      : program_(program), options_(options), varies_(program.values(), false) {
    for (const std::vector<bool>* const flags : {&options_.uniform, &options_.moderate}) {
      if (!flags->empty() && flags->size() != program.inputs.size()) {
        throw RunError("an OpenCL function of " + std::to_string(program.inputs.size()) +
                       " inputs was given options for " + std::to_string(flags->size()));
      }
    }
    for (std::uint32_t i = 0; i < program.first_constant(); ++i) {
      varies_[i] = !flag(options_.uniform, i);
    }
  }

  std::string text(std::string_view name) {
    std::string body = constants("real");
    for (const FusedInstruction& instruction : fused_instructions(program_, true)) {
      body += statement(instruction);
    }
    for (std::size_t i = 0; i < program_.outputs.size(); ++i) {
      const std::uint32_t value = program_.outputs[i];
      body += joined({"  *", numbered('o', i), " = ", operand(value, true), ";\n"});
    }
    return head(name, [&](std::uint32_t input) { return type_name(varies_[input]); }) + body +
           "}\n";
  }

  std::string exact_text(std::string_view name) {
    std::string body = constants("double");
    for (const FusedInstruction& instruction : fused_instructions(program_, false)) {
      std::vector<std::string> x;
      for (int i = 0; i < instruction.operands_read(); ++i) {
        x.push_back(value_name(instruction.operands[static_cast<std::size_t>(i)]));
      }
      const std::string function = exact_function(instruction.operation);
      body += joined({"  const double ", value_name(instruction.result), " = ",
                      function.empty() ? with_operators(instruction.operation, x, "double")
                                       : call(function, x),
                      ";\n"});
    }
    for (std::size_t i = 0; i < program_.outputs.size(); ++i) {
      body += joined({"  *", numbered('o', i), " = ", value_name(program_.outputs[i]), ";\n"});
    }
    output_type_ = "double";
    return head(name, [](std::uint32_t) { return std::string("double"); }) + body + "}\n";
  }

 private:
  static bool flag(const std::vector<bool>& flags, std::uint32_t input) {
    return input < flags.size() && flags[input];
  }
  std::string type_name(bool varies) const {
    return varies && options_.type == ValueType::lanes ? "lanes" : "real";
  }
  /// A value, as type lanes where that is asked for.
  std::string operand(std::uint32_t value, bool varies) const {
    if (varies_[value] == varies || options_.type == ValueType::real) return value_name(value);
    return joined({"(", type_name(varies), ")(", value_name(value), ")"});
  }

  template <class TypeOfInput>
  std::string head(std::string_view name, TypeOfInput type_of_input) const {
    std::string text = joined({"static inline void ", name});
    std::string_view separator = "(";
    for (std::uint32_t i = 0; i < program_.first_constant(); ++i) {
      text += joined({separator, "const ", type_of_input(i), " ", value_name(i)});
      separator = ", ";
    }
    const std::string output = output_type_.empty() ? type_name(true) : output_type_;
    for (std::size_t i = 0; i < program_.outputs.size(); ++i) {
      text += joined({separator, output, " *", numbered('o', i)});
      separator = ", ";
    }
    return text + ") {\n";
  }

  std::string constants(const std::string& type) const {
    std::string text;
    for (std::size_t i = 0; i < program_.constants.size(); ++i) {
      const auto value = program_.first_constant() + static_cast<std::uint32_t>(i);
      text += joined({"  const ", type, " ", value_name(value), " = (", type, ")",
                      hexadecimal(program_.constants[i]), ";\n"});
    }
    return text;
  }

  std::string statement(const FusedInstruction& instruction) {
    const auto count = static_cast<std::size_t>(instruction.operands_read());
    const auto operands = std::span(instruction.operands).first(count);
    const bool varies = std::ranges::any_of(
        operands, [&](std::uint32_t value) { return static_cast<bool>(varies_[value]); });
    varies_[instruction.result] = varies;
    std::vector<std::string> x;
    for (const std::uint32_t value : operands) x.push_back(operand(value, varies));
    return joined({"  const ", type_name(varies), " ", value_name(instruction.result), " = ",
                   expression(instruction, x, varies), ";\n"});
  }

  std::string expression(const FusedInstruction& instruction, std::vector<std::string>& x,
                         bool varies) const {
    switch (instruction.fusion) {
      case Fusion::multiply_add:
        return call("fma", x);
      case Fusion::multiply_subtract:
        x[2] = joined({"-", x[2]});
        return call("fma", x);
      case Fusion::subtract_product:
        x[0] = joined({"-", x[0]});
        return call("fma", x);
      case Fusion::none:
        break;
    }
    const std::string_view prefix = type_name(varies) == "lanes" ? "lanes_" : "";
    if (flag(options_.moderate, instruction.operands[0])) {
      const std::string_view function = function_of_square(instruction.operation);
      if (!function.empty()) return call(joined({prefix, function}), x);
    }
    if (instruction.operation == Operation::divide &&
        flag(options_.moderate, instruction.operands[1])) {
      return joined({x[0], " * ", prefix, "reciprocal_of_square(", x[1], ")"});
    }
    const std::string_view function = device_function(instruction.operation);
    return function.empty() ? with_operators(instruction.operation, x, type_name(varies))
                            : call(function, x);
  }

  const starpmc::Program& program_;
  const FunctionOptions& options_;
  std::vector<bool> varies_;  ///< per value: of the type of varying values
  std::string output_type_{};
};

}  // namespace

std::string emit_function(const starpmc::Program& program, std::string_view name,
                          const FunctionOptions& options) {
  check_name(name);
  return Emitter(program, options).text(name);
}

std::string emit_exact_function(const starpmc::Program& program, std::string_view name) {
  check_name(name);
  return Emitter(program, {}).exact_text(name);
}

}  // namespace starpmc::opencl
