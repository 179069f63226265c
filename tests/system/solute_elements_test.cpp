// The QM molecule's elements: what names, types, masses and files say, and what is refused.
#include "system/solute_elements.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "system/element_names.hpp"
#include "system/read_system.hpp"
#include "system/xyz_file.hpp"
#include "tests/system/temporary_folder.hpp"

namespace starpmc {
namespace {

using test::input_error;
using test::TemporaryFolder;
using testing::AllOf;
using testing::HasSubstr;

std::string choice(std::string_view name) { return element_choice(elements_in_name(name)); }

TEST(ElementNames, CanStandForTwoElements) {
  EXPECT_EQ(choice("CA"), "Ca or C");
  EXPECT_EQ(choice("ca1"), "Ca or C");
  EXPECT_EQ(choice("Ca"), "Ca");
  EXPECT_EQ(choice("Cl2"), "Cl");
  EXPECT_EQ(choice("CL2"), "Cl or C");
  EXPECT_EQ(choice("C1A"), "C");
  EXPECT_EQ(choice("1HG2"), "Hg or H");
  EXPECT_EQ(choice("HB2"), "H");
  EXPECT_EQ(choice("ZN"), "Zn");
  EXPECT_EQ(choice("SI1"), "Si or S");
  EXPECT_EQ(choice("MW"), "no element");
  EXPECT_EQ(choice("17"), "no element");
}

/// One atom; 0, nullptr and "" say nothing.
struct Case {
  const char* name;
  int number;
  double mass;
  const char* listed;  ///< .xyz
  const char* gro;
  const char* expected;  ///< an element, or part of the refusal
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name << ' ' << c.number << ' ' << c.mass << ' ' << c.listed << ' ' << c.gro;
}

std::string outcome(const Case& c, std::vector<std::string> stated = {}) {
  MoleculeDefinition molecule;
  molecule.name = "LIG";
  molecule.place = "a.top:1";
  molecule.atoms.push_back({c.name, "type", 0, c.mass, "a.top:4"});
  AtomType type;
  type.name = "type";
  type.atomic_number = c.number;
  type.place = "ff.itp:9";
  std::vector<NamedAtom> witnesses;
  if (*c.gro) witnesses.push_back({c.gro, nullptr, "a.gro:3"});
  if (*c.listed) witnesses.push_back({"", element_by_symbol(c.listed), "a.xyz:3"});
  std::string symbol;
  const std::string error = input_error([&] {
    const std::vector<const AtomType*> types{&type};
    const std::vector<std::vector<NamedAtom>> named{witnesses};
    symbol = solute_elements(molecule, types, named, stated).front()->symbol;
  });
  return symbol.empty() ? error : symbol;
}

class Witnesses : public testing::TestWithParam<Case> {};

TEST_P(Witnesses, TellTheElementOrAreRefused) {
  const std::string found = outcome(GetParam());
  const std::string expected = GetParam().expected;
  if (expected.size() <= 2) {
    EXPECT_EQ(found, expected);
    return;
  }
  EXPECT_THAT(found, AllOf(HasSubstr("a.top:4: the element of atom 1 ("), HasSubstr(expected),
                           HasSubstr("remedy: "), HasSubstr("qm.elements = ")));
}

INSTANTIATE_TEST_SUITE_P(
    Agree, Witnesses,
    testing::Values(Case{"C1", 6, 12.011, "", "C1", "C"}, Case{"CA", 6, 12.011, "", "CA", "C"},
                    Case{"CA", 20, 40.08, "", "CA", "Ca"}, Case{"CA", 0, 12.011, "", "", "C"},
                    Case{"CA", 0, 40.08, "", "", "Ca"}, Case{"CA", 6, 0, "", "", "C"},
                    Case{"HG", 1, 1.008, "", "", "H"}, Case{"HG", 80, 200.59, "", "", "Hg"},
                    Case{"CD", 0, 0, "C", "", "C"}, Case{"CL", 17, 35.45, "Cl", "CL", "Cl"},
                    Case{"X1", 14, 28.09, "", "", "Si"}, Case{"X1", 0, 0, "Si", "", "Si"},
                    Case{"Zn1", 30, 65.4, "", "ZN1", "Zn"}, Case{"N", 0, 0, "", "", "N"},
                    // The type and the .xyz file agree: what the atom is called does not matter.
                    Case{"LP1", 8, 16, "O", "LP1", "O"},
                    // Repartitioned masses, deuterium.
                    Case{"C1", 6, 5.96, "", "", "C"}, Case{"H1", 1, 4.032, "", "", "H"},
                    Case{"H1", 0, 2.014, "", "", "H"}));

INSTANTIATE_TEST_SUITE_P(
    Contradict, Witnesses,
    testing::Values(
        // What ran as carbon and as magnesium.
        Case{"SI1", 6, 12.011, "", "SI1",
             "stands for Si or S; type type (ff.itp:9) has the atomic "
             "number 6 (C); the mass is 12.011 g/mol (C)"},
        Case{"Zn", 12, 24.305, "", "", "number 12 (Mg)"},
        Case{"C1", 6, 12.011, "Si", "", "a.xyz:3 says Si"},
        Case{"C1", 0, 0, "Si", "", "a.xyz:3 says Si"},
        Case{"Si1", 6, 28.09, "", "", "the mass is 28.09 g/mol (Si)"},
        Case{"ZN", 0, 24.305, "", "", "(Mg)"},
        // A united atom has no hydrogens of its own.
        Case{"C2", 6, 14.027, "", "", "14.027"}, Case{"N1", 0, 15.02, "", "", "no element's"},
        Case{"C1", 6, 1.008, "", "", "(H)"},
        // Not told: two readings and nothing else, none at all.
        Case{"CA", 0, 0, "", "", "is not told"}, Case{"X1", 0, 12.011, "", "", "is not told"},
        Case{"CA", 0, 30, "", "", "is not told"},
        // Topology and coordinates call it differently.
        Case{"C1", 6, 12.011, "", "N1", "the name N1 (a.gro:3) stands for N"},
        Case{"Cl1", 17, 35.45, "", "C1", "stands for Cl; the name C1 (a.gro:3) stands for C"}));

TEST(StatedElements, DecideAndAreChecked) {
  const Case silicon{"SI1", 6, 12.011, "", "SI1", ""};
  EXPECT_EQ(outcome(silicon, {"SI1=Si"}), "Si");
  EXPECT_EQ(outcome(silicon, {"1 = si"}), "Si");
  EXPECT_THAT(outcome(silicon, {"SI2=Si"}),
              AllOf(HasSubstr("qm.elements: molecule LIG has no atom of this name or number, found "
                              "'SI2'"),
                    HasSubstr("a.top:1")));
  EXPECT_THAT(outcome(silicon, {"SI1"}), HasSubstr("not an atom and its element, found 'SI1'"));
  EXPECT_THAT(outcome(silicon, {"SI1=Sx"}),
              HasSubstr("not an atom and its element, found 'SI1=Sx'"));
  EXPECT_THAT(outcome(silicon, {"SI1=Si", "1=C"}), HasSubstr("atom 1 is given two elements"));
}

std::vector<std::string> gro_elements(const std::vector<std::pair<const char*, Vector3>>& atoms) {
  const TemporaryFolder folder;
  std::string text = "x\n" + std::to_string(atoms.size()) + "\n";
  for (const auto& [name, r] : atoms) {
    char line[100];
    std::snprintf(line, sizeof line, "    1RES  %5s    1%8.3f%8.3f%8.3f\n", name, r.x / 10,
                  r.y / 10, r.z / 10);
    text += line;
  }
  return read_geometry(folder.write("x.gro", text + " 5 5 5\n")).elements;
}

TEST(GroNames, AreToldApartByTheNearestAtom) {
  using testing::ElementsAre;
  // A peptide's: C-alpha, its hydrogen, a gamma hydrogen, a delta carbon.
  EXPECT_THAT(gro_elements({{"N", {0, 0, 0}}, {"CA", {1.46, 0, 0}}, {"HA", {1.8, 1.03, 0}}}),
              ElementsAre("N", "C", "H"));
  EXPECT_THAT(gro_elements({{"CD", {0, 0, 0}}, {"HG", {1.09, 0, 0}}, {"HE", {-1.09, 0, 0}}}),
              ElementsAre("C", "H", "H"));
  // Ions: nothing is near enough for a bond.
  EXPECT_THAT(gro_elements({{"CA", {0, 0, 0}}}), ElementsAre("Ca"));
  EXPECT_THAT(gro_elements({{"NA", {0, 0, 0}}, {"CD", {6, 0, 0}}}), ElementsAre("Na", "Cd"));
  EXPECT_THAT(gro_elements({{"Cl", {0, 0, 0}}, {"C", {1.74, 0, 0}}}), ElementsAre("Cl", "C"));
}

TEST(GroNames, ThatStayOpenAreRefused) {
  const std::string message = input_error([] {
    gro_elements({{"CL", {0, 0, 0}}, {"C", {1.74, 0, 0}}});
  });
  EXPECT_THAT(message, AllOf(HasSubstr("x.gro:3: the atom name can stand for Cl or C, found 'CL'"),
                             HasSubstr("small (Cl)"), HasSubstr(".xyz")));
  EXPECT_THAT(input_error([] {
                gro_elements({{"MW", {0, 0, 0}}});
              }),
              HasSubstr("no element can be told from the atom name, found 'MW'"));
}

}  // namespace
}  // namespace starpmc
