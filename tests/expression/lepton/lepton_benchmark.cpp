// How fast expressions are beside Lepton's compiled ones, as OpenMM's wheel ships them, and beside
// a one-to-one translation with pow(): nanoseconds an evaluation, one core, everything in the
// first-level cache. Each figure is the least of many rounds, the contestants taking turns.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "expression/derivative.hpp"
#include "expression/parse.hpp"
#include "expression/part.hpp"
#include "expression/print.hpp"
#include "expression/translate.hpp"
#include "kernels/compiled/molecule_function.hpp"
#include "kernels/scalar/evaluate.hpp"
#include "kernels/simd/evaluate.hpp"
#include "lepton/CompiledExpression.h"
#include "lepton/CompiledVectorExpression.h"
#include "lepton/ParsedExpression.h"
#include "lepton/Parser.h"

namespace starpmc {
namespace {

using expression::Node;

constexpr std::size_t kTargets = 4;
constexpr std::size_t kSources = 256;
constexpr std::size_t kPairs = kTargets * kSources;

struct Formula {
  const char* name;
  std::string text;
};

const std::map<std::string, double> kParameters{
    {"charge1", -0.8},  {"charge2", 0.4},   {"sigma1", 3.1},  {"sigma2", 3.3},
    {"epsilon1", 0.65}, {"epsilon2", 0.45}, {"cutoff", 12.0}, {"kappa", 0.1}};
const std::string kCoulomb = "1389.35457644*charge1*charge2*(1-r/cutoff)^2/r";
const std::string kLennardJones = "4*epsilon*((sigma/r)^12-(sigma/r)^6)";
const std::string kMixing = "; sigma=0.5*(sigma1+sigma2); epsilon=sqrt(epsilon1*epsilon2)";
const std::array<Formula, 4> kFormulas{
    {{"Coulomb shifted force", kCoulomb},
     {"Lennard-Jones", kLennardJones + kMixing},
     {"LJ + Coulomb", kLennardJones + "+" + kCoulomb + kMixing},
     {"screened, exp-6", "exp(-kappa*r)/r + 3e5*exp(-3.6*r) - 2600*epsilon1*epsilon2/r^6"}}};

/// Positions, and the squared distances of their pairs, target by target.
template <class Real>
struct Pairs {
  std::array<std::vector<Real>, 3> sources;
  std::vector<Real> targets;
  std::vector<Real> squares;
  std::vector<Real> distances;
};

template <class Real>
Pairs<Real> make_pairs() {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> far(2, 6);
  std::uniform_real_distribution<double> near(0, 1);
  Pairs<Real> pairs;
  for (auto& axis : pairs.sources) {
    for (std::size_t i = 0; i < kSources; ++i) axis.push_back(static_cast<Real>(far(random)));
  }
  for (std::size_t i = 0; i < 3 * kTargets; ++i) {
    pairs.targets.push_back(static_cast<Real>(near(random)));
  }
  for (std::size_t pair = 0; pair < kPairs; ++pair) {
    double square = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double d = static_cast<double>(pairs.targets[3 * (pair / kSources) + axis]) -
                       static_cast<double>(pairs.sources[axis][pair % kSources]);
      square += d * d;
    }
    pairs.squares.push_back(static_cast<Real>(square));
    pairs.distances.push_back(static_cast<Real>(std::sqrt(square)));
  }
  return pairs;
}

/// Adds up all outputs of all pairs.
struct Contestant {
  std::string name;
  std::function<double()> run;
  double nanoseconds = HUGE_VAL;
  double total = 0;
};

void race(std::vector<Contestant>& contestants) {
  constexpr int kRounds = 100;
  constexpr int kRepeats = 10;
  for (int round = 0; round < kRounds; ++round) {
    for (Contestant& contestant : contestants) {
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < kRepeats; ++i) contestant.total = contestant.run();
      const std::chrono::duration<double, std::nano> taken =
          std::chrono::steady_clock::now() - start;
      contestant.nanoseconds =
          std::min(contestant.nanoseconds, taken.count() / (kRepeats * double(kPairs)));
    }
  }
}

