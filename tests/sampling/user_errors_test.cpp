// Bounds of the errors of users' functions in a step's energy change.
#include "sampling/user_errors.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "kernels/scalar/user_terms.hpp"
#include "potential/error_cells.hpp"
#include "sampling/error_sum.hpp"
#include "sampling/packing.hpp"

namespace starpmc {
namespace {

constexpr double kBox = 30;
constexpr double kCutoff = 9;
constexpr int kMolecules = 900;
constexpr const char* kLennardJones =
    "4*epsilon*((sigma/r)^12-(sigma/r)^6); sigma=sqrt(sigma1*sigma2);"
    " epsilon=sqrt(epsilon1*epsilon2)";

/// TIP3P waters and a QM molecule of one carbon.
System water() {
  System system;
  system.box.lengths = {kBox, kBox, kBox};
  ForceField& force_field = system.force_field;
  force_field.site_type_names = {"O", "H", "C"};
  force_field.parameters = {{3.15, 0.636}, {0, 0}, {3.5, 0.4}};
  force_field.pairs.assign(9, {});
  system.molecule_types = {{"water",
                            {{"O", "O", 0, -0.834, 16, {0, 0.066, 0}},
                             {"H1", "H", 1, 0.417, 1, {0.757, -0.52, 0}},
                             {"H2", "H", 1, 0.417, 1, {-0.757, -0.52, 0}}}}};
  system.molecules.resize(kMolecules);
  system.solute.emplace();
  system.solute->types = {2};
  system.solute->positions = {{15, 15, 15}};
  system.solute->atomic_numbers = {6};
  return system;
}

Settings settings() {
  Settings settings;
  settings.interaction.coulomb_cutoff_angstrom = kCutoff;
  settings.interaction.vdw_cutoff_angstrom = kCutoff;
  return settings;
}

/// Lennard-Jones and more between the oxygens.
Settings with_mm(const std::string& more) {
  Settings result = settings();
  result.potential.mm_vdw = kLennardJones;
  result.potential.treatment = CutoffTreatment::force_shift;
  if (!more.empty()) {
    result.potential.mm_additional = "(" + more + ")*sqrt(epsilon1*epsilon2)/0.636";
  }
  return result;
}

UserErrors errors_of(const Settings& settings, Precision precision) {
  return user_errors(precision, make_topology_buffers(water(), settings));
}

/// With functions of MM molecules in fp64 at all distances, or not.
UserErrors errors_of_mm(const Settings& settings, bool as_pairs) {
  TopologyBuffers buffers = make_topology_buffers(water(), settings);
  Potential functions = *buffers.functions;
  functions.mm_as_pairs = as_pairs;
  buffers.functions = std::make_shared<const Potential>(std::move(functions));
  return user_errors(Precision::mixed, buffers);
}

/// The estimate that came before the proof: e = |V'| dr + 16 |V_plain - V_exact| + 16 u |V| at 400
/// distances, six standard deviations of the sum. Overlaps, which were above 50 kJ/mol in any case,
/// are told as they are now.
class Sampled {
 public:
  explicit Sampled(const Settings& settings) : buffers_(make_topology_buffers(water(), settings)) {}

  /// Of the function of two sites' types.
  void add_mm(int a, int b, double pairs) {
    const double* const values = buffers_.view().pair(a, b) + buffers_.shape.pairs.mm_function;
    if (values[0] != 0) add(buffers_.functions->mm, values + 1, {1, 50, pairs});
  }
  void add_coulomb(double charges, double pairs) {
    add(buffers_.functions->coulomb, nullptr, {STARPMC_COULOMB_CONSTANT * charges, 300, pairs});
  }
  double absolute() const { return 6 * std::sqrt(2 * squares_); }
  double relative() const { return relative_; }

 private:
  struct Pairs {
    double factor;
    double overlap;  ///< kJ/mol
    double count;    ///< of sites of a molecule with each other
  };
  void add(const Program& program, const double* coefficients, const Pairs& pairs) {
    const double factor = pairs.factor;
    const std::span inputs(coefficients, program.inputs.size() - 1);
    const double displacement = std::ldexp(1 + 2 * buffers_.shape.largest_radius, -24);
    const double ratio = std::pow(kCutoff / 0.01, 1.0 / 400);
    const double density = pairs.count * Packing(buffers_).density(0);
    const auto plain = [&](double r) {
      return factor * scalar::user_function<scalar::Arithmetic::plain>(program, r * r, inputs,
                                                                       inputs_, values_);
    };
    double r = 0.01;
    for (int i = 0; i < 400; ++i, r *= ratio) {
      const double exact = factor * scalar::user_function<scalar::Arithmetic::exact>(
                                        program, r * r, inputs, inputs_, values_);
      const double value = plain(r);
      const double slope = (plain(r * (1 + 1e-5)) - plain(r * (1 - 1e-5))) / (2e-5 * r);
      const double error = std::abs(slope) * displacement + 16 * std::abs(value - exact) +
                           std::ldexp(std::abs(value), -49);
      if (!(std::abs(value) <= STARPMC_LARGEST_PAIR_ENERGY)) continue;
      if (std::abs(value) > pairs.overlap) {
        relative_ = std::max(relative_, error / std::abs(value));
      } else {
        squares_ += 4 * std::numbers::pi * density * r * r * r * (ratio - 1) * error * error;
      }
    }
  }

