// The preprocessor, the topology's sections, combination rules and rigid geometries.
#include "system/topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "system/gromacs_data.hpp"
#include "system/preprocessor.hpp"
#include "system/rigid_geometry.hpp"
#include "system/site_types.hpp"
#include "tests/system/temporary_folder.hpp"

namespace starpmc {
namespace {

using test::TemporaryFolder;
using testing::ElementsAre;

std::vector<std::string> texts(const std::vector<SourceLine>& lines) {
  std::vector<std::string> result;
  for (const SourceLine& line : lines) result.push_back(line.text);
  return result;
}

TEST(Preprocessor, DefinesConditionsAndContinuations) {
  const TemporaryFolder folder;
  const auto file = folder.write("a.top",
                                 "; a comment\n"
                                 "#define LENGTH 0.1 345000 ; with a value\n"
                                 "#define NESTED LENGTH\n"
                                 "#define FLAG\n"
                                 "1 2 1 NESTED ; LENGTH\n"
                                 "LENGTH_IS_NOT_REPLACED xLENGTH\n"
                                 "#ifdef FLAG\nyes\n#else\nno\n#endif\n"
                                 "#ifndef FLAG\nno\n#ifdef LENGTH\nno\n#else\nno\n#endif\n"
                                 "#define HIDDEN 1\n#include \"nowhere.itp\"\n#else\nyes too\n"
                                 "#endif\n"
                                 "#ifdef HIDDEN\nno\n#endif\n"
                                 "#undef FLAG\n#ifdef FLAG\nno\n#endif\n"
                                 "a \\\n b\\\nc ; joined\n"
                                 "  # ifdef GIVEN\n GIVEN\n#endif\n");
  const std::vector<std::string> defines{"GIVEN=7.5"};
  EXPECT_THAT(texts(preprocess(file, defines, {})),
              ElementsAre("1 2 1 0.1 345000", "LENGTH_IS_NOT_REPLACED xLENGTH", "yes", "yes too",
                          "a  b c", "7.5"));
}

TEST(Preprocessor, JoinsLinesBeforeItCutsComments) {
  const TemporaryFolder folder;
  const auto read = [&](std::string_view text) {
    return texts(preprocess(folder.write("a.top", text), {}, {}));
  };
  // GROMACS reads over the second line, too: the old value's comment takes it along.
  EXPECT_THAT(read("first\n; old value \\\n1 2 0.3\nlast\n"), ElementsAre("first", "last"));
  EXPECT_THAT(read("1 ; one \\ \n 2\n3\n"), ElementsAre("1", "3"));
  EXPECT_THAT(read("1 \\\r\n2 ; two\r\n3\r\n"), ElementsAre("1  2", "3"));
  // Directives are never continued by their comments, nor lines that are left out.
  EXPECT_THAT(read("#define A 1 ; one \\\nA\n"), ElementsAre("1"));
  EXPECT_THAT(read("#ifdef NO\n1 \\\n#endif\n2\n"), ElementsAre("2"));
  EXPECT_THAT(read("1 \\\n#ifdef NO\n2\n#else\n3\n#endif\n4\n"), ElementsAre("1  3", "4"));
  EXPECT_THAT(test::input_error([&] { read("1\n2 \\ ; two\n3\n"); }),
              testing::AllOf(testing::HasSubstr("a.top:2: the line is not continued"),
                             testing::HasSubstr("found '2 \\ ; two'"),
                             testing::HasSubstr("remedy: end the line with the backslash")));
  EXPECT_THAT(test::input_error([&] { read("1\n; \\\n"); }),
              testing::HasSubstr("a.top:2: the line is continued, but the file ends"));
}

TEST(Preprocessor, FindsIncludesBesideTheFileThenInFolders) {
  const TemporaryFolder folder;
  folder.write("near/inner.itp", "near\n");
  folder.write("near/outer.itp", "#include \"inner.itp\"\n#include <far.itp>\n");
  folder.write("far/far.itp", "far\n");
  folder.write("far/inner.itp", "not this one\n");
  const auto file = folder.write("a.top", "#include \"near/outer.itp\"\n");
  const std::vector<std::filesystem::path> folders{folder / "far"};
  const auto lines = preprocess(file, {}, folders);
  EXPECT_THAT(texts(lines), ElementsAre("near", "far"));
  EXPECT_EQ(lines[0].place, (folder / "near/inner.itp").string() + ":1");
}

TEST(Preprocessor, TheSameFileMayBeIncludedTwice) {
  const TemporaryFolder folder;
  folder.write("twice.itp", "text\n");
  const auto file = folder.write("a.top", "#include \"twice.itp\"\n#include \"twice.itp\"\n");
  EXPECT_EQ(preprocess(file, {}, {}).size(), 2U);
}

constexpr const char* six_columns =
    "[ defaults ]\n1 2\n[ atomtypes ]\n"
    "A 12.0 0.5 A 0.3 0.4\n"       // name mass charge ptype sigma epsilon
    "B 6 12.0 0.5 A 0.3 0.4\n"     // with at.num
    "C CT 12.0 0.5 A 0.3 0.4\n"    // with bond_type
    "D CT 6 12.0 0.5 A 0.3 0.4\n"  // with both
    "M 0 0.0 -1 D 0 0\n"
    "[ nonbond_params ]\nA B 1 0.35 0.9\n"
    "[ moleculetype ]\nX 1\n[ atoms ]\n"
    "1 A 1 X A1 1\n2 B 1 X B1 1 -0.25\n3 C 1 X C1 1 0.1 13\n4 D 1 X D1\n"
    "[ pairs ]\n1 4 1\n[ angles ]\nnot read\n"
    "[ system ]\nthe title\n[ molecules ]\nx 3\n";

TEST(Topology, ReadsTheVariantsOfAtomTypes) {
  const TemporaryFolder folder;
  const TopologyFile topology = read_topology(folder.write("a.top", six_columns), {}, {});
  EXPECT_EQ(topology.title, "the title");
  EXPECT_EQ(topology.combination_rule, CombinationRule::lorentz_berthelot);
  EXPECT_EQ(topology.atom_types.at("A").atomic_number, 0);
  EXPECT_EQ(topology.atom_types.at("B").atomic_number, 6);
  EXPECT_EQ(topology.atom_types.at("C").atomic_number, 0);
  EXPECT_EQ(topology.atom_types.at("D").atomic_number, 6);
  EXPECT_TRUE(topology.atom_types.at("M").is_virtual);
  for (const char* name : {"A", "B", "C", "D"}) {
    EXPECT_EQ(topology.atom_types.at(name).mass, 12.0);
    EXPECT_EQ(topology.atom_types.at(name).vdw.first, 0.3);
    EXPECT_EQ(topology.atom_types.at(name).vdw.second, 0.4);
  }
  const auto& atoms = topology.definitions.at(0).atoms;
  EXPECT_EQ(atoms[0].charge, 0.5);
  EXPECT_EQ(atoms[1].charge, -0.25);
  EXPECT_EQ(atoms[1].mass, 12.0);
  EXPECT_EQ(atoms[2].mass, 13.0);
  EXPECT_EQ(topology.molecules.at(0).count, 3U);
  SiteTypes types(topology);
  for (const TopologyAtom& atom : atoms) types.index(atom);
  const ForceField field = types.force_field();
  ASSERT_EQ(field.type_count(), 4U);
  // [ nonbond_params ] wins over the combination rule, both ways round.
  EXPECT_NEAR(field.pair(0, 1).c6, 4 * 0.9 * std::pow(3.5, 6), 1e-9);
  EXPECT_EQ(field.pair(0, 1).c12, field.pair(1, 0).c12);
  EXPECT_NEAR(field.pair(0, 2).c6, 4 * 0.4 * std::pow(3.0, 6), 1e-9);
}

TEST(Topology, OfATypeGivenTwiceTheChargeCountsWhereAtomsHaveNone) {
  const TemporaryFolder folder;
  const auto read = [&](const char* atom) {
    return read_topology(
        folder.write("a.top",
                     "[ defaults ]\n1 2\n[ atomtypes ]\nCT 12.01 0 A 0.34 0.36\n"
                     "CT 12.011 -0.18 A 0.34 0.36\n[ moleculetype ]\nM 1\n[ atoms ]\n" +
                         std::string(atom) + "\n[ system ]\nx\n[ molecules ]\nM 1\n"),
        {}, {});
  };
  EXPECT_EQ(read("1 CT 1 M C 1 -0.1").definitions[0].atoms[0].charge, -0.1);
  EXPECT_THAT(test::input_error([&] { read("1 CT 1 M C 1"); }),
              testing::AllOf(testing::HasSubstr("a.top:9: "), testing::HasSubstr("a.top:4, "),
                             testing::HasSubstr("a.top:5)"), testing::HasSubstr("remedy")));
}

TEST(Topology, NamesOfMoleculesInAnotherCaseMustBeClear) {
  TopologyFile topology;
  for (const char* name : {"lig", "LIG", "Sol"}) {
    topology.definitions.emplace_back();
    topology.definitions.back().name = name;
  }
  EXPECT_EQ(topology.definition_index("LIG", "here"), 1U);
  EXPECT_EQ(topology.definition_index("SOL", "here"), 2U);
  EXPECT_THAT(test::input_error([&] { topology.definition_index("Lig", "a.top:3"); }),
              testing::AllOf(testing::HasSubstr("a.top:3: "), testing::HasSubstr("lig, LIG")));
}

TEST(CombinationRules, GiveTheTextbookValues) {
  const VdwParameters i{0.3, 0.4};
  const VdwParameters j{0.35, 0.9};
  const LennardJones lorentz = combine(CombinationRule::lorentz_berthelot, i, j);
  EXPECT_NEAR(lorentz.c6, 4 * 0.6 * std::pow(3.25, 6), 1e-10);
  EXPECT_NEAR(lorentz.c12, 4 * 0.6 * std::pow(3.25, 12), 1e-6);
  const LennardJones geometric = combine(CombinationRule::geometric_sigma_epsilon, i, j);
  EXPECT_NEAR(geometric.c6, 4 * 0.6 * std::pow(3.0 * 3.5, 3), 1e-10);
  EXPECT_NEAR(geometric.c12, 4 * 0.6 * std::pow(3.0 * 3.5, 6), 1e-6);
  const LennardJones c6_c12 =
      combine(CombinationRule::geometric_c6_c12, {0.0025, 2.5e-6}, {0.0016, 1e-6});
  EXPECT_NEAR(c6_c12.c6, 2000, 1e-9);
  EXPECT_NEAR(c6_c12.c12, 1e12 * std::sqrt(2.5e-12), 1e-4);
}

TEST(CombinationRules, OneOfC6AndC12AloneMeansNoSigmaAndEpsilon) {
  const TemporaryFolder folder;
  const TopologyFile topology =
      read_topology(folder.write("a.top",
                                 "[ defaults ]\n1 1\n[ atomtypes ]\nA 12 0 A 0.0025 2.5e-6\n"
                                 "B 12 0 A 0 2.5e-6\nH 1 0 A 0 0\n"
                                 "[ moleculetype ]\nX 1\n[ atoms ]\n"
                                 "1 A 1 X A 1\n2 B 1 X B 1\n3 H 1 X H 1\n[ molecules ]\nX 1\n"),
                    {}, {});
  SiteTypes types(topology);
  for (const TopologyAtom& atom : topology.definitions[0].atoms) types.index(atom);
  const auto parameters = types.force_field().parameters;
  EXPECT_EQ(parameters[0].undefined_place, "");
  EXPECT_EQ(parameters[1].undefined_place, (folder / "a.top").string() + ":5");
  EXPECT_EQ(parameters[2].undefined_place, "");
}

MoleculeDefinition water(std::size_t atoms) {
  MoleculeDefinition molecule;
  molecule.name = "SOL";
  for (const char* name : {"OW", "HW1", "HW2", "MW", "LP"}) {
    if (molecule.atoms.size() < atoms) molecule.atoms.push_back({name, name, 0, 1, "here"});
  }
  return molecule;
}

TEST(RigidGeometry, SettleAndConstraintsGiveTheSameTriangle) {
  MoleculeDefinition settled = water(3);
  settled.settles.push_back({0, 0.9572, 1.5139, "here"});
  MoleculeDefinition constrained = water(3);
  constrained.constraints = {{0, 1, 0.9572, ""}, {2, 0, 0.9572, ""}, {1, 2, 1.5139, ""}};
  const auto a = defined_geometry(settled);
  const auto b = defined_geometry(constrained);
  ASSERT_TRUE(a && b);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_LT(norm((*a)[i] - (*b)[i]), 1e-15);
  EXPECT_NEAR(norm((*a)[1] - (*a)[2]), 1.5139, 1e-15);
  constrained.constraints.pop_back();
  EXPECT_FALSE(defined_geometry(constrained));
}

TEST(RigidGeometry, Tip4pSiteLiesOnTheBisector) {
  MoleculeDefinition tip4p = water(4);
  tip4p.settles.push_back({0, 0.9572, 1.5139, "here"});
  tip4p.virtual_sites.push_back({3, {0, 1, 2}, 1, {0.128012065, 0.128012065}, "here"});
  const auto r = defined_geometry(tip4p);
  ASSERT_TRUE(r);
  EXPECT_NEAR(norm((*r)[3] - (*r)[0]), 0.15, 1e-5);
  EXPECT_NEAR(norm((*r)[3] - (*r)[1]), norm((*r)[3] - (*r)[2]), 1e-14);
}

TEST(RigidGeometry, Tip5pLonePairIsOutOfThePlane) {
  // tip5p.itp: lone pairs 0.07 nm from the oxygen at the tetrahedral angle.
  MoleculeDefinition tip5p = water(5);
  tip5p.settles.push_back({0, 0.9572, 1.5139, "here"});
  tip5p.virtual_sites.push_back({3, {0, 1, 2}, 4, {-0.344908, -0.344908, -6.4437903}, "here"});
  tip5p.virtual_sites.push_back({4, {0, 1, 2}, 4, {-0.344908, -0.344908, 6.4437903}, "here"});
  const auto r = defined_geometry(tip5p);
  ASSERT_TRUE(r);
  const Vector3 a = (*r)[3] - (*r)[0];
  const Vector3 b = (*r)[4] - (*r)[0];
  EXPECT_NEAR(norm(a), 0.70, 1e-4);
  EXPECT_NEAR(std::acos(dot(a, b) / (norm(a) * norm(b))) * 180 / std::acos(-1.0), 109.47, 0.01);
}

TEST(RigidGeometry, TwoAtomVirtualSites) {
  MoleculeDefinition molecule = water(3);
  molecule.constraints = {{0, 1, 2.0, ""}};
  molecule.virtual_sites.push_back({2, {0, 1}, 1, {0.25}, "here"});
  EXPECT_NEAR((*defined_geometry(molecule))[2].x, 0.5, 1e-15);
  molecule.virtual_sites[0] = {2, {0, 1}, 2, {0.05}, "here"};
  EXPECT_NEAR((*defined_geometry(molecule))[2].x, 0.5, 1e-15);
}

TEST(RigidGeometry, BrokenMoleculesAreMadeWhole) {
  const Box box{{10, 12, 14}};
  // A chain longer than half the box, wrapped atom by atom.
  std::vector<Vector3> chain;
  for (int i = 0; i < 8; ++i) {
    const double x = 1.2 * i + 7;
    chain.push_back({x >= 10 ? x - 10 : x, 0.1 * i, 13.9 + (i % 2 == 0 ? 0 : 0.2 - 14)});
  }
  make_whole(box, chain);
  for (std::size_t i = 1; i < chain.size(); ++i) {
    EXPECT_NEAR(norm(chain[i] - chain[i - 1]), std::sqrt(1.44 + 0.01 + 0.04), 1e-12);
  }
}

TEST(GromacsData, EveryForceFieldAndWaterReads) {
  const auto folders = gromacs_folders();
  if (folders.empty()) GTEST_SKIP() << "gromacs-data is not installed";
  const TemporaryFolder folder;
  for (const char* force_field :
       {"oplsaa.ff", "amber99sb-ildn.ff", "charmm27.ff", "gromos54a7.ff"}) {
    for (const char* model : {"spc", "spce", "tip3p", "tip4p"}) {
      const std::string itp = std::string(force_field) + "/" + model + ".itp";
      if (!std::filesystem::exists(folders.front() / itp)) continue;
      // Its water models other than SPC name atom types that GROMOS 54a7 does not have.
      if (itp.starts_with("gromos") && !itp.ends_with("spc.itp")) continue;
      const auto file = folder.write("a.top", std::string("#include \"") + force_field +
                                                  "/forcefield.itp\"\n#include \"" + itp +
                                                  "\"\n[ system ]\nx\n[ molecules ]\nSOL 1\n");
      const TopologyFile topology = read_topology(file, {}, {});
      const MoleculeDefinition& sol =
          topology.definitions[topology.definition_index("SOL", "here")];
      EXPECT_TRUE(defined_geometry(sol)) << itp;
      SiteTypes types(topology);
      for (const TopologyAtom& atom : sol.atoms) types.index(atom);
      const ForceField field = types.force_field();
      // sigma = (c12/c6)^(1/6) of any of these oxygens is about 3.15 angstrom.
      const LennardJones oxygen = field.pair(0, 0);
      EXPECT_NEAR(std::pow(oxygen.c12 / oxygen.c6, 1.0 / 6), 3.16, 0.02) << itp;
    }
  }
}

}  // namespace
}  // namespace starpmc