/// A program of the square or the distance, and of uniform inputs.
struct Translated {
  Program program;
  std::vector<double> uniform;
  template <class Real>
  std::vector<Real> uniform_as() const {
    return {uniform.begin(), uniform.end()};
  }
  std::vector<bool> uniform_flags() const {
    std::vector<bool> flags(program.inputs.size(), true);
    flags[0] = false;
    return flags;
  }
};

std::vector<Node> outputs_of(expression::Pool& pool, const std::string& text, bool derivative) {
  std::vector<Node> outputs{expression::parse(pool, text)};
  if (derivative) outputs.push_back(expression::derivative(pool, outputs[0], "r"));
  return outputs;
}

/// As pair functions are translated for runs: see PairFunction.
Translated translated(const std::string& text, bool derivative) {
  expression::Pool pool;
  const std::vector<Node> outputs = outputs_of(pool, text, derivative);
  const expression::TranslationOptions options{
      .inputs = {}, .squared_variable = "r", .varying = {"r_squared"}};
  const PartedProgram parted =
      expression::part(expression::translate(pool, outputs, options), options.varying);
  std::vector<double> parameters;
  for (const std::string& name : parted.once.inputs) parameters.push_back(kParameters.at(name));
  Translated result{parted.each, std::vector<double>(parted.once.outputs.size())};
  scalar::evaluate<double>(parted.once, parameters, result.uniform);
  return result;
}

/// @param of_square whether r is computed from its square, as compiled rows give it
Translated translated_naively(const std::string& text, bool derivative, bool of_square) {
  expression::Pool pool;
  std::vector<Node> outputs = outputs_of(pool, text, derivative);
  if (of_square) {
    for (Node& node : outputs) {
      node = expression::parse(pool, expression::print(pool, node) + "; r = sqrt(r_squared)");
    }
  }
  Translated result;
  std::vector<std::string> inputs{of_square ? "r_squared" : "r"};
  for (const std::string& name : pool.variables(outputs)) {
    if (name == inputs[0]) continue;
    inputs.push_back(name);
    result.uniform.push_back(kParameters.at(name));
  }
  result.program = expression::translate_naively(pool, outputs, inputs);
  return result;
}

Contestant by_scalar(const std::string& name, const Translated& translated,
                     const std::vector<double>& varying) {
  return {name, [&translated, &varying, values = std::vector<double>()]() mutable {
            std::vector<double> inputs{0};
            inputs.insert(inputs.end(), translated.uniform.begin(), translated.uniform.end());
            std::array<double, 2> outputs{};
            const std::span<double> used(outputs.data(), translated.program.outputs.size());
            double total = 0;
            for (const double x : varying) {
              inputs[0] = x;
              scalar::evaluate<double>(translated.program, inputs, used, values);
              total += outputs[0] + outputs[1];
            }
            return total;
          }};
}

template <class Real>
Contestant by_blocks(const std::string& name, const Translated& translated,
                     const std::vector<Real>& varying) {
  simd::BlockEvaluator<Real> evaluator(translated.program, simd::Rounding::quick,
                                       translated.uniform_flags());
  evaluator.set_uniform(translated.uniform_as<Real>());
  const std::size_t count = translated.program.outputs.size();
  return {name, [evaluator, count, &varying,
                 values = std::array{std::vector<Real>(kSources),
                                     std::vector<Real>(kSources)}]() mutable {
            double total = 0;
            const std::array<Real*, 2> outputs{values[0].data(), values[1].data()};
            for (std::size_t t = 0; t < kTargets; ++t) {
              const std::array<const Real*, 1> inputs{varying.data() + t * kSources};
              evaluator(inputs, kSources, std::span(outputs).first(count));
              for (std::size_t o = 0; o < count; ++o) {
                Real sum = 0;
                for (const Real value : values[o]) sum += value;
                total += static_cast<double>(sum);
              }
            }
            return total;
          }};
}

