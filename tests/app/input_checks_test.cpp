// What a configuration and its system say together: electrons, short cutoffs and boxes, net charge.
#include "app/input_checks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

System waters(std::size_t count, double edge) {
  System system;
  system.box = {{edge, edge + 1, edge + 2}};
  MoleculeType water{"SOL", {}};
  for (double charge : {-0.834, 0.417, 0.417}) water.sites.push_back({"", "", 0, charge, 0, {}});
  system.molecule_types = {water, {"NA", {{"NA", "Na", 0, 1, 23, {}}}}};
  system.molecules.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(count);
    system.molecules[i].centre = share * system.box.lengths;
  }
  return system;
}

System with_solute(std::vector<int> numbers) {
  System system = waters(3, 20);
  Solute solute;
  solute.name = "LIG";
  for (int number : numbers) solute.elements.emplace_back(number == 1 ? "H" : "O");
  solute.atomic_numbers = std::move(numbers);
  system.solute = solute;
  return system;
}

std::string electron_error(const System& system, const Settings& settings) {
  OptionPlaces places("run.cfg");
  places.set("qm.charge", "run.cfg:7: qm.charge");
  try {
    check_electron_count(system, settings, places);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(ElectronCount, MustAllowTheMultiplicity) {
  Settings settings;
  EXPECT_EQ(electron_error(waters(1, 20), settings), "");
  EXPECT_EQ(electron_error(with_solute({8, 1, 1}), settings), "");
  const System hydroxide = with_solute({8, 1});
  EXPECT_THAT(electron_error(hydroxide, settings),
              AllOf(HasSubstr("run.cfg:7: qm.charge: the QM molecule LIG (H O) with charge +0 has "
                              "9 electrons, which cannot have the multiplicity 1"),
                    HasSubstr("remedy: correct qm.charge, qm.multiplicity")));
  settings.qm.charge = -1;
  EXPECT_EQ(electron_error(hydroxide, settings), "");
  settings.qm.charge = 0;
  settings.qm.multiplicity = 2;
  EXPECT_EQ(electron_error(hydroxide, settings), "");
  settings.qm.multiplicity = 3;
  EXPECT_NE(electron_error(hydroxide, settings), "");
  settings.qm.multiplicity = 12;  // more unpaired electrons than there are
  EXPECT_NE(electron_error(hydroxide, settings), "");
  settings.qm = {};
  settings.qm.charge = 9;
  EXPECT_THAT(electron_error(hydroxide, settings), HasSubstr("has 0 electrons"));
  settings.qm.engine = "frozen";
  EXPECT_EQ(electron_error(hydroxide, settings), "");
}

TEST(BornEnergy, IsThatOfConstantsInSiUnits) {
  constexpr double elementary_charge = 1.602176634e-19;     // C
  constexpr double vacuum_permittivity = 8.8541878128e-12;  // F/m
  constexpr double avogadro = 6.02214076e23;                // 1/mol
  const double joule = elementary_charge * elementary_charge * 4 / (8 * std::acos(-1.0)) /
                       (vacuum_permittivity * 12e-10) * (1 - 1 / 78.4);
  EXPECT_NEAR(born_energy(-2, 12, 78.4), -joule * avogadro / 1000, 1e-4);
  EXPECT_NEAR(born_energy(-2, 12, 78.4), -228.6, 0.1);
  EXPECT_EQ(born_energy(1, 12, 1), 0);
}

class Warnings : public testing::Test {
 protected:
  std::vector<std::string> of(const System& system) const {
    return input_warnings(system, settings, places);
  }
  void cutoffs(double coulomb, double vdw) {
    settings.interaction.coulomb_cutoff_angstrom = coulomb;
    settings.interaction.vdw_cutoff_angstrom = vdw;
    places.set("interaction.coulomb-cutoff", "run.cfg:9: interaction.coulomb-cutoff");
    places.set("interaction.vdw-cutoff", "run.cfg:10: interaction.vdw-cutoff");
  }
  Settings settings;
  OptionPlaces places{"run.cfg"};
};

TEST_F(Warnings, NothingIsSaidOfAnOrdinaryBox) {
  cutoffs(6, 6);
  EXPECT_THAT(of(waters(1000, 15)), IsEmpty());
}

TEST_F(Warnings, IntervalsLongerThanProductionLeaveNoSamples) {
  settings.output.energy_interval = 100;
  settings.output.pressure_interval = 200;
  settings.sampling.steps = 200;
  EXPECT_THAT(of(waters(2, 20)), IsEmpty());
  settings.sampling.steps = 50;
  places.set("output.pressure-interval", "run.cfg:3: output.pressure-interval");
  EXPECT_THAT(of(waters(2, 20)),
              ElementsAre(AllOf(HasSubstr("output.energy-interval: found 100"),
                                HasSubstr("50 steps (sampling.steps)"), HasSubstr("lower it")),
                          HasSubstr("run.cfg:3: output.pressure-interval: found 200")));
}

TEST_F(Warnings, ShortCutoffsMayBeNanometres) {
  cutoffs(9, 0.9);
  EXPECT_THAT(of(waters(2, 20)),
              ElementsAre(AllOf(HasSubstr("run.cfg:10: interaction.vdw-cutoff: 0.9 A is a short"),
                                HasSubstr("did you mean nm? 0.9 nm is 9 A"))));
  cutoffs(1.2, 0.9);
  EXPECT_EQ(of(waters(2, 20)).size(), 2U);
}

TEST_F(Warnings, ASmallBoxMayHaveBeenWrittenInAngstrom) {
  settings.system.coordinates = "box.gro";
  cutoffs(5, 5);
  EXPECT_THAT(of(waters(2, 10)), ElementsAre(AllOf(HasSubstr("box.gro"), HasSubstr("10.000 A"),
                                                   HasSubstr("5.000 A"), HasSubstr("nm"))));
}

TEST_F(Warnings, ALargeBoxMayHaveBeenWrittenInAngstrom) {
  settings.system.coordinates = "box.gro";
  cutoffs(6, 6);
  System system = waters(30, 20);
  system.box.lengths = 10 * system.box.lengths;
  EXPECT_THAT(of(system),
              ElementsAre(AllOf(HasSubstr("box.gro"), HasSubstr("200.0 x 210.0 x 220.0 A"),
                                HasSubstr("less than a third"), HasSubstr("nm"))));
  for (Molecule& molecule : system.molecules) molecule.centre.x -= 10;  // over the boundary
  EXPECT_EQ(of(system).size(), 1U);
  for (Molecule& molecule : system.molecules) molecule.centre.z *= 10;  // a column
  EXPECT_THAT(of(system), IsEmpty());
  system.molecules.resize(5);
  EXPECT_THAT(of(system), IsEmpty());
}

TEST_F(Warnings, ChainsThatAllCountFromOneConfiguration) {
  cutoffs(6, 6);
  settings.sampling.equilibration_steps = 0;
  EXPECT_THAT(of(waters(1000, 15)), IsEmpty());
  for (const unsigned chains : {0U, 2U}) {  // 0: auto
    settings.sampling.chains = chains;
    settings.sampling.equilibration_steps = 0;
    EXPECT_THAT(of(waters(1000, 15)), ElementsAre(AllOf(HasSubstr("sampling.equilibration-steps"),
                                                        HasSubstr("R-hat"), HasSubstr("auto"))));
    settings.sampling.equilibration_steps = 1;
    EXPECT_THAT(of(waters(1000, 15)), IsEmpty());
    settings.sampling.equilibration_steps.reset();
    EXPECT_THAT(of(waters(1000, 15)), IsEmpty());
  }
}

TEST_F(Warnings, ATemperatureMayHaveBeenWrittenInCelsius) {
  cutoffs(6, 6);
  settings.sampling.temperature_kelvin = 25;
  EXPECT_THAT(of(waters(1000, 15)),
              ElementsAre(AllOf(HasSubstr("sampling.temperature"), HasSubstr("25 K"),
                                HasSubstr("did you mean 298.15 K"))));
  System neon = waters(1000, 15);
  neon.molecule_types = {{"NE", {{"NE", "Ne", 0, 0, 20, {}}}}};
  EXPECT_THAT(of(neon), IsEmpty());
  for (const double kelvin : {4.2, 90.0}) {
    settings.sampling.temperature_kelvin = kelvin;
    EXPECT_THAT(of(waters(1000, 15)), IsEmpty());
  }
}

TEST_F(Warnings, ANetChargeIsSaidWithItsBornTerm) {
  cutoffs(12, 12);
  System system = waters(4, 30);
  system.molecules[3].type = 1;
  EXPECT_THAT(of(system), ElementsAre(AllOf(HasSubstr("net charge of +1 e"), HasSubstr("(12 A)"),
                                            HasSubstr("-57.2 kJ/mol"))));
  system.solute = Solute{};
  settings.qm.charge = -1;
  EXPECT_THAT(of(system), IsEmpty());
  settings.qm.charge = -3;
  EXPECT_THAT(of(system),
              ElementsAre(AllOf(HasSubstr("net charge of -2 e"), HasSubstr("-228.6 kJ/mol"))));
}

}  // namespace
}  // namespace starpmc
