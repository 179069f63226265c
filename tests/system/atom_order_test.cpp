// Atoms are taken in the order of the files: what tells that the order differs is refused or said.
#include "system/atom_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "system/gro_file.hpp"
#include "system/read_system.hpp"
#include "system/xyz_file.hpp"
#include "tests/system/temporary_folder.hpp"

namespace starpmc {
namespace {

using test::input_error;
using test::TemporaryFolder;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* force_field =
    "[ defaults ]\n1 2\n[ atomtypes ]\n"                              // 1 to 3
    "CA 20 40.08 0 A 0.24 1.9\nCL 17 35.45 0 A 0.44 0.5\n"            // 4, 5
    "OW 8 15.9994 0 A 0.315 0.636\nHW 1 1.008 0 A 0.0 0.0\n"          // 6, 7
    "C 6 12.011 0 A 0.375 0.44\nCT 6 12.011 0 A 0.35 0.28\n"          // 8, 9
    "O 8 15.9994 0 A 0.296 0.88\nHC 1 1.008 0 A 0.25 0.13\n"          // 10, 11
    "[ moleculetype ]\nCA 1\n[ atoms ]\n1 CA 1 CA CA 1 2\n"           // 12 to 15
    "[ moleculetype ]\nCL 1\n[ atoms ]\n1 CL 1 CL CL 1 -1\n"          // 16 to 19
    "[ moleculetype ]\nDI 1\n[ atoms ]\n"                             // 20 to 22
    "1 C 1 DI C1 1 0.5\n2 C 1 DI C2 1 -0.5\n[ constraints ]\n1 2 1 "  // 23 to 26
    "0.15\n"
    "[ moleculetype ]\nSOL 1\n[ atoms ]\n"                                          // 27 to 29
    "1 OW 1 SOL OW 1 -0.834\n2 HW 1 SOL HW1 1 0.417\n3 HW 1 SOL HW2 1 0.417\n"      // 30 to 32
    "[ settles ]\n1 1 0.09572 0.15139\n"                                            // 33, 34
    "[ moleculetype ]\nACE 1\n[ atoms ]\n"                                          // 35 to 37
    "1 C 1 ACE C1 1 0\n2 O 1 ACE O2 1 0\n3 CT 1 ACE C3 1 0\n"                       // 38 to 40
    "4 HC 1 ACE H4 1 0\n5 HC 1 ACE H5 1 0\n6 HC 1 ACE H6 1 0\n7 HC 1 ACE H7 1 0\n"  // 41 to 44
    "[ bonds ]\n1 2 1\n1 3 1 0.15 1000\n1 7 1\n3 4 1\n3 5 1\n3 6 1\n2 6 10\n5 6 6\n99 1\n"
    "[ moleculetype ]\nCLQ 1\n[ atoms ]\n1 CL 1 CLQ CL 1 0\n"
    "[ system ]\nx\n[ molecules ]\n";

class AtomOrder : public testing::Test {
 protected:
  System read(const std::vector<GroAtom>& atoms, const std::string& molecules,
              const std::string& qm = "", const std::filesystem::path& solute = {},
              const char* title = "t") const {
    const auto gro = folder.write("a.gro", format_gro(title, atoms, {{20, 20, 20}}, 6));
    const auto top = folder.write("a.top", force_field + molecules);
    return read_system({gro, top, solute, qm, {}, {}});
  }

  std::string refused(const std::vector<GroAtom>& atoms, const std::string& molecules,
                      const std::string& qm = "", const std::filesystem::path& solute = {}) const {
    return input_error([&] { read(atoms, molecules, qm, solute); });
  }

  static std::vector<GroAtom> water(const char* h1, const char* h2) {
    return {{1, "SOL", "OW", {2, 2, 2}},
            {1, "SOL", h1, {2.957, 2, 2}},
            {1, "SOL", h2, {1.76, 2.927, 2}}};
  }

  /// Acetaldehyde.
  static std::vector<GroAtom> aldehyde() {
    return {{1, "ACE", "C1", {10, 10, 10}},        {1, "ACE", "O2", {10.6, 11.05, 10}},
            {1, "ACE", "C3", {10.75, 8.7, 10}},    {1, "ACE", "H4", {11.38, 8.64, 10.89}},
            {1, "ACE", "H5", {11.38, 8.64, 9.11}}, {1, "ACE", "H6", {10.05, 7.86, 10}},
            {1, "ACE", "H7", {8.9, 9.95, 10}}};
  }

