#include "potential/pair_potential.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/scalar/evaluate.hpp"

namespace starpmc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kCutoff = 9;

/// Two molecule types: (O, -0.8; H, 0.4) and (O, 0.2); a solute atom of type C.
System example_system() {
  System system;
  system.box.lengths = {30, 30, 30};
  system.force_field.site_type_names = {"O", "H", "C"};
  system.force_field.parameters = {{3.0, 0.5}, {0, 0}, {3.5, 0.4}};
  system.force_field.pairs.assign(9, {});
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) {
      const SiteParameters& one = system.force_field.parameters[a];
      const SiteParameters& other = system.force_field.parameters[b];
      const double epsilon = std::sqrt(one.epsilon * other.epsilon);
      const double sigma6 = std::pow(one.sigma_angstrom * other.sigma_angstrom, 3);
      system.force_field.pairs[3 * a + b] = {4 * epsilon * sigma6, 4 * epsilon * sigma6 * sigma6};
    }
  }
  system.molecule_types = {{"water", {{"O", "O", 0, -0.8, 16, {}}, {"H", "H", 1, 0.4, 1, {}}}},
                           {"other", {{"O", "O", 0, 0.2, 16, {}}}}};
  system.solute.emplace();
  system.solute->types = {2};
  return system;
}

Settings example_settings() {
  Settings settings;
  settings.interaction.coulomb_cutoff_angstrom = 10;
  settings.interaction.vdw_cutoff_angstrom = kCutoff;
  return settings;
}

double value(const Program& program, double r, const double* function) {
  std::vector<double> inputs{r * r};
  for (std::size_t i = 1; i < program.inputs.size(); ++i) inputs.push_back(function[i]);
  double result = 0;
  scalar::evaluate<double>(program, inputs, std::span(&result, 1));
  return result;
}

/// Values of the MM function of a pair of kinds.
class MmFunction {
 public:
  explicit MmFunction(const Settings& settings)
      : potential_(make_pair_potential(example_system(), settings)) {}
  const double* at(std::size_t a, std::size_t b) const {
    const auto stride = static_cast<std::size_t>(4 + potential_.layout.more);
    return &potential_.pairs[(a * potential_.kinds.size() + b) * stride];
  }
  bool exists(std::size_t a, std::size_t b) const {
    return at(a, b)[potential_.layout.mm_function] != 0;
  }
  double operator()(double r, std::size_t a = 0, std::size_t b = 0) const {
    return value(potential_.functions.mm, r, at(a, b) + potential_.layout.mm_function);
  }
  const PairPotential& potential() const { return potential_; }

 private:
  PairPotential potential_;
};

const char* const kLennardJones =
    "4*epsilon*((sigma/r)^12-(sigma/r)^6); sigma=sqrt(sigma1*sigma2); "
    "epsilon=sqrt(epsilon1*epsilon2)";

double lennard_jones(double r) { return 2 * (std::pow(3 / r, 12) - std::pow(3 / r, 6)); }
double slope(double r) { return 2 * (-12 * std::pow(3 / r, 12) + 6 * std::pow(3 / r, 6)) / r; }

TEST(PairPotential, BuiltInHasTheFourCoefficientsOnly) {
  const PairPotential potential = make_pair_potential(example_system(), example_settings());
  EXPECT_FALSE(potential.has_functions());
  EXPECT_EQ(potential.layout.more, 0);
  ASSERT_EQ(potential.kinds.size(), 3U);
  EXPECT_EQ(potential.pairs.size(), 36U);
  EXPECT_DOUBLE_EQ(potential.pairs[0], 2 * std::pow(3, 12));
  EXPECT_DOUBLE_EQ(potential.pairs[1], 2 * std::pow(3, 6));
}

TEST(PairPotential, TreatmentsOfTheCutoff) {
  Settings settings = example_settings();
  settings.potential.mm_vdw = kLennardJones;
  settings.potential.switch_distance_angstrom = 7;
  const auto at = [&](CutoffTreatment treatment, double r) {
    settings.potential.treatment = treatment;
    return MmFunction(settings)(r);
  };
  for (const double r : {2.5, 3.3, 6.9, 8.0, 8.999}) {
    const double v = lennard_jones(r);
    const double tolerance = 1e-13 * (1 + std::abs(v));
    EXPECT_NEAR(at(CutoffTreatment::truncate, r), v, tolerance);
    EXPECT_NEAR(at(CutoffTreatment::shift, r), v - lennard_jones(kCutoff), tolerance);
    EXPECT_NEAR(at(CutoffTreatment::force_shift, r),
                v - lennard_jones(kCutoff) - (r - kCutoff) * slope(kCutoff), tolerance);
    const double x = std::max(0.0, (r - 7) / 2);
    EXPECT_NEAR(at(CutoffTreatment::switching, r),
                v * (1 - 10 * std::pow(x, 3) + 15 * std::pow(x, 4) - 6 * std::pow(x, 5)),
                tolerance);
  }
}