/// From the coordinates to the sums. Sources in lanes meet a molecule of kTargets sites.
template <class Real>
void add_compiled(std::vector<Contestant>& contestants, const std::string& name,
                  const Translated& translated, const Pairs<Real>& pairs) {
  PairTerm term{translated.program, MoleculeEnergy::coulomb};
  Program& program = term.program;
  if (program.outputs.size() == 2) {
    program.instructions.push_back({Operation::add, {program.outputs[0], program.outputs[1], 0}});
    program.outputs = {program.values() - 1};
  }
  const std::array places{compiled::Places::one_image};
  const auto function = compiled::MoleculeFunction<Real>::compile({&term, 1}, places);
  if (!function) return;
  std::vector<Real> sources;
  for (const auto& axis : pairs.sources) sources.insert(sources.end(), axis.begin(), axis.end());
  std::vector<Real> coefficients;
  for (std::size_t i = 0; i < kTargets; ++i) {
    for (const double x : translated.uniform) coefficients.push_back(static_cast<Real>(x));
  }
  contestants.push_back({name, [function, sources, coefficients, &pairs,
                                energies = std::vector<Real>(kSources)]() mutable {
                           (*function)({.target_count = kTargets,
                                        .source_count = 1,
                                        .coefficients = coefficients.data(),
                                        .count = kSources,
                                        .stride = kSources,
                                        .sources = sources.data(),
                                        .targets = pairs.targets.data(),
                                        .squared_cutoffs = {1000, 1000},
                                        .energies = {energies.data()}});
                           double total = 0;
                           for (const Real energy : energies) total += energy;
                           return total;
                         }});
}

/// OpenMM evaluates energy and force as two expressions.
std::vector<Lepton::ParsedExpression> parsed_by_lepton(const std::string& text, bool derivative) {
  std::vector<Lepton::ParsedExpression> parsed{Lepton::Parser::parse(text).optimize()};
  if (derivative) parsed.push_back(parsed[0].differentiate("r").optimize());
  return parsed;
}

class LeptonScalar {
 public:
  explicit LeptonScalar(const Lepton::ParsedExpression& parsed)
      : compiled_(parsed.createCompiledExpression()) {
    for (const std::string& name : compiled_.getVariables()) {
      if (name != "r") compiled_.getVariableReference(name) = kParameters.at(name);
    }
    r_ = &compiled_.getVariableReference("r");
  }
  LeptonScalar(const LeptonScalar&) = delete;
  LeptonScalar& operator=(const LeptonScalar&) = delete;
  double operator()(double r) {
    *r_ = r;
    return compiled_.evaluate();
  }

 private:
  Lepton::CompiledExpression compiled_;
  double* r_ = nullptr;
};

class LeptonVector {
 public:
  explicit LeptonVector(const Lepton::ParsedExpression& parsed)
      : width_(widest()), compiled_(parsed.createCompiledVectorExpression(width_)) {
    for (const std::string& name : compiled_.getVariables()) {
      if (name == "r") continue;
      std::fill_n(compiled_.getVariablePointer(name), width_,
                  static_cast<float>(kParameters.at(name)));
    }
    r_ = compiled_.getVariablePointer("r");
  }
  LeptonVector(const LeptonVector&) = delete;
  LeptonVector& operator=(const LeptonVector&) = delete;
  static int widest() { return Lepton::CompiledVectorExpression::getAllowedWidths().back(); }
  double operator()(std::span<const float> distances) {
    float total = 0;
    const auto width = static_cast<std::size_t>(width_);
    for (std::size_t i = 0; i < distances.size(); i += width) {
      std::copy_n(distances.data() + i, width, r_);
      const float* const values = compiled_.evaluate();
      for (std::size_t k = 0; k < width; ++k) total += values[k];
    }
    return static_cast<double>(total);
  }

