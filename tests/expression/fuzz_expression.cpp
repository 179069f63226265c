// libFuzzer target: any text is read or refused by an InputError; what is read keeps its meaning
// through text, derivative and programs. CI takes the same texts each time (.ci/run); for others:
//   cmake --preset fuzz && cmake --build --preset fuzz
//   build/fuzz/fuzz_expression -dict=tests/expression/fuzz_words.txt -max_len=2000 -timeout=60
//     -seed=$RANDOM -max_total_time=600 "$(mktemp -d)" tests/expression/fuzz_corpus
// A text that is found goes to tests/expression/fuzz_corpus, short, once it is mended.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "expression/derivative.hpp"
#include "expression/evaluate_program.hpp"
#include "expression/parse.hpp"
#include "expression/part.hpp"
#include "expression/print.hpp"
#include "expression/translate.hpp"

namespace starpmc::expression {
namespace {

void require(bool condition, const char* what, std::string_view text) {
  if (condition) return;
  std::fprintf(stderr, "%s\n%.*s\n", what, static_cast<int>(text.size()), text.data());
  std::abort();
}

/// Jumps may fall to either side of a rounding error.
bool jumps(const Pool& pool, std::span<const Node> outputs) {
  return std::ranges::any_of(pool.reachable(outputs), [&](Node node) {
    using enum Operation;
    if (pool.kind(node) != Kind::function) return false;
    const Operation operation = pool.operation(node);
    return operation == step || operation == delta || operation == floor || operation == ceil ||
           operation == select;
  });
}

/// The same distinct, positive value for a name wherever it occurs.
double value_of(std::string_view name) {
  if (name == "r") return 1.25;
  unsigned sum = 0;
  for (const char c : name) sum = 31 * sum + static_cast<unsigned char>(c);
  return 0.3 + 0.001 * (sum % 1999);
}

template <class Real>
std::vector<Real> of_tree(const Pool& pool, std::span<const Node> outputs) {
  std::map<std::string, Real, std::less<>> arguments;
  for (const std::string& name : pool.variables(outputs)) {
    arguments[name] = static_cast<Real>(value_of(name));
  }
  return evaluate<Real>(pool, outputs, arguments);
}

std::vector<long double> inputs_of(const Program& program, bool squared) {
  std::vector<long double> inputs;
  for (const std::string& name : program.inputs) {
    inputs.push_back(squared && name == "r_squared" ? 1.5625L
                                                    : static_cast<long double>(value_of(name)));
  }
  return inputs;
}

struct Expected {
  std::vector<long double> values;
  long double scale = 0;  ///< largest value of any part
};

/// Nothing where a value is not finite, or so badly conditioned that it says nothing.
std::optional<Expected> expected_values(const Pool& pool, std::span<const Node> outputs) {
  if (jumps(pool, outputs)) return std::nullopt;
  const std::vector<Node> parts = pool.reachable(outputs);
  Expected expected{of_tree<long double>(pool, outputs), 1};
  for (const long double value : of_tree<long double>(pool, parts)) {
    if (!std::isfinite(static_cast<double>(value))) return std::nullopt;
    expected.scale = std::max(expected.scale, std::abs(value));
  }
  const std::vector<double> rough = of_tree<double>(pool, outputs);
  for (std::size_t i = 0; i < rough.size(); ++i) {
    const long double difference = std::abs(rough[i] - expected.values[i]);
    if (!(difference <= 1e-7L * std::abs(expected.values[i]))) return std::nullopt;
  }
  return expected;
}

void compare(const std::optional<Expected>& expected, std::span<const long double> values,
             const char* what, std::string_view text) {
  if (!expected) return;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const long double tolerance =
        1e-6L * std::abs(expected->values[i]) + 1e-12L * std::min(expected->scale, 1e6L);
    require(std::abs(values[i] - expected->values[i]) <= tolerance, what, text);
  }
}

void check_programs(Pool& pool, std::span<const Node> outputs, std::string_view text) {
  const auto expected = expected_values(pool, outputs);
  const Program plain = translate(pool, outputs);
  compare(expected, evaluate_program<long double>(plain, inputs_of(plain, false)), "plain program",
          text);
  const TranslationOptions options{.inputs = {}, .squared_variable = "r", .varying = {"r_squared"}};
  const Program program = translate(pool, outputs, options);
  const auto whole = evaluate_program<long double>(program, inputs_of(program, true));
  compare(expected, whole, "program with the square", text);
  const PartedProgram parted = part(program, options.varying);
  std::vector<long double> inputs{1.5625L};
  const auto once = evaluate_program<long double>(parted.once, inputs_of(parted.once, true));
  inputs.insert(inputs.end(), once.begin(), once.end());
  const auto each = evaluate_program<long double>(parted.each, inputs);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    require(whole[i] == each[i] || std::isnan(whole[i]), "parted program", text);
  }
}

void check(std::string_view text) {
  Pool pool;
  const Node energy = parse(pool, text);
  const std::string printed = print(pool, energy);
  if (printed.size() <= kLongestText) {
    require(parse(pool, printed) == energy, "parses to another tree", printed);
  }
  const std::vector<Node> outputs{energy, derivative(pool, energy, "r")};
  check_programs(pool, outputs, text);
}

}  // namespace
}  // namespace starpmc::expression

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    starpmc::expression::check(text);
  } catch (const starpmc::InputError&) {
    // What is no expression is refused so.
  }
  return 0;
}