/// Energy and slope are 0 at the cutoff, by way of exp(-1/0) and, for the slope, 0 times infinity.
TEST(PairPotential, TreatmentsOfWhatEndsBelowTheCutoff) {
  Settings settings = example_settings();
  for (const std::string factor : {"", "epsilon1*epsilon2*"}) {
    for (const std::string text : {"exp(-1/max(0,5-r))", "sqrt(max(0,1-(r/5)^2))"}) {
      settings.potential.mm_vdw = factor + text;
      const double expected = MmFunction(settings)(4);
      EXPECT_GT(expected, 0.05);
      for (const auto treatment : {CutoffTreatment::shift, CutoffTreatment::force_shift}) {
        Settings treated = settings;
        treated.potential.treatment = treatment;
        EXPECT_DOUBLE_EQ(MmFunction(treated)(4), expected) << factor + text;
        EXPECT_EQ(MmFunction(treated)(7), 0) << factor + text;
      }
    }
  }
}

TEST(PairPotential, TreatmentsNeedAFiniteCutoff) {
  Settings settings = example_settings();
  settings.potential.treatment = CutoffTreatment::force_shift;
  const auto expect_error = [&](const std::string& text, const std::string& message) {
    settings.potential.mm_vdw = text;
    try {
      make_pair_potential(example_system(), settings);
      ADD_FAILURE() << "no error: " << text;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("potential.mm-vdw")) << text;
      EXPECT_THAT(error.what(), HasSubstr(message)) << text;
    }
  };
  expect_error("epsilon1*epsilon2/(r-9)", "not finite at the cutoff 9 A");
  expect_error("sqrt(9-r)", "its derivative, which force-shift needs, is not finite at the cutoff");
}

TEST(PairPotential, PairsWithoutEnergyAreAbsent) {
  Settings settings = example_settings();
  settings.potential.mm_vdw = kLennardJones;
  const MmFunction function(settings);
  EXPECT_TRUE(function.exists(0, 0));
  EXPECT_FALSE(function.exists(0, 1));
  EXPECT_FALSE(function.exists(1, 1));
  EXPECT_EQ(function.at(0, 0)[0], 0) << "the built-in energy is replaced";
}

TEST(PairPotential, AdditionalKeepsTheBuiltIn) {
  Settings settings = example_settings();
  settings.potential.mm_additional = "3*exp(-r)";
  const MmFunction function(settings);
  EXPECT_DOUBLE_EQ(function.at(0, 0)[0], 2 * std::pow(3, 12));
  EXPECT_NEAR(function(2), 3 * std::exp(-2), 1e-15);
  settings.potential.mm_vdw = kLennardJones;
  EXPECT_NEAR(MmFunction(settings)(4), lennard_jones(4) + 3 * std::exp(-4), 1e-14);
}

TEST(PairPotential, TypesWithoutSigmaAndEpsilonAreRefusedWhereTheyAreUsed) {
  System system = example_system();
  system.force_field.parameters[1] = {0, 0, "a.top:5"};
  Settings settings = example_settings();
  settings.potential.mm_additional = "3*exp(-r)";
  EXPECT_NO_THROW(make_pair_potential(system, settings));
  settings.potential.mm_additional = kLennardJones;
  try {
    make_pair_potential(system, settings);
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("a.top:5: an atom type with only one of c6 and c12"));
    EXPECT_THAT(error.what(), HasSubstr("'H'"));
  }
}

TEST(PairPotential, MmAndQmmmMayDiffer) {
  Settings settings = example_settings();
  settings.potential.mm_vdw = "none";
  const MmFunction mm_none(settings);
  EXPECT_EQ(mm_none.at(0, 2)[0], 0);
  const int qmmm = mm_none.potential().layout.qmmm;
  EXPECT_EQ(qmmm, 4);
  EXPECT_DOUBLE_EQ(mm_none.at(0, 2)[qmmm], example_system().force_field.pair(0, 2).c12);
}

TEST(PairPotential, ChargesPartAtomTypes) {
  Settings settings = example_settings();
  settings.potential.mm_additional = "charge1*charge2/r";
  const MmFunction function(settings);
  const PairPotential& potential = function.potential();
  ASSERT_EQ(potential.kinds.size(), 4U);  // O of water, H, O of the other, C
  const std::size_t water = potential.kind(0, -0.8);
  const std::size_t other = potential.kind(0, 0.2);
  EXPECT_NE(water, other);
  EXPECT_NEAR(function(2, water, other), -0.08, 1e-16);
  EXPECT_NEAR(function(2, other, water), -0.08, 1e-16);
  EXPECT_NEAR(function(2, water, water), 0.32, 1e-16);
  EXPECT_EQ(function.at(water, other)[0], function.at(other, other)[0]);
}

