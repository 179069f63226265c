#include "potential/pair_function.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "expression/derivative.hpp"
#include "expression/evaluate.hpp"
#include "expression/parse.hpp"
#include "expression/part.hpp"
#include "expression/translate.hpp"
#include "kernels/base/error.hpp"
#include "kernels/scalar/evaluate.hpp"
#include "potential/error_bound.hpp"

namespace starpmc {
namespace {

using expression::Node;

constexpr const char* kSquare = "r_squared";
/// Parts of the distances at which a function must be finite: nearer ones may be forbidden.
constexpr int kCellsToCutoff = 64;
/// At most, of all parts of these that are examined.
constexpr int kMostCells = 4096;
/// Of the cutoff: a narrower part is not divided.
constexpr double kNarrowCell = 1e-9;

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
  for (const Text& text : texts) {
    at(text.place, [&] {
      const Node parsed = expression::parse(pool_, text.text, known);
      const Node with_cutoff = substitute(pool_, parsed, [&](std::string_view name) {
        return name == "cutoff" ? std::optional(pool_.number(cutoff.distance)) : std::nullopt;
      });
      parts_.push_back({text.place, with_cutoff});
      return 0;
    });
  }
  treat_sum();
  at(place_, [&] {
    used_ = pool_.variables({&function_, 1});
    std::erase(used_, "r");
    parted_ = translate({&function_, 1});
    return 0;
  });
}

void PairFunction::treat_sum() {
  try {
    std::vector<expression::Operand> terms;
    for (const Part& part : parts_) terms.push_back({part.node, 1});
    untreated_ = pool_.sum(terms);
    function_ = treat(pool_, untreated_, cutoff_);
  } catch (const InputError&) {
    for (const Part& part : parts_) {
      at(part.place, [&] { return treat(pool_, part.node, cutoff_); });
    }
    at(place_, [&]() -> int { throw; });
  }
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
  const auto slope = [&](Node node) { return expression::derivative(pool_, node, "r"); };
  if (cutoff_.treatment == CutoffTreatment::force_shift) nodes.push_back(slope(untreated_));
  const std::vector<double> values = expression::evaluate<double>(pool_, nodes, arguments);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    const std::string& place = place_where([&](Node part) {
      return !std::isfinite(value_of(i == 0 ? part : slope(part), parameters, cutoff_.distance));
    });
    throw InputError(place,
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
  if (const auto r = not_finite_distance(values)) {
    const std::string& place =
        place_where([&](Node part) { return !std::isfinite(value_of(part, parameters, *r)); });
    throw InputError(
        place, fmt::format("the expression is not finite at a distance of {:.4g} A{}", *r, sites),
        fmt::format("{}", value(*r, values)),
        "it must be finite from half the cutoff to the cutoff: change the expression or the "
        "parameters of these atom types");
  }
  return values;
}

/// Where nothing proves that a cell has numbers only, its middle is looked at, then its halves, of
/// all cells in turn: a region without numbers is found however narrow it is.
std::optional<double> PairFunction::not_finite_distance(
    std::span<const double> coefficients) const {
  const ErrorBound bound(parted_.each, coefficients);
  const double rc = cutoff_.distance;
  const auto distance = [&](int i) { return rc * (1 - 0.5 * i / kCellsToCutoff); };
  std::vector<Interval> cells;  // in the order in which they are looked at
  for (int i = 0; i < kCellsToCutoff; ++i) cells.push_back({distance(i + 1), distance(i)});
  for (int i = 0; i <= kCellsToCutoff; ++i) {
    if (!std::isfinite(value(distance(i), coefficients))) return distance(i);
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto [low, high] = cells[i];
    if (bound.over(cells[i]).defined == Defined::always) continue;
    const double middle = low + 0.5 * (high - low);
    if (!std::isfinite(value(middle, coefficients))) return middle;
    if (high - low < kNarrowCell * rc || cells.size() >= kMostCells) continue;
    cells.push_back({low, middle});
    cells.push_back({middle, high});
  }
  return std::nullopt;
}

double PairFunction::value_of(Node node, const Parameters& parameters, double distance) const {
  auto arguments = parameters;
  arguments["r"] = distance;
  return expression::evaluate<double>(pool_, {&node, 1}, arguments).front();
}

const std::string& PairFunction::place_where(const std::function<bool(Node)>& at_fault) const {
  for (const Part& part : parts_) {
    try {
      if (at_fault(part.node)) return part.place;
    } catch (const InputError&) {
      continue;  // a parameter that the sum does not depend on
    }
  }
  return place_;
}

const std::string& PairFunction::place_of_largest(const Parameters& parameters, double distance) {
  double largest = 0;
  const std::string* place = &place_;
  place_where([&](Node part) {
    const double size = std::abs(value_of(part, parameters, distance));
    if (size > largest) {
      largest = size;
      place = &std::ranges::find(parts_, part, &Part::node)->place;
    }
    return false;
  });
  return *place;
}

double PairFunction::value(double distance, std::span<const double> coefficients) const {
  std::vector<double> inputs{distance * distance};
  inputs.insert(inputs.end(), coefficients.begin(), coefficients.end());
  double result = 0;
  scalar::evaluate<double>(parted_.each, inputs, std::span(&result, 1));
  return result;
}

const std::string& PairFunction::place_without_slope(const Parameters& parameters,
                                                     double distance) {
  return place_where([&](Node part) {
    return std::isnan(value_of(expression::derivative(pool_, part, "r"), parameters, distance));
  });
}

}  // namespace starpmc
