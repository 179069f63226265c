#include "system/read_system.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "system/gro_file.hpp"
#include "system/rigid_geometry.hpp"
#include "system/xyz_file.hpp"
#include "tests/system/temporary_folder.hpp"

namespace starpmc {
namespace {

using test::TemporaryFolder;
using test::test_data;
using testing::HasSubstr;

System read(const std::string& name) {
  return read_system({test_data(name + ".gro"), test_data(name + ".top"), {}, "", {}, {}});
}

/// Largest distance (angstrom) of a fitted site from its coordinates in the file.
double largest_deviation(const System& system, const GroFile& file) {
  double largest = 0;
  std::size_t atom = 0;
  for (const Molecule& molecule : system.molecules) {
    for (std::size_t s = 0; s < system.molecule_types[molecule.type].sites.size(); ++s, ++atom) {
      const Vector3 d = site_position(system, molecule, s) - file.atoms[atom].position;
      largest = std::max(largest, norm(system.box.minimum_image(d)));
    }
  }
  return largest;
}

/// Truncated Lennard-Jones energy, the plainest way (kJ/mol).
double lennard_jones_energy(const System& system, double cutoff_angstrom) {
  std::vector<Vector3> r;
  std::vector<std::size_t> type;
  std::vector<std::size_t> owner;
  for (std::size_t m = 0; m < system.molecules.size(); ++m) {
    const auto& sites = system.molecule_types[system.molecules[m].type].sites;
    for (std::size_t s = 0; s < sites.size(); ++s) {
      r.push_back(site_position(system, system.molecules[m], s));
      type.push_back(sites[s].type);
      owner.push_back(m);
    }
  }
  double energy = 0;
  for (std::size_t i = 0; i < r.size(); ++i) {
    for (std::size_t j = i + 1; j < r.size(); ++j) {
      const Vector3 d = system.box.minimum_image(r[j] - r[i]);
      const double r2 = dot(d, d);
      if (owner[i] == owner[j] || r2 >= cutoff_angstrom * cutoff_angstrom) continue;
      const LennardJones& pair = system.force_field.pair(type[i], type[j]);
      const double r6 = r2 * r2 * r2;
      energy += pair.c12 / (r6 * r6) - pair.c6 / r6;
    }
  }
  return energy;
}

TEST(Nist, LennardJonesConfigurationsKeepAllDigits) {
  for (const auto& [name, count, edge, energy3] :
       {std::tuple{"nist/lj_1", 800U, 10.0, -4.3515e3}, {"nist/lj_2", 200U, 8.0, -6.9000e2}}) {
    const System system = read(name);
    ASSERT_EQ(system.molecules.size(), count);
    EXPECT_NEAR(system.box.lengths.x, edge, 1e-13);
    EXPECT_NEAR(system.force_field.pair(0, 0).c6, 4, 1e-13);
    EXPECT_NEAR(system.force_field.pair(0, 0).c12, 4, 1e-13);
    EXPECT_EQ(system.molecules.front().orientation, Quaternion{});
    EXPECT_NEAR(lennard_jones_energy(system, 3), energy3, std::abs(energy3) * 2e-5);
  }
  const Vector3 first = read("nist/lj_1").molecules.front().centre;
  EXPECT_NEAR(first.x, -1.126362593256e-1, 1e-15);
  EXPECT_NEAR(first.y, 1.385093082507e0, 1e-14);
  EXPECT_NEAR(first.z, -8.842035145736e-1, 1e-15);
}

TEST(Nist, SpceGeometryIsRigidToNanoAngstrom) {
  for (const auto& [name, count, kelvin] :
       {std::tuple{"nist/spce_1", 100U, 9.95387e4}, {"nist/spce_2", 200U, 1.93712e5}}) {
    const System system = read(name);
    ASSERT_EQ(system.molecules.size(), count);
    const GroFile file = read_gro(test_data(std::string(name) + ".gro"));
    EXPECT_LT(largest_deviation(system, file), 1e-9);
    EXPECT_NEAR(lennard_jones_energy(system, 10) / 0.0083144621, kelvin, 0.6);
  }
}

TEST(Small, HoldsSoluteAndWaters) {
  const System system = read_system(
      {test_data("small/small.gro"), test_data("small/small.top"), {}, "formaldehyde", {}, {}});
  ASSERT_TRUE(system.solute);
  EXPECT_THAT(system.solute->elements, testing::ElementsAre("C", "O", "H", "H"));
  EXPECT_THAT(system.solute->atomic_numbers, testing::ElementsAre(6, 8, 1, 1));
  EXPECT_EQ(system.molecules.size(), 64U);
  ASSERT_EQ(system.molecule_types.size(), 1U);
  EXPECT_EQ(system.max_sites(), 3U);
  const MoleculeType& water = system.molecule_types[0];
  EXPECT_NEAR(norm(water.sites[0].reference - water.sites[1].reference), 0.9572, 1e-14);
  EXPECT_NEAR(norm(water.sites[1].reference - water.sites[2].reference), 1.5139, 1e-14);
  Vector3 moment;
  for (const Site& site : water.sites) moment = moment + site.mass * site.reference;
  EXPECT_LT(norm(moment), 1e-14);
  EXPECT_EQ(water.sites[0].element, "O");
  EXPECT_EQ(water.sites[1].element, "H");
  EXPECT_GT(water.radius_angstrom(), 0.85);
  // Only the types in use are kept.
  EXPECT_EQ(system.force_field.type_count(), 5U);
  for (const Molecule& m : system.molecules) {
    const Quaternion& q = m.orientation;
    EXPECT_NEAR(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, 1, 1e-14);
  }
}

TEST(Small, WithoutQmMoleculeAllIsMm) {
  const System system = read_system({test_data("small/small.gro"),
                                     test_data("small/small.top"),
                                     {},
                                     "",
                                     {},
                                     {},
                                     {"formaldehyde"}});
  EXPECT_FALSE(system.solute);
  EXPECT_THAT(system.notes, testing::ElementsAre(HasSubstr("formaldehyde is kept rigid")));
  EXPECT_EQ(system.molecules.size(), 65U);
  EXPECT_EQ(system.molecule_types.size(), 2U);
}

TEST(Argon, OneSiteMolecules) {
  const System system = read("argon/argon");
  ASSERT_EQ(system.molecules.size(), 108U);
  EXPECT_EQ(system.molecule_types[0].sites[0].element, "Ar");
  EXPECT_EQ(system.molecule_types[0].radius_angstrom(), 0);
  EXPECT_LT(lennard_jones_energy(system, 8), -108 * 3.0);
}

TEST(SoluteFile, SuppliesMoreDigitsOrTheWholeMolecule) {
  const TemporaryFolder folder;
  const System plain = read_system(
      {test_data("small/small.gro"), test_data("small/small.top"), {}, "formaldehyde", {}, {}});
  Geometry geometry{"", plain.solute->elements, plain.solute->positions};
  for (Vector3& r : geometry.positions) r.x += 0.001234;
  const auto solute = folder.write("s.xyz", format_xyz(geometry));
  const System finer = read_system(
      {test_data("small/small.gro"), test_data("small/small.top"), solute, "formaldehyde", {}, {}});
  EXPECT_NEAR(finer.solute->positions[0].x, plain.solute->positions[0].x + 0.001234, 1e-9);

  GroFile gro = read_gro(test_data("small/small.gro"));
  gro.atoms.erase(gro.atoms.begin(), gro.atoms.begin() + 4);
  const auto waters = folder.write("w.gro", format_gro("waters", gro.atoms, gro.box, 7));
  const System joined =
      read_system({waters, test_data("small/small.top"), solute, "formaldehyde", {}, {}});
  EXPECT_EQ(joined.molecules.size(), 64U);
  EXPECT_EQ(joined.solute->positions, finer.solute->positions);
}

TEST(SoluteFile, InGroNamesAreWitnesses) {
  const TemporaryFolder folder;
  GroFile gro = read_gro(test_data("small/small.gro"));
  gro.atoms.resize(4);
  const auto read_with = [&](const char* first_name) {
    gro.atoms[0].atom_name = first_name;
    const auto solute = folder.write("s.gro", format_gro("solute", gro.atoms, gro.box, 7));
    return read_system({test_data("small/small.gro"),
                        test_data("small/small.top"),
                        solute,
                        "formaldehyde",
                        {},
                        {}});
  };
  EXPECT_EQ(read_with("CA").solute->elements.front(), "C");  // or calcium; the type decides
  EXPECT_EQ(read_with("X").solute->elements.front(), "C");
  EXPECT_THAT(test::input_error([&] { read_with("N1"); }),
              testing::AllOf(HasSubstr("small.top:22: the element of atom 1 (C1)"),
                             HasSubstr("s.gro:3) stands for N")));
}

/// The first four atoms of the small system, formaldehyde, moved up and wrapped atom by atom: the
/// boundary z = 0 goes through the C=O bond.
GroFile broken_formaldehyde() {
  GroFile gro = read_gro(test_data("small/small.gro"));
  for (GroAtom& atom : gro.atoms) {
    atom.position.z = std::fmod(atom.position.z + 6, gro.box.lengths.z);
  }
  return gro;
}

/// Distances of all pairs of the solute's atoms, one after the other.
std::vector<double> distances(std::span<const Vector3> positions) {
  std::vector<double> all;
  for (const Vector3& a : positions) {
    for (const Vector3& b : positions) all.push_back(norm(a - b));
  }
  return all;
}

TEST(SoluteFile, ABrokenMoleculeIsMadeWhole) {
  const TemporaryFolder folder;
  const System plain = read_system(
      {test_data("small/small.gro"), test_data("small/small.top"), {}, "formaldehyde", {}, {}});
  const std::vector<double> right = distances(plain.solute->positions);
  const GroFile gro = broken_formaldehyde();
  const auto all = folder.write("all.gro", format_gro("all", gro.atoms, gro.box, 7));
  const std::span<const GroAtom> atoms = gro.atoms;
  const auto solute = folder.write("s.gro", format_gro("solute", atoms.first(4), gro.box, 7));
  const auto waters = folder.write("w.gro", format_gro("waters", atoms.subspan(4), gro.box, 7));
  for (const auto& coordinates : {all, waters}) {
    const System system =
        read_system({coordinates, test_data("small/small.top"), solute, "formaldehyde", {}, {}});
    EXPECT_THAT(distances(system.solute->positions),
                testing::Pointwise(testing::DoubleNear(1e-5), right));
  }
  // As starpmc solvate reads it: the elements, too, follow from neighbours.
  const Geometry geometry = read_geometry(solute);
  EXPECT_THAT(distances(geometry.positions), testing::Pointwise(testing::DoubleNear(1e-5), right));
  EXPECT_EQ(geometry.elements, plain.solute->elements);
}

TEST(SoluteFile, ThatIsBrokenWithoutABoxIsRefused) {
  const TemporaryFolder folder;
  const GroFile gro = broken_formaldehyde();
  Geometry geometry{"", {"C", "O", "H", "H"}, {}};
  for (std::size_t i = 0; i < 4; ++i) geometry.positions.push_back(gro.atoms[i].position);
  const auto all = folder.write("all.gro", format_gro("all", gro.atoms, gro.box, 7));
  const auto solute = folder.write("s.xyz", format_xyz(geometry));
  EXPECT_THAT(test::input_error([&] {
                read_system({all, test_data("small/small.top"), solute, "formaldehyde", {}, {}});
              }),
              testing::AllOf(HasSubstr("s.xyz:"), HasSubstr("all.gro:"),
                             HasSubstr("another one than in"), HasSubstr("-pbc mol")));
}

TEST(SoluteFile, AWholeMoleculeInATightBoxStaysAsItIs) {
  const TemporaryFolder folder;
  // Its ends are nearer to each other over the boundary than the bonds are long.
  const std::vector<GroAtom> atoms{{1, "M", "C1", {0.2, 1, 1}},
                                   {1, "M", "C2", {1.7, 1, 1}},
                                   {1, "M", "C3", {3.2, 1, 1}},
                                   {1, "M", "C4", {4.7, 1, 1}}};
  const auto file = folder.write("m.gro", format_gro("chain", atoms, {{5.0, 5.0, 5.0}}, 7));
  const Geometry geometry = read_geometry(file);
  for (std::size_t i = 0; i < atoms.size(); ++i) {
    EXPECT_LT(norm(geometry.positions[i] - atoms[i].position), 1e-6) << i;
  }
}

TEST(SoluteFile, OfADistanceThatStaysOpenIsRefused) {
  const TemporaryFolder folder;
  const std::vector<GroAtom> atoms{{1, "M", "C1", {1, 1, 1}}, {1, "M", "C2", {8, 1, 1}}};
  const auto file = folder.write("m.gro", format_gro("pair", atoms, {{12, 12, 12}}, 7));
  EXPECT_THAT(test::input_error([&] { read_geometry(file); }),
              testing::AllOf(HasSubstr("m.gro:4: neighbouring atoms 2 (C2) and 1 (C1)"),
                             HasSubstr("7.000 as well as 5.000")));
}

TEST(SoluteFile, OfSeveralFramesIsRefused) {
  const TemporaryFolder folder;
  const std::vector<GroAtom> atoms{{1, "M", "C1", {1, 1, 1}}, {1, "M", "O2", {2.2, 1, 1}}};
  const std::string frame = format_gro("t=", atoms, {{12, 12, 12}}, 7);
  const auto file = folder.write("m.gro", frame + frame + "\n\n");
  EXPECT_THAT(test::input_error([&] { read_geometry(file); }),
              testing::AllOf(HasSubstr("m.gro:6: another frame"), HasSubstr("found '2 frames'"),
                             HasSubstr("head -n 5")));
  // As system.solute it is read, and nothing is said of it beside errors of other files.
  EXPECT_THAT(test::input_error([&] {
                read_system({folder / "none.gro", folder / "none.top", file, "M", {}, {}});
              }),
              testing::AllOf(HasSubstr("none.top"), testing::Not(HasSubstr("m.gro"))));
}

TEST(Wrapping, MoleculesBrokenOverTheBoundaryAreTheSame) {
  const TemporaryFolder folder;
  GroFile gro = read_gro(test_data("small/small.gro"));
  for (GroAtom& atom : gro.atoms) {
    atom.position = gro.box.minimum_image(atom.position + Vector3{3, -4, 50});
  }
  const System shifted =
      read_system({folder.write("x.gro", format_gro("broken", gro.atoms, gro.box, 9)),
                   test_data("small/small.top"),
                   {},
                   "formaldehyde",
                   {},
                   {}});
  const System plain = read_system(
      {test_data("small/small.gro"), test_data("small/small.top"), {}, "formaldehyde", {}, {}});
  for (std::size_t m = 0; m < plain.molecules.size(); ++m) {
    const Vector3 d = shifted.molecules[m].centre - plain.molecules[m].centre - Vector3{3, -4, 50};
    EXPECT_LT(norm(plain.box.minimum_image(d)), 1e-6);
  }
}

constexpr const char* dumbbell_topology =
    "[ defaults ]\n1 3\n[ atomtypes ]\nX 18 39.9 0 A 0.1 1\n"
    "[ moleculetype ]\nD 1\n[ atoms ]\n1 X 1 D X1 1\n2 X 1 D X2 1\n"
    "[ system ]\nx\n[ molecules ]\nD 1\n";

/// The dumbbell's length as it is read from sites at x and x + length in a box of 12 A.
double dumbbell_length(double x, double length, const char* topology = dumbbell_topology) {
  const TemporaryFolder folder;
  const std::vector<GroAtom> atoms{{1, "D", "X1", {x, 6, 6}}, {1, "D", "X2", {x + length, 6, 6}}};
  const System system =
      read_system({folder.write("d.gro", format_gro("dumbbell", atoms, {{12, 12, 12}}, 6)),
                   folder.write("d.top", topology),
                   {},
                   "",
                   {},
                   {},
                   {"D"}});
  const auto& sites = system.molecule_types[0].sites;
  return norm(sites[0].reference - sites[1].reference);
}

TEST(NeighbouringSites, MoreThanHalfAnEdgeApartAreRefused) {
  EXPECT_THAT(test::input_error([] { dumbbell_length(2, 7); }),
              testing::AllOf(HasSubstr("d.gro:4: neighbouring atoms 2 (X2) and 1 (X1, "),
                             HasSubstr("d.gro:3) of molecule D"),
                             HasSubstr("may be 7.000 as well as 5.000 angstrom"),
                             HasSubstr("edges are more than twice the distances")));
  EXPECT_NEAR(dumbbell_length(2, 5), 5, 1e-9);       // whole, as it is written
  EXPECT_NEAR(dumbbell_length(1, 10.5), 1.5, 1e-9);  // broken over the boundary
  EXPECT_NEAR(dumbbell_length(13, -13.5), 1.5, 1e-9);
}

TEST(NeighbouringSites, HaveTheirConstraintsLengths) {
  std::string topology = dumbbell_topology;
  topology.insert(topology.find("[ system ]"), "[ constraints ]\n1 2 1 0.5\n");
  EXPECT_NEAR(dumbbell_length(2, 5.02, topology.c_str()), 5, 1e-9);
  // Three atoms in a row with the third hung on an unknown length: the geometry is the file's.
  topology = dumbbell_topology;
  topology.insert(topology.find("[ system ]"),
                  "3 X 1 D X3 1\n[ constraints ]\n1 2 1 0.5\n2 3 1\n1 3 1\n");
  const TemporaryFolder folder;
  const std::vector<GroAtom> atoms{
      {1, "D", "X1", {2, 6, 6}}, {1, "D", "X2", {6, 6, 6}}, {1, "D", "X3", {6, 7, 6}}};
  const auto gro = folder.write("d.gro", format_gro("three", atoms, {{20, 20, 20}}, 6));
  const auto top = folder.write("d.top", topology);
  EXPECT_THAT(test::input_error([&] {
                read_system({gro, top, {}, "", {}, {}});
              }),
              testing::AllOf(HasSubstr("another length than this constraint's 5.000 angstrom"),
                             HasSubstr("found '4.000 angstrom'")));
}

constexpr const char* mixture_topology =
    "[ defaults ]\n1 3\n[ atomtypes ]\nX 18 39.9 0 A 0.1 1\nY 10 20.2 0 A 0.1 1\n"
    "Z 2 4 0 A 0.1 1\n"
    "[ moleculetype ]\nB 1\n[ atoms ]\n1 X 1 B X1 1\n2 X 1 B X2 1\n3 X 1 B X3 1\n4 X 1 B X4 1\n"
    "[ moleculetype ]\nA 1\n[ atoms ]\n1 Y 1 A Y1 1\n"
    "[ moleculetype ]\nunused 1\n[ atoms ]\n1 Z 1 Z Z 1\n"
    "[ system ]\nx\n[ molecules ]\nA 1\nB 1\nA 1\nB 1\nunused 0\n";

std::string mixture_coordinates(double last_x) {
  std::vector<GroAtom> atoms;
  const auto add = [&](const char* name, Vector3 r) { atoms.push_back({1, "M", name, r}); };
  const auto add_molecule = [&](Vector3 r, double x) {
    add("X1", r);
    add("X2", r + Vector3{1, 0, 0});
    add("X3", r + Vector3{0, 1.5, 0});
    add("X4", r + Vector3{x, 0, 2});
  };
  add("Y1", {1, 1, 1});
  add_molecule({5, 5, 5}, 0.3);
  add("Y1", {1, 9, 1});
  add_molecule({10, 5, 5}, last_x);
  return format_gro("mixture", atoms, {{20, 20, 20}}, 6);
}

TEST(Mixture, IsSortedByTypeAndTakesGeometryFromTheFirstInstance) {
  const TemporaryFolder folder;
  const System system = read_system({folder.write("m.gro", mixture_coordinates(0.3)),
                                     folder.write("m.top", mixture_topology),
                                     {},
                                     "",
                                     {},
                                     {},
                                     {"B"}});
  ASSERT_EQ(system.molecule_types.size(), 2U);
  EXPECT_EQ(system.molecule_types[0].name, "A");
  std::vector<std::size_t> types;
  for (const Molecule& m : system.molecules) types.push_back(m.type);
  EXPECT_THAT(types, testing::ElementsAre(0, 0, 1, 1));
  EXPECT_NEAR(system.molecules[1].centre.y, 9, 1e-12);
  EXPECT_NEAR(system.molecules[3].centre.x - system.molecules[2].centre.x, 5, 1e-9);
  EXPECT_EQ(system.force_field.type_count(), 2U);
}

TEST(Mixture, AnotherConformationIsAnError) {
  const TemporaryFolder folder;
  const auto gro = folder.write("m.gro", mixture_coordinates(0.9));
  const auto top = folder.write("m.top", mixture_topology);
  const std::string message = test::input_error([&] {
    read_system({gro, top, {}, "", {}, {}, {"B"}});
  });
  EXPECT_THAT(message, HasSubstr("m.gro:9: molecule B does not have the geometry"));
  EXPECT_THAT(message, HasSubstr("flexible"));
}

}  // namespace
}  // namespace starpmc