TEST(PairPotential, FewCoefficientsPerPair) {
  Settings settings = example_settings();
  settings.potential.mm_vdw = kLennardJones;
  const MmFunction function(settings);
  EXPECT_LE(function.potential().functions.mm.inputs.size(), 3U);
  EXPECT_LE(function.potential().functions.mm.instructions.size(), 7U);
}

TEST(PairPotential, JumpsAtTheCutoffAreWarnedOf) {
  OptionPlaces places("a.cfg");
  places.set("potential.mm-vdw", "a.cfg:7: potential.mm-vdw");
  Settings settings = example_settings();
  const auto warnings = [&] {
    return make_pair_potential(example_system(), settings, places).warnings;
  };
  // kT is 2.48 kJ/mol; the van der Waals cutoff kCutoff.
  settings.potential.mm_vdw = "0.24";
  EXPECT_THAT(warnings(), testing::IsEmpty());
  settings.potential.mm_vdw = "-0.25";
  EXPECT_THAT(warnings(), testing::ElementsAre(testing::AllOf(
                              HasSubstr("a.cfg:7: potential.mm-vdw: "), HasSubstr("0.25 kJ/mol"),
                              HasSubstr("potential.treatment = shift"))));
  settings.potential.treatment = CutoffTreatment::shift;
  EXPECT_THAT(warnings(), testing::IsEmpty());
  settings.potential.coulomb = "1/r";
  EXPECT_THAT(warnings(), testing::ElementsAre(HasSubstr("a.cfg: potential.coulomb: ")));
  settings.potential.coulomb_treatment = CutoffTreatment::force_shift;
  EXPECT_THAT(warnings(), testing::IsEmpty());
}