 private:
  int width_;
  Lepton::CompiledVectorExpression compiled_;
  float* r_ = nullptr;
};

template <class Compiled>
std::shared_ptr<std::vector<std::unique_ptr<Compiled>>> compiled_by_lepton(const std::string& text,
                                                                           bool derivative) {
  auto all = std::make_shared<std::vector<std::unique_ptr<Compiled>>>();
  for (const Lepton::ParsedExpression& parsed : parsed_by_lepton(text, derivative)) {
    all->push_back(std::make_unique<Compiled>(parsed));
  }
  return all;
}

void add_lepton(std::vector<Contestant>& contestants, const std::string& text, bool derivative,
                const Pairs<double>& wide, const Pairs<float>& narrow) {
  contestants.push_back(
      {"Lepton compiled, fp64", [all = compiled_by_lepton<LeptonScalar>(text, derivative), &wide] {
         double total = 0;
         for (const double r : wide.distances) {
           for (const auto& one : *all) total += (*one)(r);
         }
         return total;
       }});
  contestants.push_back({fmt::format("Lepton vector of {}, fp32", LeptonVector::widest()),
                         [all = compiled_by_lepton<LeptonVector>(text, derivative), &narrow] {
                           double total = 0;
                           for (const auto& one : *all) {
                             for (std::size_t t = 0; t < kTargets; ++t) {
                               total += (*one)(
                                   std::span(narrow.distances).subspan(t * kSources, kSources));
                             }
                           }
                           return total;
                         }});
}

/// @return whether all agree
bool print_figures(const Formula& formula, bool derivative,
                   const std::vector<Contestant>& contestants) {
  fmt::print("{}, {}\n", formula.name, derivative ? "energy and derivative" : "energy");
  bool agree = true;
  for (const Contestant& contestant : contestants) {
    const double reference = contestants[0].total;
    const double deviation = std::abs(contestant.total - reference) / std::abs(reference);
    const bool narrow = contestant.name.find("fp32") != std::string::npos;
    agree = agree && deviation < (narrow ? 1e-4 : 1e-10);
    fmt::print("  {:<34} {:8.3f} ns  {:7.2f} of Lepton compiled, deviation {:.0e}\n",
               contestant.name, contestant.nanoseconds,
               contestant.nanoseconds / contestants[0].nanoseconds, deviation);
  }
  return agree;
}

bool compare(const Formula& formula, bool derivative) {
  const Pairs<double> wide = make_pairs<double>();
  const Pairs<float> narrow = make_pairs<float>();
  const Translated ours = translated(formula.text, derivative);
  const Translated naive = translated_naively(formula.text, derivative, false);
  const Translated naive_of_square = translated_naively(formula.text, derivative, true);
  std::vector<Contestant> contestants;
  add_lepton(contestants, formula.text, derivative, wide, narrow);
  contestants.push_back(by_scalar("one to one with pow, plain", naive, wide.distances));
  contestants.push_back(by_blocks("one to one with pow, blocks, fp64", naive, wide.distances));
  add_compiled(contestants, "one to one with pow, LLVM, fp64", naive_of_square, wide);
  contestants.push_back(by_scalar("plain", ours, wide.squares));
  contestants.push_back(by_blocks("blocks, fp64", ours, wide.squares));
  contestants.push_back(by_blocks("blocks, fp32", ours, narrow.squares));
  add_compiled(contestants, "LLVM row, fp64", ours, wide);
  add_compiled(contestants, "LLVM row, fp32", ours, narrow);
  race(contestants);
  return print_figures(formula, derivative, contestants);
}

}  // namespace
}  // namespace starpmc

int main() {
  bool agree = true;
  for (const starpmc::Formula& formula : starpmc::kFormulas) {
    for (const bool derivative : {false, true}) {
      agree = starpmc::compare(formula, derivative) && agree;
    }
  }
  if (!agree) fmt::print("THE VALUES DIFFER\n");
  return agree ? 0 : 1;
}
