// Every malformed input names file, line, value and remedy. A case is the valid system below with
// one piece of text replaced.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "system/read_system.hpp"
#include "system/xyz_file.hpp"
#include "tests/system/temporary_folder.hpp"

namespace starpmc {
namespace {

using test::input_error;
using test::TemporaryFolder;
using testing::HasSubstr;

constexpr const char* coordinates =
    "two waters and a solute\n"
    "    8\n"
    "    1MET      C    1   1.000   1.000   1.000\n"
    "    1MET      O    2   1.120   1.000   1.000\n"
    "    2SOL     OW    3   0.2000   0.2000   0.2000\n"
    "    2SOL    HW1    4   0.2957   0.2000   0.2000\n"
    "    2SOL    HW2    5   0.1760   0.2927   0.2000\n"
    "    3SOL     OW    6   0.7000   0.7000   0.2000\n"
    "    3SOL    HW1    7   0.7957   0.7000   0.2000\n"
    "    3SOL    HW2    8   0.6760   0.7927   0.2000\n"
    "   2.0   2.0   2.0\n";

constexpr const char* topology =
    "[ defaults ]\n"                  // 1
    "1 3 no 1 1\n"                    // 2
    "[ atomtypes ]\n"                 // 3
    "OW 8 15.9994 0 A 0.315 0.636\n"  // 4
    "HW 1 1.008 0 A 0.0 0.0\n"        // 5
    "CM 6 12.011 0 A 0.375 0.44\n"    // 6
    "[ moleculetype ]\n"              // 7
    "carbonyl 1\n"                    // 8
    "[ atoms ]\n"                     // 9
    "1 CM 1 MET C 1 0.0\n"            // 10
    "2 OW 1 MET O 1 0.0\n"            // 11
    "[ moleculetype ]\n"              // 12
    "SOL 2\n"                         // 13
    "[ atoms ]\n"                     // 14
    "1 OW 1 SOL OW 1 -0.834\n"        // 15
    "2 HW 1 SOL HW1 1 0.417\n"        // 16
    "3 HW 1 SOL HW2 1 0.417\n"        // 17
    "[ settles ]\n"                   // 18
    "1 1 0.09572 0.15139\n"           // 19
    "[ system ]\n"                    // 20
    "x\n"                             // 21
    "[ molecules ]\n"                 // 22
    "carbonyl 1\n"                    // 23
    "SOL 2\n";                        // 24

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (!from.empty() && at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

/// The solute lines have 3 decimals, the waters' 4: give all the same.
std::string valid_coordinates() {
  std::string text = coordinates;
  text = replaced(text, "   1.000   1.000   1.000", "   1.0000   1.0000   1.0000");
  return replaced(text, "   1.120   1.000   1.000", "   1.1200   1.0000   1.0000");
}

struct Malformed {
  const char* name;
  char file;  ///< 'g': coordinates, 't': topology
  const char* from;
  const char* to;
  std::vector<std::string> message;  ///< parts it must hold
};

void PrintTo(const Malformed& malformed, std::ostream* out) { *out << malformed.name; }

class MalformedInput : public testing::TestWithParam<Malformed> {};

TEST(ValidInput, IsRead) {
  const TemporaryFolder folder;
  const System system = read_system({folder.write("a.gro", valid_coordinates()),
                                     folder.write("a.top", topology),
                                     {},
                                     "carbonyl",
                                     {},
                                     {}});
  EXPECT_EQ(system.molecules.size(), 2U);
}

TEST(ValidInput, TheSameParametersMayBeGivenAgain) {
  const TemporaryFolder folder;
  const std::string again =
      "OW 8 15.9994 0 A 3.15e-1 6.36e-01\nCM 0 0 0 A 0.375 0.44\n[ nonbond_params ]\n"
      "OW CM 1 0.3 0.5\nCM OW 1 0.30 5e-1\n[ moleculetype ]\ncarbonyl";
  const System system =
      read_system({folder.write("a.gro", valid_coordinates()),
                   folder.write("a.top", replaced(topology, "[ moleculetype ]\ncarbonyl", again)),
                   {},
                   "carbonyl",
                   {},
                   {}});
  EXPECT_EQ(system.molecules.size(), 2U);
}

TEST(ValidInput, AMoleculeThatIsNotThereNeedsNoAtoms) {
  const TemporaryFolder folder;
  std::string text = replaced(topology, "[ system ]", "[ moleculetype ]\nNONE 1\n[ system ]");
  text += "NONE 0\n";
  const System system = read_system({folder.write("a.gro", valid_coordinates()),
                                     folder.write("a.top", text),
                                     {},
                                     "carbonyl",
                                     {},
                                     {}});
  EXPECT_EQ(system.molecules.size(), 2U);
}

TEST(ValidInput, AnAtomWithoutRepulsionMayLieInAMolecule) {
  const TemporaryFolder folder;
  const auto gro = folder.write(
      "a.gro",
      replaced(valid_coordinates(), "   1.1200   1.0000   1.0000", "   0.7957   0.7000   0.1800"));
  const auto read = [&](const char* type) {
    std::string text =
        replaced(topology, "CM 6", "GH 8 15.9994 0 A " + std::string(type) + "\nCM 6");
    text = replaced(text, "2 OW 1 MET", "2 GH 1 MET");
    const auto top = folder.write("a.top", text);
    return read_system({gro, top, {}, "carbonyl", {}, {}});
  };
  EXPECT_EQ(read("0.0 0.0").molecules.size(), 2U);
  EXPECT_EQ(read("0.08 1.0").molecules.size(), 2U);
  EXPECT_THAT(input_error([&] { read("0.2 1.0"); }), HasSubstr("overlaps"));
}

TEST_P(MalformedInput, IsExplained) {
  const TemporaryFolder folder;
  const Malformed& bad = GetParam();
  const std::string& original = bad.file == 'g' ? valid_coordinates() : std::string(topology);
  const std::string changed = replaced(original, bad.from, bad.to);
  ASSERT_NE(changed, original);
  const auto gro = folder.write("a.gro", bad.file == 'g' ? changed : valid_coordinates());
  const auto top = folder.write("a.top", bad.file == 't' ? changed : std::string(topology));
  const std::string message = input_error([&] { read_system({gro, top, {}, "carbonyl", {}, {}}); });
  for (const std::string& part : bad.message) EXPECT_THAT(message, HasSubstr(part));
  EXPECT_THAT(message, HasSubstr("remedy: "));
}

const std::vector<Malformed> malformed_coordinates{
    {"NanCoordinate", 'g', "0.2957", "   nan", {"a.gro:6", "not finite", "'nan'"}},
    {"InfiniteCoordinate", 'g', "0.2957", "   inf", {"a.gro:6", "not finite", "'inf'"}},
    {"LettersForNumber", 'g', "0.2957", "0.2x57", {"a.gro:6", "x coordinate", "'0.2x57'"}},
    {"NanInFirstLine", 'g', "1.0000", "   nan", {"a.gro:3", "decimal point"}},
    {"TooFewAtomsForCount", 'g', "    8\n", "    9\n", {"a.gro:11", "9 atom lines", "line 2"}},
    {"TooManyAtomsForCount",
     'g',
     "    8\n",
     "    7\n",
     {"a.gro:10", "no box line after 7", "3SOL", "line 2"}},
    {"CountIsNoNumber", 'g', "    8\n", "eight\n", {"a.gro:2", "number of atoms", "'eight'"}},
    {"NegativeCount", 'g', "    8\n", "   -8\n", {"a.gro:2", "'-8'"}},
    {"ZeroEdge", 'g', "   2.0   2.0   2.0", "   2.0   0.0   2.0", {"a.gro:11", "not positive"}},
    {"NegativeEdge", 'g', "   2.0   2.0   2.0", "   2.0   2.0  -2.0", {"a.gro:11", "-2.0"}},
    {"NanEdge", 'g', "   2.0   2.0   2.0", "   2.0   nan   2.0", {"a.gro:11", "not finite"}},
    {"TriclinicBox",
     'g',
     "   2.0   2.0   2.0",
     " 2 2 2 0 0 1 0 1 1",
     {"a.gro:11", "triclinic", "orthorhombic"}},
    {"NoBox", 'g', "   2.0   2.0   2.0\n", "", {"a.gro:10", "ends before"}},
    {"TwoEdges", 'g', "   2.0   2.0   2.0", "   2.0   2.0", {"a.gro:11", "no box line"}},
    {"TextAfterBox",
     'g',
     "   2.0   2.0   2.0\n",
     "   2.0   2.0   2.0\nmore\n",
     {"a.gro:12", "more lines", "'more'"}},
    {"ShortAtomLine", 'g', "   0.2957   0.2000   0.2000", "   0.2957   0.2", {"a.gro:6", "short"}},
    {"UnevenDecimals",
     'g',
     "   1.0000   1.0000   1.0000",
     "   1.0000   1.000   1.0000",
     {"a.gro:3", "evenly spaced"}},
    {"WrongElement", 'g', "HW1    4", " O1    4", {"a.gro:6", "'HW1' in the topology", "a.top:16"}},
    {"BentWater", 'g', "0.2957", "0.3557", {"a.gro:5", "molecule SOL", "geometry", "angstrom"}},
    {"OverlappingWaters",
     'g',
     "   0.7000   0.7000   0.2000\n    3SOL    HW1    7   0.7957   0.7000   0.2000\n"
     "    3SOL    HW2    8   0.6760   0.7927",
     "   0.2000   0.2000   0.2200\n    3SOL    HW1    7   0.2957   0.2000   0.2200\n"
     "    3SOL    HW2    8   0.1760   0.2927",
     {"a.gro:5", "a.gro:8", "overlaps", "angstrom"}},
    {"WaterInSolute",
     'g',
     "   1.1200   1.0000   1.0000",
     "   0.7957   0.7000   0.1800",
     {"overlaps", "QM molecule carbonyl", "a.gro:8", "0.200 angstrom"}},
};

const std::vector<Malformed> malformed_topologies{
    {"UnknownAtomType",
     't',
     "1 OW 1 SOL",
     "1 OV 1 SOL",
     {"a.top:15", "unknown atom type", "'OV'", "did you mean 'OW'"}},
    {"UnknownSection",
     't',
     "[ settles ]",
     "[ setles ]",
     {"a.top:18", "unknown section", "did you mean 'settles'"}},
    {"UnknownMolecule",
     't',
     "SOL 2\n[ atoms ]",
     "SOLV 2\n[ atoms ]",
     {"a.top:24", "moleculetype", "'SOL'", "did you mean 'SOLV'"}},
    {"TooManyMolecules",
     't',
     "]\ncarbonyl 1\nSOL 2",
     "]\ncarbonyl 1\nSOL 3",
     {"a.gro:2", "needs 11 atoms", "3 x SOL of 3", "'8'"}},
    {"TwoQmMolecules",
     't',
     "]\ncarbonyl 1\nSOL 2",
     "]\ncarbonyl 2\nSOL 2",
     {"a.top", "exactly one QM molecule 'carbonyl'", "'2'"}},
    {"MoleculeCountIsNoNumber",
     't',
     "]\ncarbonyl 1\nSOL 2",
     "]\ncarbonyl 1\nSOL x",
     {"a.top:24", "number of molecules", "'x'"}},
    {"NegativeMoleculeCount",
     't',
     "]\ncarbonyl 1\nSOL 2",
     "]\ncarbonyl 1\nSOL -2",
     {"a.top:24", "number of molecules", "'-2'"}},
    {"MoleculeCountsWrapAround",
     't',
     "]\ncarbonyl 1\nSOL 2",
     "]\ncarbonyl 1\nSOL 9223372036854775807\nSOL 9223372036854775807\nSOL 4",
     {"a.top:24", "more than 10000000 atoms", "'SOL 9223372036854775807'"}},
    {"NoDefaults", 't', "[ defaults ]\n1 3 no 1 1\n", "", {"a.top", "[ defaults ]", "oplsaa.ff"}},
    {"Buckingham", 't', "1 3 no", "2 3 no", {"a.top:2", "nbfunc", "'2'"}},
    {"UnknownCombinationRule", 't', "1 3 no", "1 4 no", {"a.top:2", "comb-rule", "'4'"}},
    {"NegativeSigma", 't', "A 0.315", "A -0.315", {"a.top:4", "negative"}},
    {"SigmaIsNoNumber", 't', "A 0.315", "A O.315", {"a.top:4", "sigma", "'O.315'"}},
    {"AtomTypeWithoutParticle",
     't',
     "OW 8 15.9994 0 A 0.315 0.636",
     "OW 8 15.9994 0 0.315 0.636",
     {"a.top:4", "particle type"}},
    {"ShortAtomType", 't', " A 0.375 0.44", "", {"a.top:6", "at least 6 columns"}},
    {"AtomsOutOfOrder", 't', "2 HW 1 SOL", "4 HW 1 SOL", {"a.top:16", "order", "'4'", "write 2"}},
    {"SettleWithoutTriangle", 't', "0.15139", "0.25139", {"a.top:19", "do not form a triangle"}},
    {"SettleOfMissingAtoms", 't', "1 1 0.09572", "2 1 0.09572", {"a.top:19", "do not exist"}},
    {"NegativeLength", 't', "0.09572", "-0.09572", {"a.top:19", "not positive", "'-0.09572'"}},
    {"MissingInclude",
     't',
     "[ system ]",
     "#include \"nowhere.itp\"\n[ system ]",
     {"a.top:20", "'nowhere.itp'", "gromacs-data"}},
    {"IncludeOfItself",
     't',
     "[ system ]",
     "#include \"a.top\"\n[ system ]",
     {"a.top:20", "includes itself", "'a.top'"}},
    {"IncludeWithoutQuotes",
     't',
     "[ system ]",
     "#include a.itp\n[ system ]",
     {"a.top:20", "quotes", "'a.itp'"}},
    {"UnknownDirective",
     't',
     "[ system ]",
     "#incldue \"a.itp\"\n[ system ]",
     {"a.top:20", "'#incldue'", "did you mean 'include'"}},
    {"ElseWithoutIf", 't', "[ system ]", "#else\n[ system ]", {"a.top:20", "#else without"}},
    {"EndifWithoutIf", 't', "[ system ]", "#endif\n[ system ]", {"a.top:20", "#endif without"}},
    {"UnclosedIf", 't', "[ system ]", "#ifdef X\n[ system ]", {"a.top:20", "never closed"}},
    {"DefineInCircle",
     't',
     "[ settles ]\n1 1",
     "[ settles ]\n#define A B\n#define B A\n1 A",
     {"a.top:21", "itself"}},
    {"ErrorDirective",
     't',
     "[ system ]",
     "#error do not use\n[ system ]",
     {"a.top:20", "'do not use'"}},
    {"TextBeforeSections", 't', "[ defaults ]", "hello\n[ defaults ]", {"a.top:1", "'hello'"}},
    {"UnclosedBracket", 't', "[ settles ]", "[ settles", {"a.top:18", "']'"}},
    {"AtomsOutsideMolecule",
     't',
     "[ atomtypes ]",
     "[ atoms ]\n[ atomtypes ]",
     {"a.top:3", "outside a molecule"}},
    {"DuplicateMoleculeType",
     't',
     "SOL 2\n[ atoms ]",
     "carbonyl 2\n[ atoms ]",
     {"a.top:13", "second [ moleculetype ]", "a.top:8"}},
    {"PolarisableMolecule",
     't',
     "[ settles ]",
     "[ polarization ]\n[ settles ]",
     {"a.top:18", "not supported", "'polarization'"}},
    {"UnsupportedVirtualSite",
     't',
     "[ settles ]",
     "[ virtual_sites3 ]\n3 1 2 1 3 0.1 0.1\n[ settles ]",
     {"a.top:19", "not supported"}},
    {"MoleculeWithoutAtoms",
     't',
     "SOL 2\n[ atoms ]",
     "SOL 2\n[ moleculetype ]\nother 1\n[ atoms ]",
     {"a.top:13", "no [ atoms ]"}},
    {"AtomicNumberBeyondInt",
     't',
     "CM 6 12.011",
     "CM 4294967302 12.011",
     {"a.top:6", "the atomic number", "4294967302", "2147483647"}},
    {"ForceFieldAfterAMolecule",
     't',
     "[ system ]",
     "[ atomtypes ]\nZZ 6 12 0 A 0.1 0.1\n[ system ]",
     {"a.top:20", "after a [ moleculetype ]", "a.top:8"}},
    {"UnknownTypeOfAPair",
     't',
     "[ moleculetype ]\ncarbonyl",
     "[ nonbond_params ]\nOW CN 1 0.3 0.5\n[ moleculetype ]\ncarbonyl",
     {"a.top:8", "unknown atom type in [ nonbond_params ]", "'CN'", "did you mean 'CM'"}},
    {"AtomTypeWithOtherParameters",
     't',
     "CM 6 12.011",
     "OW 8 15.9994 0 A 0.32 0.636\nCM 6 12.011",
     {"a.top:6", "second atom type", "a.top:4", "keep one"}},
    {"PairWithOtherParameters",
     't',
     "[ moleculetype ]\ncarbonyl",
     "[ nonbond_params ]\nOW CM 1 0.3 0.5\nCM OW 1 0.3 0.6\n[ moleculetype ]\ncarbonyl",
     {"a.top:9", "second line for this pair", "a.top:8", "keep one"}},
    {"NoMolecules", 't', "[ molecules ]\ncarbonyl 1\nSOL 2\n", "", {"a.top", "[ molecules ]"}},
};

std::string name_of(const testing::TestParamInfo<Malformed>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Coordinates, MalformedInput, testing::ValuesIn(malformed_coordinates),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Topology, MalformedInput, testing::ValuesIn(malformed_topologies),
                         name_of);

TEST(MalformedFiles, MissingOnesAndUnknownQmMolecule) {
  const TemporaryFolder folder;
  const auto gro = folder.write("a.gro", valid_coordinates());
  const auto top = folder.write("a.top", topology);
  const auto read = [](const SystemFiles& files) {
    return input_error([&] { read_system(files); });
  };
  EXPECT_THAT(read({folder / "b.gro", top, {}, "", {}, {}}), HasSubstr("b.gro: there is no such"));
  EXPECT_THAT(read({gro, folder / "b.top", {}, "", {}, {}}), HasSubstr("b.top: there is no such"));
  const auto empty = folder.write("empty.gro", "");
  EXPECT_THAT(read({empty, top, {}, "", {}, {}}),
              HasSubstr("empty.gro:1: the file ends too early"));
  EXPECT_THAT(read({folder / "", top, {}, "", {}, {}}), HasSubstr("a folder"));
  EXPECT_THAT(read({gro, top, {}, "carbonil", {}, {}}), HasSubstr("did you mean 'carbonyl'"));
  EXPECT_THAT(read({gro, top, folder / "s.xyz", "", {}, {}}), HasSubstr("without a QM molecule"));
}

TEST(MalformedFiles, QmMoleculeMissingInTheCoordinates) {
  const TemporaryFolder folder;
  std::string text = replaced(valid_coordinates(), "    8\n", "    6\n");
  const std::size_t solute = text.find("    1MET");
  text.erase(solute, text.find("    2SOL") - solute);
  const auto gro = folder.write("a.gro", text);
  const auto top = folder.write("a.top", topology);
  const std::string message = input_error([&] { read_system({gro, top, {}, "carbonyl", {}, {}}); });
  EXPECT_THAT(message, HasSubstr("a.gro:2: the topology"));
  EXPECT_THAT(message, HasSubstr("system.solute"));
}

TEST(MalformedFiles, SoluteFiles) {
  const TemporaryFolder folder;
  const auto gro = folder.write("a.gro", valid_coordinates());
  const auto top = folder.write("a.top", topology);
  const auto read = [&](std::string_view name, std::string_view text) {
    const auto solute = folder.write(name, text);
    return input_error([&] { read_system({gro, top, solute, "carbonyl", {}, {}}); });
  };
  EXPECT_THAT(
      read("s.xyz", "2\n\nC 10 10 10\nN 11.2 10 10\n"),
      testing::AllOf(HasSubstr("a.top:11: the element of atom 2 (O)"), HasSubstr("s.xyz:4 says N"),
                     HasSubstr("atomic number 8 (O)"), HasSubstr("qm.elements = O=N")));
  EXPECT_THAT(read("s.xyz", "1\n\nC 10 10 10\n"), HasSubstr("has 2 atoms in the topology"));
  EXPECT_THAT(read("s.xyz", "2\n\nC 10 10 10\nO 11.3 10 10\n"),
              testing::AllOf(HasSubstr("s.xyz:4: atom 2"), HasSubstr("a.gro:4"),
                             HasSubstr("0.100 angstrom")));
  EXPECT_THAT(read("s.xyz", "3\n\nC 10 10 10\nO 11.2 10 10\n"),
              HasSubstr("s.xyz:5: the file ends before 3 atoms"));
  EXPECT_THAT(read("s.xyz", "1\n\nC 10 10 10\nO 11.2 10 10\n"), HasSubstr("s.xyz:4: more than 1"));
  EXPECT_THAT(read("s.xyz", "2\n\nC 10 10 10\nO 11.2 10 10\n\n2\n\nC 10 10 10\nO 11.2 10 10\n"),
              testing::AllOf(HasSubstr("s.xyz:6: another frame"), HasSubstr("found '2 frames'"),
                             HasSubstr("head -n 4")));
  EXPECT_THAT(read("s.xyz", "2\n\nC 10 10 10\nXq 11.2 10 10\n"),
              HasSubstr("s.xyz:4: unknown element, found 'Xq'"));
  EXPECT_THAT(read("s.xyz", "2\n\nC 10 10 ten\nO 11.2 10 10\n"),
              HasSubstr("s.xyz:3: the z coordinate (angstrom) is not a number, found 'ten'"));
  EXPECT_THAT(read("s.xyz", "2\n\nC 10 10\nO 11.2 10 10\n"), HasSubstr("s.xyz:3: no element and"));
  EXPECT_THAT(read("s.xyz", "2\n\n4294967302 10 10 10\nO 11.2 10 10\n"),
              HasSubstr("s.xyz:3: the element is not an integer from 1 to 2147483647"));
  EXPECT_THAT(read("s.mol2", "x"), HasSubstr("found '.mol2'"));
}

}  // namespace
}  // namespace starpmc
