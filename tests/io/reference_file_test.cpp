#include "io/reference_file.hpp"

#include <gmock/gmock.h>

#include "kernels/base/error.hpp"
#include "tests/io/temporary_folder.hpp"

namespace starpmc {
namespace {

using testing::HasSubstr;

LatticeValues values(int components, int nodes) {
  LatticeValues made;
  PotentialLattice& lattice = made.lattice;
  lattice.levels = 1;
  lattice.components = components;
  for (int k = 0; k < 3; ++k) {
    lattice.box[k] = 20 + k;
    lattice.inverse_box[k] = 1.0 / lattice.box[k];
    lattice.centre[k] = 0.1 * k;
    lattice.level[0].origin[k] = -1.5;
    lattice.level[0].nodes[k] = nodes;
  }
  lattice.level[0].inverse_spacing = 2;
  for (int i = 0; i < nodes * nodes * nodes * components; ++i) {
    made.values.push_back(1.0F / static_cast<float>(i + 3));
  }
  return made;
}

SoluteReference example() {
  SoluteReference reference;
  reference.identity = {{"O", "H"},  {{1, 2, 3}, {1.1, 2, 3}},
                        -1,          1,
                        "pyscf",     "pbe",
                        "def2-svp",  true,
                        50,          194,
                        "built-in",  10,
                        {20, 21, 22}};
  reference.solute_energy_kj_per_mol = -1.0 / 3;
  reference.isolated_energy_kj_per_mol = -2.0 / 3;
  reference.dipole_debye = {0.1, 0.2, 0.3};
  reference.worker_state = {1, 2.5, -1e-300};
  reference.potential = values(1, 5);
  reference.response = values(16, 4);
  reference.components = 3;
  reference.mean_response = {0.25, 1.0 / 7, -3};
  reference.widths = {{0, -1, 0.5}, {3, 0, 0.1}};
  reference.isolated_dipole_debye = {{0, 0, 1}};
  reference.configurations = 12;
  reference.table_error = {0.004, 0.05, 100000};
  reference.response_error = {0.002, 0.03, 10500};
  reference.memory_mb = 77;
  reference.seconds = 5;
  return reference;
}

std::string problem_of(const std::filesystem::path& path) {
  try {
    read_reference(path, "qm.reference", "make it anew");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(ReferenceFile, ComesBackToTheLastBit) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "reference.h5";
  const SoluteReference written = example();
  write_reference(path, written);
  const SoluteReference read = read_reference(path, "", "");
  EXPECT_EQ(read.identity, written.identity);
  EXPECT_EQ(read.worker_state, written.worker_state);
  EXPECT_EQ(read.potential.values, written.potential.values);
  EXPECT_EQ(read.table_error, written.table_error);
  EXPECT_EQ(read.response_error, written.response_error);
  EXPECT_EQ(read.response.values, written.response.values);
  EXPECT_EQ(read.mean_response, written.mean_response);
  EXPECT_EQ(read.solute_energy_kj_per_mol, written.solute_energy_kj_per_mol);
  EXPECT_EQ(read.response.lattice.inverse_box[1], written.response.lattice.inverse_box[1]);
  EXPECT_EQ(read.widths.back().width, 0.1);
  EXPECT_EQ(read.isolated_dipole_debye, written.isolated_dipole_debye);
  EXPECT_EQ(digest(read), digest(written));
  EXPECT_EQ(difference(read.identity, written.identity), "");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(ReferenceFile, WithoutAResponse) {
  const test::TemporaryFolder folder;
  SoluteReference written = example();
  written.response = {};
  written.components = 0;
  written.mean_response.clear();
  write_reference(folder.path() / "r.h5", written);
  EXPECT_EQ(digest(read_reference(folder.path() / "r.h5", "", "")), digest(written));
}

TEST(ReferenceFile, WhatIsCutOrDamagedIsRefused) {
  const test::TemporaryFolder folder;
  const std::filesystem::path whole = folder.path() / "reference.h5";
  write_reference(whole, example());
  const std::string bytes = test::read_all(whole);
  EXPECT_THAT(problem_of(folder.path() / "none.h5"), HasSubstr("there is no such file"));
  EXPECT_THAT(problem_of(folder.write("text.h5", "reference")),
              testing::AllOf(HasSubstr("qm.reference"), HasSubstr("make it anew")));
  std::vector<std::size_t> lengths{0, 100, bytes.size() - 1};
  for (std::size_t part = 1; part < 20; ++part) lengths.push_back(part * bytes.size() / 20);
  for (const std::size_t length : lengths) {
    EXPECT_THAT(problem_of(folder.write("cut.h5", bytes.substr(0, length))),
                testing::AllOf(HasSubstr("not a complete reference density"), HasSubstr("cut.h5"),
                               HasSubstr("make it anew")))
        << length;
  }
  // A changed byte of each array, and of the header.
  for (const std::string& what :
       {std::string("def2-svp"), std::string("\x00\x00\x00\x00\x00\x00\x04\x40", 8)}) {
    std::string damaged = bytes;
    const std::size_t place = damaged.rfind(what);
    ASSERT_NE(place, std::string::npos);
    damaged[place + what.size() - 1] ^= 1;
    EXPECT_THAT(problem_of(folder.write("damaged.h5", damaged)), HasSubstr("checksum"));
  }
}

TEST(ReferenceFile, ATableThatNoKernelReadsIsRefused) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "reference.h5";
  for (const int components : {3, 8, 24}) {
    SoluteReference odd = example();
    odd.response = values(components, 4);
    write_reference(path, odd);
    EXPECT_THAT(problem_of(path),
                testing::AllOf(HasSubstr(path.string()), HasSubstr("no multiple of the 16"),
                               HasSubstr(std::to_string(components)), HasSubstr("make it anew")));
  }
  SoluteReference wide = example();
  wide.potential = values(16, 4);
  write_reference(path, wide);
  EXPECT_THAT(problem_of(path), HasSubstr("potential has 16 components, not one"));
  SoluteReference none = example();
  none.potential = {};
  write_reference(path, none);
  EXPECT_THAT(problem_of(path), HasSubstr("potential has 0 components"));
}

TEST(ReferenceFile, WhatDiffersIsNamed) {
  const ReferenceIdentity expected = example().identity;
  const auto problem = [&](const auto& change) {
    ReferenceIdentity other = expected;
    change(other);
    return difference(other, expected);
  };
  EXPECT_THAT(problem([](auto& i) { i.elements = {"C"}; }), HasSubstr("it is of C"));
  EXPECT_THAT(problem([](auto& i) { i.positions[1].x += 0.01; }), HasSubstr("atom 2"));
  EXPECT_THAT(problem([](auto& i) { i.charge = 0; }), HasSubstr("charge is 0, here it is -1"));
  EXPECT_THAT(problem([](auto& i) { i.multiplicity = 3; }), HasSubstr("multiplicity"));
  EXPECT_THAT(problem([](auto& i) { i.engine = "psi4"; }), HasSubstr("psi4"));
  EXPECT_THAT(problem([](auto& i) { i.method = "hf"; }), HasSubstr("method is hf"));
  EXPECT_THAT(problem([](auto& i) { i.basis = "sto-3g"; }), HasSubstr("sto-3g"));
  EXPECT_THAT(problem([](auto& i) { i.density_fitting = false; }), HasSubstr("fitting"));
  EXPECT_THAT(problem([](auto& i) { i.scf_grid_radial = 35; }), HasSubstr("35"));
  EXPECT_THAT(problem([](auto& i) { i.scf_grid_angular = 302; }), HasSubstr("302"));
  EXPECT_THAT(problem([](auto& i) { i.coulomb = "1/r"; }), HasSubstr("1/r"));
  EXPECT_THAT(problem([](auto& i) { i.coulomb_cutoff_angstrom = 9; }), HasSubstr("cutoff"));
  EXPECT_THAT(problem([](auto& i) { i.box.z = 9; }), HasSubstr("edge z"));
}

}  // namespace
}  // namespace starpmc
