#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/program.hpp"

namespace starpmc::expression {

/// A value of a program under construction; its number in the finished one may be another.
struct Value {
  std::uint32_t index = 0;
  auto operator<=>(const Value&) const = default;
};

/// Appends instructions to a program; an instruction that is there already is not appended again.
class ProgramBuilder {
 public:
  explicit ProgramBuilder(std::vector<std::string> inputs) : inputs_(std::move(inputs)) {
    for (std::uint32_t i = 0; i < inputs_.size(); ++i) entries_.push_back({Source::input, i, {}});
  }

  Value input(std::size_t number) const { return {static_cast<std::uint32_t>(number)}; }
  Value constant(double value);
  Value emit(Operation operation, Value a, Value b = {}, Value c = {});
  /// The product of these values: constants first, then by number, so that products that begin
  /// alike share instructions.
  Value multiply_all(std::vector<Value> values);

  /// The program, without what no output needs.
  Program finish(std::span<const Value> outputs) const;

 private:
  enum class Source : std::uint8_t { input, constant, result };
  struct Entry {
    Source source;
    std::uint32_t position;  ///< of an input or a constant
    Instruction instruction;
  };

  std::vector<bool> needed_for(std::span<const Value> outputs) const;

  std::vector<std::string> inputs_;
  std::vector<double> constants_;
  std::vector<Entry> entries_;
  std::map<double, Value> constant_values_;
  std::map<std::tuple<Operation, Value, Value, Value>, Value> results_;
};

}  // namespace starpmc::expression
