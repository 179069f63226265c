#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <sstream>

#include "system/atom_typing.hpp"
#include "system/contacts.hpp"
#include "system/data_folder.hpp"
#include "system/gromacs_data.hpp"
#include "system/read_system.hpp"
#include "system/solvated_files.hpp"
#include "system/solvation.hpp"
#include "system/topology.hpp"
#include "system/xyz_file.hpp"
#include "tests/system/solvate_case.hpp"
#include "tests/system/temporary_folder.hpp"
#include "tests/test_folders.hpp"

namespace starpmc {
namespace {

using test::input_error;
using test::TemporaryFolder;
using test::text_of;
using testing::HasSubstr;

const std::filesystem::path chorismate = source_folder() / "configs/chorismate.xyz";

/// Smallest distance (angstrom) of atoms of different molecules; the solute counts as one.
double smallest_distance(const System& system) {
  std::vector<Vector3> points;
  std::vector<std::size_t> owners;
  for (std::size_t m = 0; m < system.molecules.size(); ++m) {
    const auto& sites = system.molecule_types[system.molecules[m].type].sites;
    for (std::size_t s = 0; s < sites.size(); ++s) {
      if (sites[s].element.empty()) continue;
      points.push_back(site_position(system, system.molecules[m], s));
      owners.push_back(m);
    }
  }
  if (system.solute) {
    points.insert(points.end(), system.solute->positions.begin(), system.solute->positions.end());
    owners.resize(points.size(), system.molecules.size());
  }
  double smallest = 3;
  for (const Contact& contact : find_contacts(system.box, points, owners, smallest)) {
    smallest = std::min(smallest, contact.distance);
  }
  return smallest;
}

using Solvate = test::SolvateCase;

TEST_F(Solvate, HoldsExactlySoManyWatersWithoutOverlap) {
  for (const char* model : {"tip3p", "spc", "spce", "tip4p"}) {
    for (long waters : {150L, 500L}) {
      request.solute = chorismate;
      request.waters = waters;
      request.model = model;
      request.overwrite = true;
      const SolvatedFiles files = write_solvated_files(request);
      EXPECT_EQ(files.qm_molecule, "chorismate");
      const System system =
          read_system({files.coordinates, files.topology, {}, "chorismate", {}, {}});
      EXPECT_EQ(system.molecules.size(), static_cast<std::size_t>(waters));
      EXPECT_EQ(system.solute->atom_count(), 24U);
      EXPECT_EQ(system.max_sites(), std::string(model) == "tip4p" ? 4U : 3U);
      EXPECT_GT(smallest_distance(system), 1.49) << model << waters;
      const double per_water = (system.box.volume() - 250) / static_cast<double>(waters);
      EXPECT_NEAR(per_water, 29.9, 0.7) << model << waters;
    }
  }
}

TEST_F(Solvate, TheSoluteKeepsItsShapeInTheMiddle) {
  request.solute = chorismate;
  request.waters = 200;
  const SolvatedFiles files = write_solvated_files(request);
  const System system = read_system({files.coordinates, files.topology, {}, "chorismate", {}, {}});
  const Geometry geometry = read_xyz(chorismate);
  const Vector3 shift = system.solute->positions[0] - geometry.positions[0];
  for (std::size_t i = 0; i < geometry.positions.size(); ++i) {
    EXPECT_LT(norm(system.solute->positions[i] - geometry.positions[i] - shift), 2e-6);
    EXPECT_GT(system.solute->positions[i].x, 0);
    EXPECT_LT(system.solute->positions[i].x, system.box.lengths.x);
  }
}

TEST_F(Solvate, PureWaterAndEdges) {
  request.edge_angstrom = 20;
  SolvatedFiles files = write_solvated_files(request);
  EXPECT_NEAR(static_cast<double>(files.waters), 8000 / 29.89, 1);
  EXPECT_EQ(files.qm_molecule, "");
  request.edge_angstrom.reset();
  request.waters = 216;
  request.overwrite = true;
  files = write_solvated_files(request);
  EXPECT_NEAR(files.edge_angstrom, 18.6206, 1e-6);
  EXPECT_EQ(read_system({files.coordinates, files.topology, {}, "", {}, {}}).molecules.size(),
            216U);
}

std::size_t count_of(const System& system, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::count_if(system.molecules, [&](const Molecule& m) {
    return system.molecule_types[m.type].name == name;
  }));
}

/// Of all MM sites, elementary charges.
double mm_charge(const System& system) {
  double sum = 0;
  for (const Molecule& molecule : system.molecules) {
    for (const Site& site : system.molecule_types[molecule.type].sites) sum += site.charge;
  }
  return sum;
}

TEST_F(Solvate, SaltAndCounterIonsTakeThePlaceOfWaters) {
  struct Case {
    const char* ions;
    const char* anion;
    const char* cation;
    int charge;
    std::size_t anions;
    std::size_t cations;
  };
  request.solute = chorismate;
  request.waters = 600;
  request.ion_distance_angstrom = 5;
  request.overwrite = true;
  // The edge is 26.3 A: 0.2 mol/L are 2.19 formula units.
  for (const Case& expected :
       {Case{"NaCl:0.2", "CL", "NA", -2, 2, 4}, Case{"NaCl:0", "CL", "NA", -2, 0, 2},
        Case{"KBr:0.2", "BR", "K", 1, 3, 2}, Case{"MgCl2:0.2", "CL", "MG", -2, 4, 3},
        Case{"MgCl2:0", "CL", "MG", -1, 1, 1}, Case{"CaCl2:0", "CL", "CA", 3, 3, 0}}) {
    request.ions = expected.ions;
    request.charge = expected.charge;
    const SolvatedFiles files = write_solvated_files(request);
    ASSERT_NEAR(files.edge_angstrom, 26.3, 0.1);
    const System system =
        read_system({files.coordinates, files.topology, {}, "chorismate", {}, {}});
    EXPECT_EQ(count_of(system, expected.anion), expected.anions) << expected.ions;
    EXPECT_EQ(count_of(system, expected.cation), expected.cations) << expected.ions;
    EXPECT_EQ(system.molecules.size(), 600U);
    EXPECT_EQ(files.waters, 600 - expected.anions - expected.cations);
    EXPECT_NEAR(mm_charge(system) + expected.charge, 0, 1e-9) << expected.ions;
    EXPECT_GT(smallest_distance(system), 1.49);
    std::vector<Vector3> placed = system.solute->positions;
    for (const Molecule& molecule : system.molecules) {
      if (system.molecule_types[molecule.type].sites.size() > 1) continue;
      for (const Vector3& other : placed) {
        EXPECT_GT(norm(system.box.minimum_image(molecule.centre - other)), 5 - 1e-5);
      }
      placed.push_back(molecule.centre);
    }
  }
}

TEST_F(Solvate, IonsAreWhereTheSeedPutsThem) {
  std::map<int, std::string> texts;
  for (int i = 0; i < 3; ++i) {
    request.waters = 300;
    request.ions = "NaCl:0.3";
    request.seed = i < 2 ? 5 : 6;
    request.overwrite = true;
    texts[i] = text_of(write_solvated_files(request).coordinates);
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_NE(texts[0], texts[2]);
}

TEST_F(Solvate, RefusesSaltsThatAreNone) {
  request.waters = 100;
  for (const auto& [ions, part] : std::map<std::string, std::string>{{"NaCl", "NaCl:0.15"},
                                                                     {"NaCl:", "mol/L"},
                                                                     {"NaCl:-1", "mol/L"},
                                                                     {"NaCl:nan", "mol/L"},
                                                                     {"NaCl:1e9", "mol/L"},
                                                                     {"NaXy:0.1", "MG CA LI NA"},
                                                                     {":0.1", "MG CA LI NA"},
                                                                     {"Na:0.1", "MG CA LI NA"},
                                                                     {"ClNa:0.1", "cation first"},
                                                                     {"NaCl2:0.1", "neutral"},
                                                                     {"NaClx:0.1", "Clx"},
                                                                     {"NaClBr:0.1", "neutral"},
                                                                     {"Na0Cl0:0.1", "neutral"},
                                                                     {"NaCl:5", "ion-distance"}}) {
    request.ions = ions;
    EXPECT_THAT(input_error([&] { write_solvated_files(request); }),
                testing::AllOf(HasSubstr("--ions"), HasSubstr(part)))
        << ions;
  }
  request.solute = chorismate;
  request.charge = -1;
  request.ions = "MgCl2:0";
  request.waters = 600;
  EXPECT_NO_THROW(write_solvated_files(request));
}

TEST_F(Solvate, TheSameSeedGivesTheSameFiles) {
  std::map<int, std::string> texts;
  for (int i = 0; i < 3; ++i) {
    request.waters = 60;
    request.seed = i < 2 ? 5 : 6;
    request.overwrite = true;
    texts[i] = text_of(write_solvated_files(request).coordinates);
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_NE(texts[0], texts[2]);
}

TEST_F(Solvate, FiveThousandWatersLoadWithinASecond) {
  request.waters = 5000;
  const SolvatedFiles files = write_solvated_files(request);
  const std::clock_t start = std::clock();
  const System system = read_system({files.coordinates, files.topology, {}, "", {}, {}});
  [[maybe_unused]] const double cpu_seconds =
      static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_EQ(system.molecules.size(), 5000U);
#ifdef __OPTIMIZE__
  EXPECT_LT(cpu_seconds, 1.0);
#endif
}

TEST_F(Solvate, RefusesBadRequests) {
  const auto failure = [&] { return input_error([&] { write_solvated_files(request); }); };
  EXPECT_THAT(failure(), HasSubstr("give either --waters NUMBER or --box ANGSTROM"));
  request.waters = 0;
  EXPECT_THAT(failure(), HasSubstr("--waters: the number of waters is out of range, found '0'"));
  request.waters = 50;
  request.model = "tip33p";
  EXPECT_THAT(failure(), HasSubstr("found 'tip33p'\n  remedy: did you mean 'tip3p'?"));
  request.model = "tip3p";
  request.solute = folder / "none.xyz";
  EXPECT_THAT(failure(), HasSubstr("none.xyz: there is no such file"));
  request.solute = chorismate;
  request.waters = 3;
  EXPECT_THAT(failure(), HasSubstr("does not fit into the box"));
  request.waters.reset();
  request.edge_angstrom = std::nan("");
  EXPECT_THAT(failure(), HasSubstr("--box: the edge is out of range, found 'nan'"));
  request.edge_angstrom.reset();
  request.waters = 100;
  folder.write("out.top", "precious");
  EXPECT_THAT(failure(), HasSubstr("the file exists already"));
  EXPECT_EQ(text_of(folder / "out.top"), "precious");
  request.solute = folder.write("out.gro", "a solute");
  request.overwrite = true;
  EXPECT_THAT(failure(), HasSubstr("--solute: is the file that would be written"));
  EXPECT_EQ(text_of(folder / "out.gro"), "a solute");
}

TEST_F(Solvate, ATableWithAnUnknownTypeLeavesNoFiles) {
  request.solute = folder.write("he.xyz", "1\n\nHe 0 0 0\n");
  request.waters = 30;
  request.table = folder.write("types.txt", "type opls_13O He\n");
  const std::string message = input_error([&] { write_solvated_files(request); });
  EXPECT_THAT(message, HasSubstr("unknown atom type, found 'opls_13O'"));
  EXPECT_FALSE(std::filesystem::exists(folder / "out.gro"));
  EXPECT_FALSE(std::filesystem::exists(folder / "out.top"));
  request.table = folder.write("types.txt", "type opls_130 He # helium\n");
  EXPECT_EQ(write_solvated_files(request).qm_molecule, "he");
}

TEST_F(Solvate, RefusesElementsTheTableDoesNotHave) {
  request.waters = 60;
  for (const char* symbol : {"Si", "Zn", "B", "Fe"}) {
    request.solute = folder.write("x.xyz", std::string("1\n\n") + symbol + " 0 0 0\n");
    EXPECT_THAT(
        input_error([&] { write_solvated_files(request); }),
        testing::AllOf(HasSubstr("opls_types.txt: the table has no Lennard-Jones type for "
                                 "atom 1 of the solute"),
                       HasSubstr(std::string("found '") + symbol + "'"), HasSubstr("--table")));
  }
}

TEST_F(Solvate, AnotherElementsTypeIsWrittenAsOneOfItsOwn) {
  // Silane with a methyl's parameters, a zinc ion with magnesium's.
  request.waters = 60;
  request.solute = folder.write("silane.xyz",
                                "6\n\nSi 0 0 0\nH 0.855 0.855 0.855\nH -0.855 -0.855 0.855\n"
                                "H -0.855 0.855 -0.855\nH 0.855 -0.855 -0.855\nZn 6 0 0\n");
  request.table = folder.write(
      "types.txt", "type opls_138 Si bonds=4\ntype opls_140 H Si=1\ntype opls_411 Zn\n");
  const SolvatedFiles files = write_solvated_files(request);
  EXPECT_EQ(files.solute_electrons, 14 + 4 + 30);
  const System system = read_system({files.coordinates, files.topology, {}, "silane", {}, {}});
  EXPECT_THAT(system.solute->elements, testing::ElementsAre("Si", "H", "H", "H", "H", "Zn"));
  EXPECT_THAT(system.solute->atomic_numbers, testing::ElementsAre(14, 1, 1, 1, 1, 30));
  const auto type = read_atom_types(find_gromacs_file("oplsaa.ff/forcefield.itp")).at("opls_138");
  const std::size_t silicon = system.solute->types[0];
  EXPECT_EQ(system.force_field.site_type_names[silicon], "opls_138_Si");
  EXPECT_NEAR(system.force_field.parameters[silicon].sigma_angstrom, 10 * type.vdw.first, 1e-12);
  EXPECT_NEAR(system.force_field.parameters[silicon].epsilon, type.vdw.second, 1e-12);
}

TEST(GromacsFiles, AMissingOneNamesThePackage) {
  EXPECT_THAT(input_error([] { find_gromacs_file("no-such-water.gro"); }),
              HasSubstr("apt install gromacs-data"));
}

TEST(DataFolder, ObeysTheEnvironment) {
  const TemporaryFolder folder;
  folder.write("data/opls_types.txt", "");
  ::setenv("STARPMC_DATA", (folder / "data").c_str(), 1);
  EXPECT_EQ(data_folder(), folder / "data");
  ::setenv("STARPMC_DATA", (folder / "none").c_str(), 1);
  EXPECT_THAT(input_error([] { data_folder(); }),
              HasSubstr("STARPMC_DATA: the program's data files are not found"));
  ::unsetenv("STARPMC_DATA");
}

std::vector<std::string> built_in_types(const Geometry& geometry) {
  std::vector<std::string> names;
  for (const AssignedType& type : assign_atom_types(geometry, data_folder() / "opls_types.txt")) {
    names.push_back(type.name + (type.is_guess ? "?" : ""));
  }
  return names;
}

TEST(AtomTypes, GuessesAreMarked) {
  // H2NO, planar: OPLS-AA has no nitroxide.
  const Geometry nitroxide{
      "", {"N", "O", "H", "H"}, {{0, 0, 0}, {1.28, 0, 0}, {-0.5, 0.87, 0}, {-0.5, -0.87, 0}}};
  EXPECT_THAT(built_in_types(nitroxide),
              testing::ElementsAre("opls_900?", "opls_272?", "opls_240", "opls_240"));
}

TEST(AtomTypes, CarbonsAndIodineWithoutATypeOfTheirOwnAreGuesses) {
  const auto first_type = [](const Geometry& geometry) { return built_in_types(geometry).at(0); };
  // Carbon dioxide, a planar methyl and CH3I; then butadiyne's C2, ethylene and acetylene.
  EXPECT_EQ(first_type({"", {"C", "O", "O"}, {{0, 0, 0}, {0, 0, 1.16}, {0, 0, -1.16}}}),
            "opls_931?");
  const Vector3 h2{-0.54, 0.935, 0};
  const Vector3 h3{-0.54, -0.935, 0};
  EXPECT_EQ(first_type({"", {"C", "H", "H", "H"}, {{0, 0, 0}, {1.08, 0, 0}, h2, h3}}), "opls_141?");
  EXPECT_EQ(first_type({"",
                        {"I", "C", "H", "H", "H"},
                        {{0, 0, 2.14},
                         {0, 0, 0},
                         {1.03, 0, -0.35},
                         {-0.515, 0.892, -0.35},
                         {-0.515, -0.892, -0.35}}}),
            "opls_732?");
  EXPECT_EQ(
      first_type(
          {"",
           {"C", "C", "C", "C", "H", "H"},
           {{0, 0, 0}, {0, 0, 1.2}, {0, 0, -1.38}, {0, 0, -2.58}, {0, 0, 2.26}, {0, 0, -3.64}}}),
      "opls_931");
  EXPECT_EQ(first_type({"",
                        {"C", "C", "H", "H", "H", "H"},
                        {{0, 0, 0}, {1.33, 0, 0}, h2, h3, {1.87, 0.935, 0}, {1.87, -0.935, 0}}}),
            "opls_143");
  EXPECT_EQ(
      first_type({"", {"C", "C", "H", "H"}, {{0, 0, 0}, {0, 0, 1.2}, {0, 0, -1.06}, {0, 0, 2.26}}}),
      "opls_925");
}

TEST(AtomTypes, IonsOfOneAtom) {
  const auto type_of = [](const char* element) {
    return built_in_types({"", {element}, {{0, 0, 0}}}).at(0);
  };
  EXPECT_EQ(type_of("Cl"), "opls_401");
  EXPECT_EQ(type_of("Na"), "opls_407");
  EXPECT_EQ(type_of("Ca"), "opls_412");
}

TEST(AtomTypes, OfTheSolutesOfThePaper) {
  const auto types = built_in_types(read_xyz(chorismate));
  EXPECT_THAT(types, testing::ElementsAre(
                         "opls_143", "opls_141", "opls_271", "opls_272", "opls_272", "opls_180",
                         "opls_137", "opls_142", "opls_141", "opls_142", "opls_142", "opls_137",
                         "opls_154", "opls_271", "opls_272", "opls_272", "opls_144", "opls_144",
                         "opls_140", "opls_144", "opls_144", "opls_144", "opls_140", "opls_155"));
}

TEST(AtomTypes, AromaticRingsAndFunctionalGroups) {
  // Phenol, planar: ring radius 1.39, CH 1.08, CO 1.36, OH 0.96 angstrom.
  Geometry phenol{"phenol", {}, {}};
  for (int i = 0; i < 6; ++i) {
    const double angle = std::acos(-1.0) / 3 * i;
    const Vector3 outward{std::cos(angle), std::sin(angle), 0};
    phenol.elements.emplace_back("C");
    phenol.positions.push_back(1.39 * outward);
    phenol.elements.emplace_back(i == 0 ? "O" : "H");
    phenol.positions.push_back((1.39 + (i == 0 ? 1.36 : 1.08)) * outward);
  }
  phenol.elements.emplace_back("H");
  phenol.positions.push_back({2.75 + 0.32, 0.905, 0});
  const auto types = built_in_types(phenol);
  EXPECT_THAT(types,
              testing::ElementsAre("opls_145", "opls_167", "opls_145", "opls_146", "opls_145",
                                   "opls_146", "opls_145", "opls_146", "opls_145", "opls_146",
                                   "opls_145", "opls_146", "opls_155"));
}

TEST(AtomTypes, BadTablesAreExplained) {
  const TemporaryFolder folder;
  const Geometry carbon{"", {"C"}, {{0, 0, 0}}};
  const auto failure = [&](const char* table) {
    const auto file = folder.write("t.txt", table);
    return input_error([&] { assign_atom_types(carbon, file); });
  };
  EXPECT_THAT(failure("# nothing\n"), HasSubstr("the table has no Lennard-Jones type for atom 1"));
  EXPECT_THAT(failure("type a C bonds=1\n"),
              HasSubstr("no rule gives a Lennard-Jones type for atom 1"));
  EXPECT_THAT(failure("\nkind a C\n"), HasSubstr("t.txt:2: not a rule"));
  EXPECT_THAT(failure("type a C Qq=1\n"), HasSubstr("t.txt:1: a condition names neither"));
  EXPECT_THAT(failure("type a C H>1\n"), HasSubstr("use =, >= or <="));
  EXPECT_THAT(failure("type a C H=x\n"), HasSubstr("found 'x'"));
  EXPECT_THAT(failure("type a C bonds\n"), HasSubstr("found 'bonds'"));
}

}  // namespace
}  // namespace starpmc