  TopologyBuffers buffers_;
  double squares_ = 0;
  double relative_ = 0;
  std::vector<double> inputs_;
  std::vector<double> values_;
};

void expect_near_sampled(const UserErrors& proven, const Sampled& sampled) {
  std::printf("absolute %.2e, sampled %.2e; relative %.2e, sampled %.2e; Coulomb scale %.3f\n",
              proven.absolute, sampled.absolute(), proven.relative, sampled.relative(),
              proven.coulomb_scale);
  EXPECT_GT(proven.absolute, 0.95 * sampled.absolute());
  EXPECT_LT(proven.absolute, 2 * sampled.absolute());
  EXPECT_GT(proven.relative, 0.95 * sampled.relative());
  EXPECT_LT(proven.relative, 2 * sampled.relative());
}

/// Where sampling was enough, the proof costs little.
TEST(UserErrors, OfBuiltInPotentialsAreNearSampledOnes) {
  Sampled lennard_jones(with_mm(""));
  lennard_jones.add_mm(0, 0, 1);
  expect_near_sampled(errors_of_mm(with_mm(""), false), lennard_jones);

  Settings coulomb = settings();
  coulomb.potential.coulomb = "(1-r/cutoff)^2/r";
  Sampled shifted_force(coulomb);
  shifted_force.add_coulomb(0.834 * 0.834, 1);
  shifted_force.add_coulomb(-0.834 * 0.417, 4);
  shifted_force.add_coulomb(0.417 * 0.417, 4);
  const UserErrors proven = errors_of_mm(coulomb, false);
  expect_near_sampled(proven, shifted_force);
  EXPECT_LT(proven.coulomb_scale, 1.1);
  EXPECT_LT(proven.coulomb_jump, 1e-6);
  EXPECT_LT(errors_of(coulomb, Precision::fp64).absolute, 1e-8);
}

/// Sums of the errors of random pairs that fp32 makes beyond the near molecules, as of a step.
double largest_sampled_sum(const TopologyBuffers& buffers) {
  const Program& program = buffers.functions->coulomb;
  const double least = STARPMC_NEAR_DISTANCE - 2 * buffers.shape.largest_radius;
  const double volume = 4 * std::numbers::pi / 3 * (std::pow(kCutoff, 3) - std::pow(least, 3));
  const auto pairs = static_cast<int>(2 * 9 * volume * kMolecules / std::pow(kBox, 3));
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> cube(std::pow(least, 3), std::pow(kCutoff, 3));
  const double charges[] = {0.834 * 0.834,  -0.834 * 0.417, -0.834 * 0.417,
                            -0.834 * 0.417, -0.834 * 0.417, 0.417 * 0.417,
                            0.417 * 0.417,  0.417 * 0.417,  0.417 * 0.417};
  std::vector<float> inputs;
  std::vector<float> values;
  std::vector<double> wide_inputs;
  std::vector<double> wide_values;
  double largest = 0;
  for (int step = 0; step < 100; ++step) {
    double sum = 0;
    for (int i = 0; i < pairs; ++i) {
      const double r2 = std::pow(cube(random), 2.0 / 3);
      const double single = scalar::user_function<scalar::Arithmetic::plain>(
          program, static_cast<float>(r2), {}, inputs, values);
      const double exact = scalar::user_function<scalar::Arithmetic::exact>(
          program, r2, {}, wide_inputs, wide_values);
      sum += STARPMC_COULOMB_CONSTANT * charges[i % 9] * (single - exact);
    }
    largest = std::max(largest, std::abs(sum));
  }
  return largest;
}

TEST(UserErrors, OfSinglePrecisionBeyondNearMoleculesAreBounded) {
  for (const char* const text : {"(1-r/cutoff)^2/r", "(1+(r/cutoff)^2)/r-2/cutoff"}) {
    SCOPED_TRACE(text);
    Settings coulomb = settings();
    coulomb.potential.coulomb = text;
    const TopologyBuffers buffers = make_topology_buffers(water(), coulomb);
    EXPECT_TRUE(buffers.functions->mm_as_pairs);
    const double bound = errors_of(coulomb, Precision::mixed).absolute;
    const double sampled = largest_sampled_sum(buffers);
    std::printf("%s: sums up to %.2e, bound %.2e\n", text, sampled, bound);
    EXPECT_GT(sampled, errors_of_mm(coulomb, false).absolute / 100);
    EXPECT_LT(sampled, bound);
    EXPECT_LT(bound, 1000 * sampled);
    EXPECT_GT(bound, 2 * errors_of_mm(coulomb, false).absolute);
  }
}

/// Digits that fp32 would lose keep a function in fp64.
TEST(UserErrors, LargeErrorsOfSinglePrecisionKeepFunctionsInDouble) {
  Settings coulomb = settings();
  coulomb.potential.coulomb = "(1-r/cutoff)^2/r+sqrt(r+1e6)-sqrt(r+1e6+0.01)";
  EXPECT_FALSE(make_topology_buffers(water(), coulomb).functions->mm_as_pairs);
  coulomb.potential.coulomb = "(1-r/cutoff)^2/r+1e-6*step(r-7)";
  EXPECT_FALSE(make_topology_buffers(water(), coulomb).functions->mm_as_pairs);
}

/// What lies between the 400 distances, at which neither value nor difference quotient showed it:
/// the sampled bound was that of Lennard-Jones alone.
TEST(UserErrors, FeaturesBetweenSamplesCount) {
  const std::string ratio = "((9/0.01)^(1/400))";
  // half-way between two of the distances, 335 and 336: 2.98 A; they are 0.05 A apart
  const std::string place = "(0.01*" + ratio + "^335.5)";
  const UserErrors smooth = errors_of(with_mm(""), Precision::mixed);
  struct Case {
    const char* what;
    std::string text;
    double least;  ///< kJ/mol
    double most;
  };
  const Case cases[] = {
      {"a narrow well", "-20*exp(-((r-" + place + ")/1e-4)^2)", 0.04, 0.3},
      {"a narrow wall", "0.05*(step(r-" + place + ")-step(r-1e-3-" + place + "))", 0.05, 0.2},
      {"one distance", "0.3*delta(r-" + place + ")", 0.3, 1},
      {"a kink's jump", "0.2*floor(r-" + place + "+1)*step(" + place + "+0.01-r)", 0.2, 0.8}};
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    Sampled sampled(with_mm(each.text));
    sampled.add_mm(0, 0, 1);
    Sampled without(with_mm(""));
    without.add_mm(0, 0, 1);
    EXPECT_LT(sampled.absolute(), 1.01 * without.absolute());
    const UserErrors proven = errors_of(with_mm(each.text), Precision::mixed);
    std::printf("%s: %.3g kJ/mol, sampled %.3g\n", each.what, proven.absolute, sampled.absolute());
    EXPECT_GE(proven.absolute, each.least);
    EXPECT_LT(proven.absolute, each.most);
    EXPECT_GT(proven.absolute, 10 * smooth.absolute);
  }
}

/// In fp64 no pair is ever that near to a jump; below, every step near it is evaluated again.
TEST(UserErrors, JumpsCountBelowDoublePrecision) {
  const std::string well = "select(step(4.2-r),-1.5,0)";
  EXPECT_LT(errors_of(with_mm(well), Precision::fp64).absolute, 1e-9);
  for (const Precision precision : {Precision::mixed, Precision::fixed}) {
    const double absolute = errors_of(with_mm(well), precision).absolute;
    EXPECT_GE(absolute, 1.5);
    EXPECT_LT(absolute, 6);
  }
  // at the cutoff
  Settings truncated = with_mm("");
  truncated.potential.treatment = CutoffTreatment::truncate;
  const double jump = 4 * 0.636 * (std::pow(3.15 / kCutoff, 6) - std::pow(3.15 / kCutoff, 12));
  EXPECT_GE(errors_of(truncated, Precision::mixed).absolute, jump);
  EXPECT_LT(errors_of(truncated, Precision::mixed).absolute, 4 * jump);
  EXPECT_LT(errors_of(truncated, Precision::fp64).absolute, 1e-9);
}

/// Hard walls: what is no number counts as the largest energy, on one side of the wall only.
TEST(UserErrors, WhatHasNoBoundIsAlwaysInDoubt) {
  for (const char* const text : {"0.1*exp(-sqrt(r-2.6))", "1e9*step(2.9-r)", "1/(r-3.1)"}) {
    SCOPED_TRACE(text);
    EXPECT_GT(errors_of(with_mm(text), Precision::mixed).absolute, 1e5);
  }
  // a pole whose values are overlaps, and a jump among them, decide nothing
  for (const char* const text : {"1/(r-0.3)^2", "5e3*step(1.2-r)"}) {
    SCOPED_TRACE(text);
    const UserErrors errors = errors_of(with_mm(text), Precision::mixed);
    EXPECT_LT(errors.absolute, 1e-2);
    EXPECT_LT(errors.relative, 1e-3);
  }
}

/// Nuclei are met in fp64; what is left is the function's own conditioning.
TEST(UserErrors, FunctionsOfNucleiCount) {
  Settings with = settings();
  with.potential.qmmm_additional = "exp(-r)";
  const double well_conditioned = errors_of(with, Precision::mixed).absolute;
  EXPECT_LT(well_conditioned, 1e-9);
  with.potential.qmmm_additional = "1e9*(exp(-r+18)-exp(-r+17.9))*1e-9+1e9*sin(1e9+r)*1e-9";
  EXPECT_GT(errors_of(with, Precision::mixed).absolute, 1e2 * well_conditioned);
}

/// A droplet is as dense in a large box as in one that it fills.
TEST(UserErrors, TheBoxesMeanDensityDoesNotCount) {
  Settings coulomb = with_mm("");
  coulomb.potential.coulomb = "(1-r/cutoff)^2/r";
  System dilute = water();
  dilute.box.lengths = {40 * kBox, 40 * kBox, 40 * kBox};
  const double droplet =
      user_errors(Precision::mixed, make_topology_buffers(dilute, coulomb)).absolute;
  EXPECT_NEAR(droplet, errors_of(coulomb, Precision::mixed).absolute, 1e-6 * droplet);
}

/// However many features a function has: the program starts with these bounds.
TEST(UserErrors, TakeABoundedNumberOfCells) {
  Settings many = settings();
  many.potential.coulomb = "erfc(0.2*r)*(1-(r/cutoff)^2)^2/r+1e-3*floor(100*r)*sin(1e4*r)";
  const TopologyBuffers buffers = make_topology_buffers(water(), many);
  const std::vector<ErrorCell> cells =
      error_cells(ErrorBound(buffers.functions->coulomb, {}), {0.01, kCutoff, 1e-7});
  EXPECT_GT(cells.size(), 800);
  EXPECT_LT(cells.size(), 1600);
  EXPECT_EQ(cells.front().distances.low, 0.01);
  EXPECT_EQ(cells.back().distances.high, kCutoff);
  for (std::size_t i = 1; i < cells.size(); ++i) {
    ASSERT_EQ(cells[i].distances.low, cells[i - 1].distances.high);
  }
}

double bound_of(double pairs, double difference) {
  ErrorSum sum;
  sum.add(pairs, difference);
  return sum.bound();
}

TEST(ErrorSum, ManySmallErrorsAreGaussian) {
  EXPECT_NEAR(bound_of(1e6, 1e-3), 6 * std::sqrt(1e6) * 1e-3, 0.05 * 6);
  EXPECT_GE(bound_of(1e6, 1e-3), 6);
}

TEST(ErrorSum, RareOnesAreAsManyAsMayMeet) {
  EXPECT_EQ(bound_of(1e-10, 1), 0);
  EXPECT_EQ(bound_of(1e-10, HUGE_VAL), 0);
  EXPECT_EQ(bound_of(1e-8, HUGE_VAL), HUGE_VAL);
  for (const double pairs : {1e-7, 1e-5, 1e-3, 0.1, 1.0, 10.0, 100.0}) {
    // P(n >= k) of a Poisson distribution, all errors of one sign
    const double bound = bound_of(pairs, 1);
    double probability = 0;
    for (int k = 0; k < 400; ++k) {
      const double one = std::exp(k * std::log(pairs) - pairs - std::lgamma(k + 1));
      // half of the k errors positive, half negative, in every order
      if (k <= bound) continue;
      double tail = 0;
      for (int positive = 0; positive <= k; ++positive) {
        if (std::abs(2 * positive - k) <= bound) continue;
        tail += std::exp(std::lgamma(k + 1) - std::lgamma(positive + 1) -
                         std::lgamma(k - positive + 1) - k * std::numbers::ln2);
      }
      probability += one * tail;
    }
    EXPECT_LT(probability, 4e-8) << pairs;
    EXPECT_GE(bound, 0.9) << pairs;
    EXPECT_LT(bound, 2.5 + 7 * std::sqrt(pairs) + 6 * (pairs > 1e-4)) << pairs;
  }
}

TEST(ErrorSum, OneLargeErrorAmongManySmallOnes) {
  ErrorSum sum;
  sum.add(100, 1e-4);
  sum.add(1e-5, 1);
  EXPECT_GT(sum.bound(), 1);
  EXPECT_LT(sum.bound(), 2.5);
  sum.add(1e-10, 1e9);  // once in 1e10 steps
  EXPECT_LT(sum.bound(), 2.5);
}

}  // namespace
}  // namespace starpmc
