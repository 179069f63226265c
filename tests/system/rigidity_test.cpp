// Which molecules a topology holds in one shape, and what is said of the others.
#include "system/rigidity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "system/gromacs_data.hpp"
#include "system/read_system.hpp"
#include "tests/system/temporary_folder.hpp"

namespace starpmc {
namespace {

using test::input_error;
using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

MoleculeDefinition molecule_of(std::size_t atoms,
                               const std::vector<std::pair<std::size_t, std::size_t>>& pairs) {
  MoleculeDefinition molecule;
  molecule.atoms.resize(atoms);
  for (const auto& [i, j] : pairs) molecule.constraints.push_back({i, j, 1, ""});
  return molecule;
}

const std::vector<Vector3> tetrahedron{{0, 0, 0}, {1, 0, 0}, {0.2, 1, 0}, {0.3, 0.4, 1}};

TEST(ConstrainedRigid, NeedsEveryDegreeOfFreedom) {
  EXPECT_TRUE(is_constrained_rigid(molecule_of(1, {}), std::vector<Vector3>(1)));
  const std::vector<Vector3> two{{0, 0, 0}, {1, 0, 0}};
  EXPECT_FALSE(is_constrained_rigid(molecule_of(2, {}), two));
  EXPECT_TRUE(is_constrained_rigid(molecule_of(2, {{1, 0}}), two));
  const std::vector<Vector3> bent{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  EXPECT_FALSE(is_constrained_rigid(molecule_of(3, {{0, 1}, {0, 2}}), bent));
  EXPECT_FALSE(is_constrained_rigid(molecule_of(3, {{0, 1}, {0, 2}, {2, 0}}), bent));
  EXPECT_TRUE(is_constrained_rigid(molecule_of(3, {{0, 1}, {0, 2}, {1, 2}}), bent));
  // Every pair at its length holds a straight molecule, too.
  const std::vector<Vector3> straight{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
  EXPECT_TRUE(is_constrained_rigid(molecule_of(3, {{0, 1}, {0, 2}, {1, 2}}), straight));
}

TEST(ConstrainedRigid, CountsIndependentConstraintsOnly) {
  // Five atoms: a fifth on a tetrahedron needs three constraints (9 = 3 n - 6 in all).
  std::vector<Vector3> five = tetrahedron;
  five.push_back({1, 1, 1.2});
  const std::vector<std::pair<std::size_t, std::size_t>> four{{0, 1}, {0, 2}, {0, 3},
                                                              {1, 2}, {1, 3}, {2, 3}};
  EXPECT_TRUE(is_constrained_rigid(molecule_of(4, four), tetrahedron));
  auto pairs = four;
  pairs.insert(pairs.end(), {{4, 0}, {4, 1}});
  EXPECT_FALSE(is_constrained_rigid(molecule_of(5, pairs), five));
  pairs.emplace_back(4, 2);
  EXPECT_TRUE(is_constrained_rigid(molecule_of(5, pairs), five));
  // In the plane of the three atoms it hangs on, the fifth can leave it without changing a length.
  std::vector<Vector3> flat = five;
  flat[4] = {0.5, 0.6, 0};
  EXPECT_FALSE(is_constrained_rigid(molecule_of(5, pairs), flat));
  // Twelve constraints are what six atoms need, but one of the ten between the first five says
  // nothing new, and the sixth atom swings on two.
  std::vector<Vector3> six = five;
  six.push_back({0.4, -1, 0.3});
  pairs.insert(pairs.end(), {{4, 3}, {5, 0}, {5, 1}});
  EXPECT_EQ(pairs.size(), 12U);
  EXPECT_FALSE(is_constrained_rigid(molecule_of(6, pairs), six));
  pairs.emplace_back(5, 2);
  EXPECT_TRUE(is_constrained_rigid(molecule_of(6, pairs), six));
}

TEST(ConstrainedRigid, SettlesAndVirtualSites) {
  MoleculeDefinition water = molecule_of(4, {});
  water.settles.push_back({0, 1, 1.6, ""});
  std::vector<Vector3> sites = tetrahedron;
  EXPECT_FALSE(is_constrained_rigid(water, sites));
  water.virtual_sites.push_back({3, {0, 1, 2}, 1, {0.1, 0.1}, ""});
  EXPECT_TRUE(is_constrained_rigid(water, sites));
}

constexpr const char* water_sections =
    "[ defaults ]\n1 3\n"
    "[ atomtypes ]\nOW 8 15.9994 0 A 0.315 0.636\nHW 1 1.008 0 A 0 0\n"
    "[ moleculetype ]\nSOL 2\n"
    "[ atoms ]\n1 OW 1 SOL OW 1 -0.82\n2 HW 1 SOL HW1 1 0.41\n3 HW 1 SOL HW2 1 0.41\n"
    "#ifndef FLEXIBLE\n[ settles ]\n1 1 0.1 0.16333\n"
    "#else\n[ bonds ]\n1 2 1 0.1 345000\n1 3 1 0.1 345000\n[ angles ]\n2 1 3 1 109.47 383\n"
    "#endif\n"
    "[ system ]\nx\n[ molecules ]\nSOL 1\n";

constexpr const char* water_coordinates =
    "water\n3\n"
    "    1SOL     OW    1  0.50000  0.50000  0.50000\n"
    "    1SOL    HW1    2  0.60000  0.50000  0.50000\n"
    "    1SOL    HW2    3  0.46667  0.59428  0.50000\n"
    "   2.0   2.0   2.0\n";

class FlexibleMolecules : public testing::Test {
 protected:
  System read(const char* topology, std::vector<std::string> defines,
              std::vector<std::string> rigid) const {
    return read_system({folder.write("w.gro", water_coordinates),
                        folder.write("w.top", topology),
                        {},
                        "",
                        std::move(defines),
                        {},
                        std::move(rigid)});
  }
  TemporaryFolder folder;
};

TEST_F(FlexibleMolecules, AreRefusedUnlessNamed) {
  EXPECT_THAT(read(water_sections, {}, {}).notes, IsEmpty());
  const std::string message = input_error([&] { read(water_sections, {"FLEXIBLE"}, {}); });
  EXPECT_THAT(message, HasSubstr("w.top:17: MM molecules are rigid"));
  EXPECT_THAT(message, HasSubstr("do not hold the 3 atoms of molecule SOL in one shape"));
  EXPECT_THAT(message, HasSubstr("found '[ bonds ]'"));
  EXPECT_THAT(message, HasSubstr("leave out the define FLEXIBLE"));
  EXPECT_THAT(message, HasSubstr("system.rigid = SOL"));
  const System named = read(water_sections, {"FLEXIBLE"}, {"sol"});
  EXPECT_THAT(named.notes, ElementsAre(HasSubstr("molecule SOL is kept rigid (system.rigid): its "
                                                 "[ bonds ] (")));
  EXPECT_THAT(named.notes, ElementsAre(HasSubstr("w.top:17) are not used")));
}

TEST_F(FlexibleMolecules, NamesMustExist) {
  EXPECT_THAT(input_error([&] { read(water_sections, {}, {"SOLV"}); }),
              HasSubstr("system.rigid: there is no [ moleculetype ] of this name, found 'SOLV'\n  "
                        "remedy: did you mean 'SOL'?"));
}

TEST_F(FlexibleMolecules, WithoutAnyBondedTermAreRefusedToo) {
  std::string text = water_sections;
  text.erase(text.find("[ settles ]\n1 1 0.1 0.16333\n"), 27);
  EXPECT_THAT(input_error([&] { read(text.c_str(), {}, {}); }),
              testing::AllOf(HasSubstr("w.top:7: MM molecules are rigid"),
                             HasSubstr("system.rigid = SOL")));
  EXPECT_THAT(read(text.c_str(), {}, {"SOL"}).notes,
              ElementsAre(HasSubstr("without [ constraints ] in the topology")));
}

TEST_F(FlexibleMolecules, ConstraintsWithoutLengthsCount) {
  std::string text = water_sections;
  text.replace(text.find("[ settles ]\n1 1 0.1 0.16333\n"), 27,
               "[ constraints ]\n1 2 1\n1 3 1\n2 3 1\n[ bonds ]\n1 2 5\n");
  const System system = read(text.c_str(), {}, {});
  EXPECT_THAT(system.notes, IsEmpty());
  const auto& sites = system.molecule_types[0].sites;
  EXPECT_NEAR(norm(sites[0].reference - sites[1].reference), 1, 1e-9);
}

TEST_F(FlexibleMolecules, TheQmMoleculeIsSaid) {
  std::string text = water_sections;
  text.replace(text.find("SOL 2"), 5, "QM 2");
  text.replace(text.find("]\nSOL 1"), 7, "]\nQM 1");
  const auto gro = folder.write("w.gro", water_coordinates);
  const auto top = folder.write("w.top", text);
  const System system = read_system({gro, top, {}, "QM", {"FLEXIBLE"}, {}});
  EXPECT_THAT(system.notes,
              ElementsAre(HasSubstr("the QM molecule QM stays as the coordinates have it: its "
                                    "[ bonds ] (")));
}

TEST_F(FlexibleMolecules, IgnoredRestraintsToAPlaceAreSaid) {
  std::string text = water_sections;
  text.insert(text.find("[ system ]"),
              "[ position_restraints ]\n#ifdef POSRES\n1 1 10 10 10\n#endif\n");
  EXPECT_THAT(read(text.c_str(), {}, {}).warnings, IsEmpty());
  EXPECT_THAT(
      read(text.c_str(), {"POSRES"}, {}).warnings,
      ElementsAre(testing::AllOf(
          HasSubstr("w.top:"),
          HasSubstr("molecule SOL moves freely: its [ position_restraints ] are ignored"))));
}

constexpr const char* solute_in_water =
    "[ defaults ]\n1 3\n"
    "[ atomtypes ]\nOW 8 15.9994 0 A 0.315 0.636\nHW 1 1.008 0 A 0 0\nC 6 12.011 0 A 0.3 0.3\n"
    "[ moleculetype ]\nCO 2\n[ atoms ]\n1 C 1 CO C 1 0\n2 OW 1 CO O 1 0\n"
    "[ moleculetype ]\nSOL 2\n"
    "[ atoms ]\n1 OW 1 SOL OW 1 -0.82\n2 HW 1 SOL HW1 1 0.41\n3 HW 1 SOL HW2 1 0.41\n"
    "[ settles ]\n1 1 0.1 0.16333\n"
    "[ system ]\nx\n[ molecules ]\nCO 1\nSOL 1\n";

TEST_F(FlexibleMolecules, AForgottenQmMoleculeIsNamed) {
  std::string atoms = water_coordinates;
  atoms.replace(0, 8, "solute\n5\n");
  atoms.insert(9,
               "    1CO       C    1  1.50000  1.00000  1.00000\n"
               "    1CO       O    2  1.61200  1.00000  1.00000\n");
  const auto gro = folder.write("s.gro", atoms);
  const auto read_solute = [&](const std::string& topology, const char* qm,
                               std::vector<std::string> rigid) {
    const auto top = folder.write("s.top", topology);
    return read_system({gro, top, {}, qm, {}, {}, std::move(rigid)});
  };
  EXPECT_THAT(input_error([&] { read_solute(solute_in_water, "", {}); }),
              testing::AllOf(HasSubstr("s.top:8: molecule CO has no charges among charged"),
                             HasSubstr("system.qm-molecule = CO"), HasSubstr("system.rigid = CO")));
  EXPECT_THAT(read_solute(solute_in_water, "CO", {}).warnings, IsEmpty());
  EXPECT_THAT(read_solute(solute_in_water, "", {"CO"}).warnings, IsEmpty());
  // One that is held in shape may well be an MM molecule: said, not refused.
  std::string held = solute_in_water;
  held.insert(held.find("[ moleculetype ]\nSOL"), "[ constraints ]\n1 2 1 0.112\n");
  EXPECT_THAT(read_solute(held, "", {}).warnings,
              ElementsAre(HasSubstr("s.top:8: molecule CO has no charges among charged")));
  EXPECT_THAT(read_solute(held, "", {"CO"}).warnings, IsEmpty());
  held.replace(held.find("CO C 1 0\n"), 9, "CO C 1 0.1\n");
  EXPECT_THAT(read_solute(held, "", {}).warnings, IsEmpty());
}

TEST(FlexibleGromacsMolecules, MethanolOfOplsIsRefusedAndWatersAreNot) {
  if (gromacs_folders().empty()) GTEST_SKIP() << "gromacs-data is not installed";
  const TemporaryFolder folder;
  const auto gro = folder.write("w.gro", water_coordinates);
  for (const char* model : {"spc", "spce", "tip3p"}) {
    const std::string text = std::string("#include \"oplsaa.ff/forcefield.itp\"\n") +
                             "#include \"oplsaa.ff/" + model +
                             ".itp\"\n[ system ]\nx\n[ molecules ]\nSOL 1\n";
    const auto top = folder.write("w.top", text);
    const std::string message = input_error([&] {
      read_system({gro, top, {}, "", {"FLEXIBLE"}, {}});
    });
    EXPECT_THAT(message, HasSubstr("MM molecules are rigid")) << model;
    EXPECT_THAT(message, HasSubstr(std::string(model) + ".itp:")) << model;
  }
  const std::string methanol =
      "#include \"oplsaa.ff/forcefield.itp\"\n[ moleculetype ]\nMEOH 3\n[ atoms ]\n"
      "1 opls_157 1 MEOH C 1 0.145\n2 opls_156 1 MEOH H 1 0.04\n3 opls_154 1 MEOH O 1 -0.683\n"
      "[ bonds ]\n1 2 1\n1 3 1\n[ angles ]\n2 1 3 1\n[ constraints ]\n1 2 1\n"
      "[ system ]\nx\n[ molecules ]\nMEOH 1\n";
  std::string atoms = water_coordinates;
  for (const auto& [water, other] :
       {std::pair{"   OW", "    C"}, {"  HW1", "    H"}, {"  HW2", "    O"}}) {
    atoms.replace(atoms.find(water), 5, other);
  }
  const auto meoh = folder.write("m.gro", atoms);
  const auto top = folder.write("m.top", methanol);
  EXPECT_THAT(input_error([&] {
                read_system({meoh, top, {}, "", {}, {}});
              }),
              testing::AllOf(HasSubstr("m.top:9"), HasSubstr("MEOH"), HasSubstr("[ bonds ]"),
                             HasSubstr("system.qm-molecule = MEOH")));
}

}  // namespace
}  // namespace starpmc