  static Geometry geometry(const std::vector<GroAtom>& atoms) {
    Geometry geometry{"", {}, {}};
    for (const GroAtom& atom : atoms) {
      geometry.elements.emplace_back(1, atom.atom_name.front());
      geometry.positions.push_back(atom.position);
    }
    return geometry;
  }

  TemporaryFolder folder;
};

TEST_F(AtomOrder, IonsThatChangePlacesAreRefused) {
  const GroAtom calcium{1, "CA", "CA", {2, 2, 2}};
  const GroAtom chloride{2, "CL", "CL", {8, 8, 8}};
  EXPECT_THAT(read({calcium, chloride}, "CA 1\nCL 1\n").warnings, IsEmpty());
  EXPECT_THAT(refused({chloride, calcium}, "CA 1\nCL 1\n"),
              AllOf(HasSubstr("a.gro:3: atom 1 of molecule CA is 'CA' in the topology"),
                    HasSubstr("a.top:15"), HasSubstr("'CL of residue CL'"), HasSubstr("remedy")));
  // Of one name, by their residues.
  GroAtom x = chloride;
  x.atom_name = "C";
  EXPECT_THAT(refused({x, chloride}, "CA 1\nCL 1\n"), HasSubstr("'C of residue CL'"));
}

TEST_F(AtomOrder, IonsMayHaveOtherNames) {
  for (const auto& [residue, name] :
       {std::pair{"CA2+", "CA2+"}, {"ION", "CA"}, {"CAL", "CAL"}, {"Ca", "Ca"}, {"CA", "CA2+"}}) {
    const GroAtom calcium{1, residue, name, {2, 2, 2}};
    EXPECT_EQ(read({calcium, {2, "CL-", "CL-", {8, 8, 8}}}, "CA 1\nCL 1\n").molecules.size(), 2U);
  }
}

TEST_F(AtomOrder, AQmIonAmongItsLikeKeepsItsName) {
  const std::vector<GroAtom> two{{1, "CL", "CL", {2, 2, 2}}, {2, "CL", "CL", {8, 8, 8}}};
  EXPECT_THAT(read(two, "CLQ 1\nCL 1\n", "CLQ").warnings, IsEmpty());
  const std::vector<GroAtom> other{{1, "CA", "CL", {2, 2, 2}}, {2, "CA", "CA", {8, 8, 8}}};
  EXPECT_THAT(refused(other, "CLQ 1\nCA 1\n", "CLQ"), HasSubstr("'CL of residue CA'"));
}

TEST_F(AtomOrder, AtomsOfOtherParametersInAnotherOrderAreRefused) {
  const std::vector<GroAtom> right{{1, "DI", "C1", {2, 2, 2}}, {1, "DI", "C2", {3.5, 2, 2}}};
  EXPECT_THAT(read(right, "DI 1\n").warnings, IsEmpty());
  EXPECT_THAT(refused({right[1], right[0]}, "DI 1\n"),
              AllOf(HasSubstr("a.gro:3: atom 1 of molecule DI is 'C1' in the topology"),
                    HasSubstr("a.top:23"), HasSubstr("found 'C2'")));
}

TEST_F(AtomOrder, OtherNamesAreSaidOncePerMoleculetype) {
  EXPECT_THAT(read(water("HW1", "HW2"), "SOL 1\n").warnings, IsEmpty());
  // Alike atoms may change places.
  EXPECT_THAT(read(water("HW2", "HW1"), "SOL 1\n").warnings, ElementsAre(HasSubstr("'HW2' here")));
  std::vector<GroAtom> two = water("H1", "H2");
  for (GroAtom atom : water("H1", "H2")) {
    atom.position.z += 5;
    two.push_back(atom);
  }
  EXPECT_THAT(read(two, "SOL 2\n").warnings,
              ElementsAre(AllOf(
                  HasSubstr("a.gro:4: atom 2 of molecule SOL is called 'H1' here and 'HW1' in the"),
                  HasSubstr("a.top:31"), HasSubstr("2 molecules of this kind"))));
}

TEST_F(AtomOrder, OfTheQmMolecule) {
  std::vector<GroAtom> atoms = aldehyde();
  EXPECT_THAT(read(atoms, "ACE 1\n", "ACE").warnings, IsEmpty());
  std::swap(atoms[0], atoms[2]);
  EXPECT_THAT(refused(atoms, "ACE 1\n", "ACE"),
              AllOf(HasSubstr("a.gro:3: atom 1 of molecule ACE is 'C1' in the topology"),
                    HasSubstr("found 'C3'")));
  const auto solute = folder.write("s.gro", format_gro("t", atoms, {{20, 20, 20}}, 6));
  std::vector<GroAtom> all = water("HW1", "HW2");
  EXPECT_THAT(refused(all, "ACE 1\nSOL 1\n", "ACE", solute), HasSubstr("s.gro:3: atom 1"));
  // A run writes elements and numbers in its files, whatever the topology's names are.
  atoms = aldehyde();
  std::swap(atoms[0].atom_name, atoms[2].atom_name);
  EXPECT_THAT(read(atoms, "ACE 1\n", "ACE", {}, "t, by starpmc").warnings, IsEmpty());
}

TEST_F(AtomOrder, BondsTellWhereThereAreNoNames) {
  const std::vector<GroAtom> waters = water("HW1", "HW2");
  Geometry molecule = geometry(aldehyde());
  const auto with_solute = [&] {
    return read(waters, "ACE 1\nSOL 1\n", "ACE", folder.write("s.xyz", format_xyz(molecule)))
        .warnings;
  };
  EXPECT_THAT(with_solute(), IsEmpty());
  std::swap(molecule.positions[0], molecule.positions[2]);
  EXPECT_THAT(
      with_solute(),
      ElementsAre(AllOf(HasSubstr("s.xyz:3: "), HasSubstr("of the 6 [ bonds ] of molecule ACE"),
                        HasSubstr("none with atoms 1 (C1) and 3 (C3) exchanged"))));
  // A reaction breaks bonds.
  molecule = geometry(aldehyde());
  molecule.positions[6] = {7.5, 9.9, 10};
  molecule.positions[5] = {9.8, 6.6, 10};
  EXPECT_THAT(with_solute(), IsEmpty());
  molecule.positions[4] = {12.2, 8, 8};
  EXPECT_THAT(with_solute(), ElementsAre(HasSubstr("3 of the 6 [ bonds ]")));
}

TEST_F(AtomOrder, TheTopologysChargeOfTheQmMoleculeIsCompared) {
  const auto gro = folder.write("a.gro", format_gro("t", aldehyde(), {{20, 20, 20}}, 6));
  const auto warnings = [&](const char* charge, std::optional<int> stated) {
    std::string text = force_field + std::string("ACE 1\n");
    text.replace(text.find("ACE O2 1 0") + 9, 1, charge);
    SystemFiles files{gro, folder.write("a.top", text), {}, "ACE", {}, {}};
    files.qm_charge = stated;
    return read_system(files).warnings;
  };
  EXPECT_THAT(warnings("0", -1), IsEmpty());  // no charges at all
  EXPECT_THAT(warnings("0.001", 0), IsEmpty());
  EXPECT_THAT(warnings("-2", -2), IsEmpty());
  EXPECT_THAT(warnings("-2", std::nullopt), IsEmpty());
  EXPECT_THAT(warnings("-2", 0),
              ElementsAre(AllOf(HasSubstr("a.top:36"), HasSubstr("-2 e"), HasSubstr("is +0"))));
}

TEST_F(AtomOrder, OfSeveralFramesTheFirstIsSaidToBeRead) {
  const std::string frame = format_gro("t", water("HW1", "HW2"), {{20, 20, 20}}, 6);
  const auto gro = folder.write("b.gro", frame + frame);
  const auto top = folder.write("b.top", std::string(force_field) + "SOL 1\n");
  EXPECT_THAT(read_system({gro, top, {}, "", {}, {}}).warnings,
              ElementsAre(AllOf(HasSubstr("b.gro"), HasSubstr("first of several frames"))));
}

}  // namespace
}  // namespace starpmc
