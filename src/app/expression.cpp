#include "app/subcommands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <vector>

#include "app/subcommand_options.hpp"
#include "config/value_names.hpp"
#include "expression/count.hpp"
#include "expression/derivative.hpp"
#include "expression/evaluate_program.hpp"
#include "expression/parse.hpp"
#include "expression/part.hpp"
#include "expression/print.hpp"
#include "expression/print_program.hpp"
#include "expression/translate.hpp"
#include "io/json_text.hpp"
#include "kernels/base/error.hpp"
#include "kernels/opencl/host/emit.hpp"

namespace starpmc {
namespace {

namespace options = boost::program_options;
using expression::Node;
using expression::Pool;
using Json = nlohmann::ordered_json;
using ValuesByName = std::map<std::string, double, std::less<>>;

constexpr const char* kPrecisionWords = "fp64, mixed or fixed";

void print_expression_help(const options::options_description& described, std::ostream& out) {
  out << "Usage: starpmc expression 'TEXT' [--set NAME=VALUE]... [options]\n\n"
         "Shows what becomes of a pair potential in the language of OpenMM's custom forces:\n"
         "  starpmc expression '4*epsilon*((sigma/r)^12-(sigma/r)^6); sigma=(sigma1+sigma2)/2' \\\n"
         "    --set epsilon=0.65 --set sigma1=3.1 --set sigma2=3.3 --set r=3.5\n\n"
      << described;
}

std::pair<std::string, double> read_argument(const std::string& text) {
  const std::size_t equals = text.find('=');
  double value = 0;
  const char* const end = text.data() + text.size();
  const bool named = equals != std::string::npos && equals > 0;
  const auto read = named ? std::from_chars(text.data() + equals + 1, end, value)
                          : std::from_chars_result{nullptr, std::errc::invalid_argument};
  if (read.ec != std::errc() || read.ptr != end || !std::isfinite(value)) {
    throw InputError("starpmc expression --set", "expected NAME=VALUE with a finite number", text,
                     "write for example --set r=3.5");
  }
  return {text.substr(0, equals), value};
}

struct Request {
  std::string text;
  std::string variable;
  bool variable_given = false;
  ValuesByName arguments;
  bool second = false;
  bool pairs = false;
  bool json = false;
  Precision precision = Precision::fp64;
};

Precision read_precision(const std::string& word) {
  for (const Precision precision : kPrecisions) {
    if (word == value_name(precision)) return precision;
  }
  throw InputError("starpmc expression --precision", "unknown precision", word,
                   std::string("use ") + kPrecisionWords);
}

Request make_request(const std::string& text, const options::variables_map& values) {
  Request request;
  request.text = text;
  request.variable = values["variable"].as<std::string>();
  request.variable_given = !values["variable"].defaulted();
  if (values.contains("set")) {
    for (const std::string& word : values["set"].as<std::vector<std::string>>()) {
      if (!request.arguments.insert(read_argument(word)).second) {
        throw InputError("starpmc expression --set", "an argument is given twice", word,
                         "give it once");
      }
    }
  }
  request.second = values.contains("second");
  request.pairs = values.contains("pairs");
  request.json = values.contains("json");
  request.precision = read_precision(values["precision"].as<std::string>());
  return request;
}

/// An expression with its derivatives, and their names for people.
struct Outputs {
  std::vector<std::string> names;
  std::vector<Node> nodes;
  std::vector<std::string> written;  ///< variables of the text, those that cancel among them
};

/// All of a pool that holds a text and nothing else.
std::vector<std::string> all_variables(const Pool& pool) {
  std::vector<Node> all;
  for (std::uint32_t i = 0; i < pool.size(); ++i) all.push_back({i});
  return pool.variables(all);
}

Outputs differentiate(Pool& pool, const Request& request) {
  Outputs outputs;
  outputs.names.emplace_back("value");
  outputs.nodes.push_back(expression::parse(pool, request.text));
  outputs.written = all_variables(pool);
  for (const char* const name : {"derivative", "second_derivative"}) {
    if (outputs.nodes.size() == 2 && !request.second) break;
    outputs.names.emplace_back(name);
    outputs.nodes.push_back(expression::derivative(pool, outputs.nodes.back(), request.variable));
  }
  return outputs;
}

constexpr const char* kOnce = "once";
constexpr const char* kEach = "each";

struct NamedProgram {
  std::string name;
  Program program;
};

std::vector<NamedProgram> translate(Pool& pool, const Outputs& outputs, const Request& request) {
  expression::TranslationOptions how;
  if (!request.pairs) return {{"program", expression::translate(pool, outputs.nodes, how)}};
  how.squared_variable = request.variable;
  how.square_input = request.variable + "_squared";
  how.varying = {how.square_input};
  PartedProgram parted =
      expression::part(expression::translate(pool, outputs.nodes, how), how.varying);
  return {{kOnce, std::move(parted.once)}, {kEach, std::move(parted.each)}};
}

/// Outputs of the programs. The second one is given the square of the variable, then the outputs of
/// the first one, whatever its inputs are called.
template <class Real>
std::vector<double> evaluate_as(const std::vector<NamedProgram>& programs, const Request& request) {
  std::vector<Real> results;
  for (const auto& [name, program] : programs) {
    std::vector<Real> inputs;
    if (name == kEach) {
      const double variable = request.arguments.at(request.variable);
      inputs.push_back(static_cast<Real>(variable * variable));
      inputs.insert(inputs.end(), results.begin(), results.end());
    } else {
      for (const std::string& input : program.inputs) {
        inputs.push_back(static_cast<Real>(request.arguments.at(input)));
      }
    }
    results = expression::evaluate_program<Real>(program, inputs);
  }
  return {results.begin(), results.end()};
}

void require_variable(const Outputs& outputs, std::string_view option, const std::string& name) {
  if (std::ranges::find(outputs.written, name) != outputs.written.end()) return;
  throw InputError(option, "the expression has no such variable", name,
                   outputs.written.empty()
                       ? "it has none: leave it out"
                       : fmt::format("its variables: {}", fmt::join(outputs.written, ", ")));
}

void check_arguments(const std::vector<std::string>& variables, const Outputs& outputs,
                     const Request& request) {
  for (const auto& [name, value] : request.arguments) {
    if (name != request.variable) require_variable(outputs, "starpmc expression --set", name);
  }
  std::vector<std::string> needed = variables;
  if (request.pairs) needed.push_back(request.variable);
  for (const std::string& name : needed) {
    if (!request.arguments.contains(name)) {
      throw InputError("starpmc expression", "a variable without a value", name,
                       "add --set " + name + "=VALUE");
    }
  }
  if (!request.pairs || request.arguments.at(request.variable) > 0) return;
  throw InputError("starpmc expression --set",
                   "with --pairs the variable is the root of its square",
                   fmt::format("{}={}", request.variable, request.arguments.at(request.variable)),
                   "write a value above 0, or leave out --pairs");
}

/// Values at the arguments; none where no argument is given.
std::optional<std::vector<double>> evaluate(const std::vector<NamedProgram>& programs,
                                            const std::vector<std::string>& variables,
                                            const Outputs& outputs, const Request& request) {
  if (request.arguments.empty()) return std::nullopt;
  check_arguments(variables, outputs, request);
  if (request.precision == Precision::fp64) return evaluate_as<double>(programs, request);
  return evaluate_as<float>(programs, request);
}

Json counts_as_json(const Program& program) {
  const expression::OperationCounts counts = expression::count_operations(program);
  Json json{{"total", counts.total()}};
  for (std::size_t i = 0; i < counts.counts.size(); ++i) {
    const auto operation = static_cast<Operation>(i);
    if (counts.counts[i] > 0) json[expression::operation_name(operation)] = counts.counts[i];
  }
  return json;
}

/// As kernels have it; empty for what the host computes once per pair of site types.
std::string opencl_source(const NamedProgram& named, const Request& request) {
  const auto& [name, program] = named;
  if (name == kOnce) return {};
  opencl::FunctionOptions options;
  for (const std::string& input : program.inputs) {
    options.moderate.push_back(request.pairs && input == request.variable + "_squared");
  }
  return opencl::emit_function(program, "pair_function", options);
}

Json program_as_json(const NamedProgram& named, const Request& request) {
  const Program& program = named.program;
  const std::vector<std::string> names = expression::value_names(program);
  Json outputs = Json::array();
  for (const std::uint32_t output : program.outputs) outputs.push_back(names[output]);
  Json json{{"inputs", program.inputs},
            {"instructions", expression::print_program(program)},
            {"outputs", outputs},
            {"operations", counts_as_json(program)}};
  const std::string source = opencl_source(named, request);
  if (!source.empty()) json["opencl"] = source;
  return json;
}

/// Everything that is shown.
struct Report {
  const Request& request;
  std::vector<std::string> names;
  std::vector<std::string> texts;
  std::vector<std::string> variables;
  std::optional<Program> naive;  ///< none where it would be too large
  std::vector<NamedProgram> programs;
  std::optional<std::vector<double>> values;
};

Json as_json(const Report& report) {
  Json json{{"expression", report.request.text},
            {"canonical", report.texts[0]},
            {"variables", report.variables},
            {"variable", report.request.variable}};
  for (std::size_t i = 1; i < report.texts.size(); ++i) json[report.names[i]] = report.texts[i];
  if (report.naive) json["one_to_one"] = {{"operations", counts_as_json(*report.naive)}};
  for (const NamedProgram& named : report.programs) {
    json[named.name] = program_as_json(named, report.request);
  }
  if (report.values) {
    json["precision"] = value_name(report.request.precision);
    for (std::size_t i = 0; i < report.names.size(); ++i) {
      json["values"][report.names[i]] = (*report.values)[i];
    }
  }
  return json;
}

void print_named_program(const NamedProgram& named, const Request& request, std::ostream& out) {
  const auto& [name, program] = named;
  const std::vector<std::string> names = expression::value_names(program);
  std::vector<std::string> outputs;
  for (const std::uint32_t output : program.outputs) outputs.push_back(names[output]);
  out << fmt::format("\n{} ({}), operations {}\n", name, fmt::join(program.inputs, ", "),
                     expression::print_counts(program));
  for (const std::string& line : expression::print_program(program)) out << "  " << line << '\n';
  out << fmt::format("  -> {}\n", fmt::join(outputs, ", "));
  const std::string source = opencl_source(named, request);
  if (!source.empty()) out << "\nOpenCL C of " << name << ", inputs as above\n" << source;
}

void print_text(const Report& report, std::ostream& out) {
  for (std::size_t i = 0; i < report.texts.size(); ++i) {
    out << fmt::format("{}\n  {}\n", report.names[i], report.texts[i]);
  }
  out << "\none to one, operations "
      << (report.naive ? expression::print_counts(*report.naive) : "more than a million") << '\n';
  for (const NamedProgram& named : report.programs) print_named_program(named, report.request, out);
  if (!report.values) return;
  out << fmt::format("\nat the arguments, {}\n", value_name(report.request.precision));
  for (std::size_t i = 0; i < report.names.size(); ++i) {
    out << fmt::format("  {} = {}\n", report.names[i], (*report.values)[i]);
  }
}

std::optional<Program> translate_naively(const Pool& pool, const Outputs& outputs) {
  try {
    return expression::translate_naively(pool, outputs.nodes);
  } catch (const InputError&) {
    return std::nullopt;  // too large: a figure for comparison only
  }
}

}  // namespace

boost::program_options::options_description expression_options() {
  options::options_description described("Options");
  auto add = described.add_options();
  add("set", options::value<std::vector<std::string>>()->composing(),
      "NAME=VALUE: an argument to evaluate at; one for each variable");
  add("variable", options::value<std::string>()->default_value("r"), "variable of the derivative");
  add("second", "the second derivative, too");
  add("pairs",
      "translate as for pairs of sites: the square of the variable is given, and what does not "
      "depend on it is computed once per pair of site types");
  add("precision", options::value<std::string>()->default_value("fp64"),
      fmt::format("of the values: {} (the last two: single precision)", kPrecisionWords).c_str());
  add("json", "print JSON");
  add("help", "show this text");
  return described;
}

int run_expression(std::span<const std::string> arguments, std::ostream& out) {
  const options::options_description described = expression_options();
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h") {
    print_expression_help(described, out);
    return 0;
  }
  const options::variables_map values =
      parse_subcommand("starpmc expression", described, arguments.subspan(1));
  if (values.contains("help")) {
    print_expression_help(described, out);
    return 0;
  }
  const Request request = make_request(arguments[0], values);
  Pool pool;
  const Outputs outputs = differentiate(pool, request);
  if (request.variable_given) {
    require_variable(outputs, "starpmc expression --variable", request.variable);
  }
  Report report{request, outputs.names, {}, pool.variables(outputs.nodes), {}, {}, {}};
  for (const Node node : outputs.nodes) report.texts.push_back(expression::print(pool, node));
  report.naive = translate_naively(pool, outputs);
  report.programs = translate(pool, outputs, request);
  report.values = evaluate(report.programs, report.variables, outputs, request);
  if (request.json) {
    out << json_text(as_json(report));
  } else {
    print_text(report, out);
  }
  return 0;
}

}  // namespace starpmc