TEST(PairPotential, ErrorsNameTheOption) {
  Settings settings = example_settings();
  const auto message = [&] {
    try {
      make_pair_potential(example_system(), settings, OptionPlaces("a.cfg"));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  settings.potential.qmmm_vdw = "1/(r*alpha1)";
  EXPECT_THAT(message(), testing::AllOf(HasSubstr("a.cfg: potential.qmmm-vdw"),
                                        HasSubstr("'alpha1'"), HasSubstr("^")));
  settings.potential.qmmm_vdw = "1/(epsilon1*r)";
  EXPECT_THAT(message(), testing::AllOf(HasSubstr("not finite"), HasSubstr("H and C")));
}

/// What is said of two expressions that are added up, of which the second one is at fault.
std::string said_of_additional(const std::string& replacing, const std::string& additional,
                               CutoffTreatment treatment = CutoffTreatment::truncate) {
  OptionPlaces places("a.cfg");
  places.set("potential.mm-vdw", "a.cfg:7: potential.mm-vdw");
  places.set("potential.mm-additional", "a.cfg:8: potential.mm-additional");
  Settings settings = example_settings();
  settings.potential.mm_vdw = replacing;
  settings.potential.mm_additional = additional;
  settings.potential.treatment = treatment;
  try {
    const auto warnings = make_pair_potential(example_system(), settings, places).warnings;
    return warnings.empty() ? "nothing" : warnings.front();
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(PairPotential, OfTwoExpressionsTheOneAtFaultIsNamed) {
  using testing::StartsWith;
  const std::string place = "a.cfg:8: potential.mm-additional: ";
  EXPECT_THAT(said_of_additional("1/r^12", "sqrt(abs(r-6)-0.5)"), StartsWith(place));
  EXPECT_THAT(said_of_additional("1/r^12", "log(epsilon1*epsilon2)"), StartsWith(place));
  EXPECT_THAT(said_of_additional("1/r^12", "1/(r-9)"), StartsWith(place));
  EXPECT_THAT(said_of_additional("1/r^12", "1/(r-9)", CutoffTreatment::shift), StartsWith(place));
  EXPECT_THAT(said_of_additional("1/r^12", "sqrt(9-r)", CutoffTreatment::force_shift),
              StartsWith(place));
  EXPECT_THAT(said_of_additional("1/r^12", "epsilon1/r"), StartsWith(place));
  EXPECT_THAT(said_of_additional("1/r^12", "10"), StartsWith(place));
  EXPECT_THAT(said_of_additional("epsilon1/r", "1/r^12"),
              StartsWith("a.cfg:7: potential.mm-vdw: "));
  EXPECT_EQ(said_of_additional("epsilon1/r^6", "epsilon2/r^6"), "nothing");
}

TEST(PairPotential, SitesMayBeSwappedAtAllDistances) {
  for (const std::string text :
       {"1/r^6+max(0,4-r)*(epsilon1-epsilon2)", "(epsilon1-epsilon2)*max(0,0.02-abs(r-8.8))",
        "exp(-r)+1e-6*step(0.1-r)*epsilon1", "select(step(3-r),epsilon1,0)"}) {
    EXPECT_THAT(said_of_additional("0", text), HasSubstr("the two sites are swapped")) << text;
  }
  // The same over the reals, but not as the text has it.
  for (const std::string text :
       {"1/(r*(epsilon1+epsilon2+3))", "sqrt(epsilon1+1)*sqrt(epsilon2+1)*(1/r^12-1/r^6)",
        "((epsilon1+epsilon2)^2-epsilon1^2-2*epsilon1*epsilon2-epsilon2^2+1)*(1-(r/"
        "4)^2)*exp(-r)"}) {
    for (const auto treatment : {CutoffTreatment::truncate, CutoffTreatment::force_shift}) {
      EXPECT_THAT(said_of_additional("0", text, treatment),
                  testing::Not(HasSubstr("the two sites are swapped")))
          << text;
    }
  }
}

/// Beyond 6.6 A 0 times infinity, which the virial would take for its largest term.
TEST(PairPotential, MissingSlopesAreWarnedOf) {
  OptionPlaces places("a.cfg");
  places.set("potential.mm-additional", "a.cfg:8: potential.mm-additional");
  Settings settings = example_settings();
  settings.potential.mm_vdw = kLennardJones;
  settings.potential.mm_additional = "exp(-exp(exp(r)))";
  EXPECT_THAT(virial_warnings(example_system(), settings, places),
              ElementsAre(testing::AllOf(HasSubstr("a.cfg:8: potential.mm-additional: "),
                                         HasSubstr("between atom types O and O"),
                                         HasSubstr("virial and pressure are wrong"))));
  for (const char* const text : {"exp(-1/max(0,5-r))", "sqrt(max(0,1-(r/5)^2))", "sqrt(9-r)"}) {
    settings.potential.mm_additional = text;
    EXPECT_THAT(virial_warnings(example_system(), settings, places), testing::IsEmpty()) << text;
  }
}

/// The built-in energies would silently stay as interaction.vdw-modifier has them.
TEST(PairPotential, TreatmentsWithoutAnExpressionAreRefused) {
  const auto message = [&](const Settings::PotentialSection& potential) {
    Settings settings = example_settings();
    settings.potential = potential;
    try {
      make_pair_potential(example_system(), settings, OptionPlaces("a.cfg"));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  Settings::PotentialSection potential;
  potential.treatment = CutoffTreatment::force_shift;
  EXPECT_THAT(message(potential),
              testing::AllOf(HasSubstr("a.cfg: potential.treatment: "), HasSubstr("'force-shift'"),
                             HasSubstr("interaction.vdw-modifier")));
  potential.coulomb = "1/r";
  EXPECT_THAT(message(potential), HasSubstr("potential.treatment: "));
  potential.qmmm_additional = "1/r^12";
  EXPECT_EQ(message(potential), "no error");
  potential = {};
  potential.switch_distance_angstrom = 7;
  EXPECT_THAT(message(potential),
              testing::AllOf(HasSubstr("potential.switch-distance: "), HasSubstr("'7 A'"),
                             HasSubstr("interaction.vdw-modifier")));
  potential.mm_vdw = "1/r^12";
  EXPECT_EQ(message(potential), "no error") << "it may be there for another treatment";
  potential.coulomb_treatment = CutoffTreatment::shift;
  EXPECT_THAT(message(potential), HasSubstr("potential.coulomb-treatment: "));
}

TEST(PairPotential, NarrowRegionsWithoutAValueAreFound) {
  for (const std::string text : {"sqrt(abs(r-7.066)-0.02)", "sqrt(abs(r-7.066123)-0.00002)",
                                 "exp(-1/max(0,5-r))*log(abs(r-8.8)-0.0001)"}) {
    EXPECT_THAT(said_of_additional("none", text), HasSubstr("not finite at a distance of")) << text;
  }
  for (const std::string text :
       {"exp(-1/max(0,5-r))", "select(step(5-r),sqrt(5-r),0)", "0.01*sqrt(abs(r-7.066))"}) {
    EXPECT_EQ(said_of_additional("none", text), "nothing") << text;
  }
}

}  // namespace
}  // namespace starpmc
