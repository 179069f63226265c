#include "potential/pair_function.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "expression/derivative.hpp"
#include "expression/evaluate.hpp"
#include "expression/parse.hpp"
#include "expression/part.hpp"
#include "expression/translate.hpp"
#include "kernels/base/error.hpp"
#include "kernels/scalar/evaluate.hpp"

namespace starpmc {
namespace {

using expression::Node;

constexpr const char* kSquare = "r_squared";
/// Distances at which a function must be finite: nearer ones may be forbidden.
constexpr int kSamplesToCutoff = 64;

/// Runs `read`; errors name the option.
template <class Read>
auto at(const std::string& place, const Read& read) {
  try {
    return read();
  } catch (const InputError& error) {
    // A problem is one line, a remedy may be several.
    constexpr std::string_view kRemedy = "\n  remedy: ";
    const std::string_view said = error.what();
    const std::size_t end = std::min(said.find(kRemedy), said.size());
    const std::size_t remedy = std::min(end + kRemedy.size(), said.size());
    throw InputError(place, said.substr(0, end), "", said.substr(remedy));
  }
}

}  // namespace

PairFunction::PairFunction(const std::vector<Text>& texts,
                           const std::vector<std::string>& parameters, const Cutoff& cutoff)
    : place_(texts.front().place), cutoff_(cutoff) {
  std::vector<std::string> known{"r", "cutoff"};
  known.insert(known.end(), parameters.begin(), parameters.end());
  std::vector<expression::Operand> terms;
  for (const Text& text : texts) {
    at(text.place, [&] {
      const Node parsed = expression::parse(pool_, text.text, known);
      const Node with_cutoff = substitute(pool_, parsed, [&](std::string_view name) {
        return name == "cutoff" ? std::optional(pool_.number(cutoff.distance)) : std::nullopt;
      });
      terms.push_back({with_cutoff, 1});
      return 0;
    });
  }
  at(place_, [&] {
    untreated_ = pool_.sum(terms);
    function_ = treat(pool_, untreated_, cutoff);
    used_ = pool_.variables({&function_, 1});
    std::erase(used_, "r");
    parted_ = translate({&function_, 1});
    return 0;
  });
}

PartedProgram PairFunction::with_derivative() {
  return at(place_, [&] {
    const Node derivative = expression::derivative(pool_, function_, "r");
    const Node outputs[] = {function_, pool_.product({{derivative, 1}, {pool_.variable("r"), -1}})};
    return translate(outputs);
  });
}

PartedProgram PairFunction::translate(std::span<const Node> outputs) {
  expression::TranslationOptions options;
  options.inputs.emplace_back(kSquare);
  options.inputs.insert(options.inputs.end(), used_.begin(), used_.end());
  options.squared_variable = std::string("r");
  options.varying = {kSquare};
  return expression::part(expression::translate(pool_, outputs, options), options.varying);
}

bool PairFunction::is_zero(const Parameters& parameters) {
  try {
    const Node node = substitute(pool_, function_, [&](std::string_view name) {
      const auto found = parameters.find(name);
      return found == parameters.end() ? std::nullopt : std::optional(pool_.number(found->second));
    });
    return pool_.is_number(node, 0);
  } catch (const InputError&) {
    return false;  // not defined: coefficients() will say so
  }
}

void PairFunction::check_cutoff(const Parameters& parameters, const std::string& sites) {
  auto arguments = parameters;
  arguments["r"] = cutoff_.distance;
  std::vector<Node> nodes{untreated_};
  if (cutoff_.treatment == CutoffTreatment::force_shift) {
    nodes.push_back(expression::derivative(pool_, untreated_, "r"));
  }
  const std::vector<double> values = expression::evaluate<double>(pool_, nodes, arguments);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    throw InputError(place_,
                     fmt::format("the expression{} is not finite at the cutoff {} A{}",
                                 i == 0 ? "" : "'s derivative, which force-shift needs,",
                                 cutoff_.distance, sites),
                     fmt::format("{}", values[i]),
                     "change the expression, or the parameters of these atom types, or the cutoff");
  }
}

std::vector<double> PairFunction::coefficients(const Parameters& parameters,
                                               const std::string& sites) {
  check_cutoff(parameters, sites);
  std::vector<double> inputs;
  for (const std::string& name : parted_.once.inputs) inputs.push_back(parameters.at(name));
  std::vector<double> values(coefficient_count());
  scalar::evaluate<double>(parted_.once, inputs, values);
  for (int i = 0; i <= kSamplesToCutoff; ++i) {
    const double r = cutoff_.distance * (1 - 0.5 * i / kSamplesToCutoff);
    const double energy = value(r, values);
    if (std::isfinite(energy)) continue;
    throw InputError(
        place_, fmt::format("the expression is not finite at a distance of {:.4g} A{}", r, sites),
        fmt::format("{}", energy),
        "it must be finite from half the cutoff to the cutoff: change the expression or the "
        "parameters of these atom types");
  }
  return values;
}

double PairFunction::value(double distance, std::span<const double> coefficients) const {
  std::vector<double> inputs{distance * distance};
  inputs.insert(inputs.end(), coefficients.begin(), coefficients.end());
  double result = 0;
  scalar::evaluate<double>(parted_.each, inputs, std::span(&result, 1));
  return result;
}

}  // namespace starpmc
