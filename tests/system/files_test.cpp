// Coordinates: .gro, .xyz and .pqr.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "system/elements.hpp"
#include "system/gro_file.hpp"
#include "system/pqr_file.hpp"
#include "system/preprocessor.hpp"
#include "system/read_system.hpp"
#include "system/xyz_file.hpp"
#include "tests/system/temporary_folder.hpp"

namespace starpmc {
namespace {

using test::TemporaryFolder;
using test::test_data;
using testing::HasSubstr;

TEST(Gro, ReadsColumnsOfAnyPrecision) {
  const TemporaryFolder folder;
  const GroFile three = read_gro(folder.write("three.gro",
                                              "title\n2\n"
                                              "    1SOL     OW    1    .230  -1.628   0.113\n"
                                              "    1SOL    HW1    2   0.137   0.626   0.150\n"
                                              "   1.86206   1.86206   1.9\n"));
  ASSERT_EQ(three.atoms.size(), 2U);
  EXPECT_NEAR(three.atoms[0].position.x, 2.30, 1e-14);
  EXPECT_NEAR(three.atoms[0].position.y, -16.28, 1e-14);
  EXPECT_EQ(three.atoms[1].atom_name, "HW1");
  EXPECT_EQ(three.atoms[1].line, 4U);
  EXPECT_NEAR(three.box.lengths.z, 19, 1e-13);
  const GroFile nine =
      read_gro(folder.write("nine.gro",
                            "title\n1\n"
                            "99999ABCDE FGHI99999 -10.123456789   2.000000001   3.123456789\n"
                            "20 20 20 0 0 0 0 0 0\n"));
  EXPECT_EQ(nine.atoms[0].residue_name, "ABCDE");
  EXPECT_NEAR(nine.atoms[0].position.x, -101.23456789, 1e-12);
}

TEST(Gro, ReadsTheFirstFrameAndSkipsVelocities) {
  const TemporaryFolder folder;
  const std::string frame =
      "t= 0\r\n1\r\n    1SOL     OW    1   0.230   0.628   0.113  0.1234 -0.5678  0.9012\r\n"
      "   2.0   2.0   2.0\r\n";
  const GroFile file = read_gro(folder.write("two.gro", frame + frame));
  EXPECT_EQ(file.title, "t= 0");
  EXPECT_NEAR(file.atoms[0].position.z, 1.13, 1e-14);
}

TEST(Gro, WhatIsWrittenReadsBack) {
  const TemporaryFolder folder;
  const std::vector<GroAtom> atoms{{1, "CHORI", "C1", {1.23456789, -2.5, 123.4}},
                                   {100001, "SOL", "OW", {0, 0.00001, 9.99999}}};
  const auto path = folder.write("x.gro", format_gro("a title", atoms, {{24.5, 30, 12.123456}}, 8));
  const GroFile file = read_gro(path);
  ASSERT_EQ(file.atoms.size(), 2U);
  EXPECT_EQ(file.atoms[0].residue_name, "CHORI");
  EXPECT_EQ(file.atoms[1].residue_number, 1);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_LT(norm(file.atoms[i].position - atoms[i].position), 1e-7);
  }
  EXPECT_NEAR(file.box.lengths.z, 12.123456, 1e-7);
}

TEST(Gro, ResidueNumbersNeedNotBeNumbers) {
  const TemporaryFolder folder;
  const auto number = [&](const std::string& text) {
    const std::string line = text + "SOL     OW    1   0.230   0.628   0.113\n";
    const GroFile file = read_gro(folder.write("a.gro", "t\n1\n" + line + "2.0 2.0 2.0\n"));
    EXPECT_EQ(file.atoms[0].residue_name, "SOL") << text;
    EXPECT_NEAR(file.atoms[0].position.x, 2.30, 1e-14) << text;
    return file.atoms[0].residue_number;
  };
  EXPECT_EQ(number("   12"), 12);
  EXPECT_EQ(number("   -1"), -1);
  EXPECT_EQ(number("*****"), 0);
  EXPECT_EQ(number("     "), 0);
  EXPECT_EQ(number("A0000"), 0);
}

TEST(Gro, NamesInUtf8FillTheirColumnsByBytes) {
  const TemporaryFolder folder;
  // 6 bytes, cut between characters; 5 bytes; a wide character; ASCII.
  const std::vector<GroAtom> atoms{{1, "W\u00e4sser", "AR\u00e4\u00f6", {1, 2, 3}},
                                   {2, "\u6c29\u6c14", "\u00c4\u00d6", {4, 5, 6}},
                                   {3, "abcd\u00e4", "A", {7, 8, 9}}};
  const auto path = folder.write("a.gro", format_gro("t", atoms, {{20, 20, 20}}, 7));
  const GroFile file = read_gro(path);
  ASSERT_EQ(file.atoms.size(), 3U);
  const std::vector<std::string> residues{"W\u00e4ss", "\u6c29", "abcd"};
  const std::vector<std::string> names{"AR\u00e4", "\u00c4\u00d6", "A"};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(file.atoms[i].residue_name, residues[i]);
    EXPECT_EQ(file.atoms[i].atom_name, names[i]);
    EXPECT_LT(norm(file.atoms[i].position - atoms[i].position), 1e-6);
  }
}

TEST(Xyz, WhatIsWrittenReadsBack) {
  const TemporaryFolder folder;
  const Geometry geometry{"title", {"C", "Cl"}, {{1.23456789012, 0, -3}, {100, 2e-7, 3}}};
  const Geometry read = read_geometry(folder.write("x.xyz", format_xyz(geometry)));
  EXPECT_EQ(read.elements, geometry.elements);
  EXPECT_EQ(read.title, "title");
  EXPECT_NEAR(read.positions[0].x, 1.23456789012, 1e-10);
  EXPECT_NEAR(read.positions[1].y, 2e-7, 1e-10);
}

TEST(Xyz, AcceptsAtomicNumbersAndFurtherColumns) {
  const TemporaryFolder folder;
  const Geometry read =
      read_xyz(folder.write("x.xyz", "2\n\n17 0 0 0 0.3 extra\nbr +1.5 -2E0 3\n"));
  EXPECT_THAT(read.elements, testing::ElementsAre("Cl", "Br"));
  EXPECT_EQ(read.positions[1], (Vector3{1.5, -2, 3}));
}

TEST(Pqr, AnAtomIsOneWhateverItsSerialNumber) {
  const TemporaryFolder folder;
  for (const char* record : {"ATOM      1", "HETATM    1", "ATOM  *****", "ATOM*****", "ATOM123456",
                             "ATOM-----1", "HETATM*****", "HETATM123456", "HETATMA0000"}) {
    const auto file = folder.write("a.pqr", std::string(record) +
                                                "  C   RES A   1       1.000   2.000   3.000 "
                                                " 0.2500 1.7000\n"
                                                "ATOM      2  O   RES A   1       4.000   2.000 "
                                                "  3.000 -0.2500 1.5000\nEND\n");
    const PqrModel model = read_pqr(file);
    ASSERT_EQ(model.atoms.size(), 2U) << record;
    EXPECT_EQ(model.atoms[0].name, "C") << record;
    EXPECT_EQ(model.atoms[0].charge, 0.25) << record;
  }
}

TEST(Pqr, WhatBeginsAsAnAtomButIsNoneIsRefused) {
  const TemporaryFolder folder;
  const auto file = folder.write("a.pqr", "ATOMS of the receptor\n");
  EXPECT_THAT(test::input_error([&] { read_pqr(file); }),
              testing::AllOf(HasSubstr("a.pqr:1: "), HasSubstr("found 'ATOMS of the receptor'")));
}

TEST(ByteOrderMark, IsReadOverInEveryText) {
  const TemporaryFolder folder;
  const std::string mark = "\xEF\xBB\xBF";
  const std::string atom = "ATOM 1 C RES 1 1.0 2.0 3.0 0.25 1.7\n";
  EXPECT_EQ(read_pqr(folder.write("a.pqr", mark + atom + atom)).atoms.size(), 2U);
  EXPECT_EQ(read_xyz(folder.write("a.xyz", mark + "1\n\nC 1 2 3\n")).elements.size(), 1U);
  const GroFile gro = read_gro(folder.write(
      "a.gro", mark + "title\n1\n    1SOL     OW    1   0.230   0.628   0.113\n 2.0 2.0 2.0\n"));
  EXPECT_EQ(gro.title, "title");
  const auto lines = preprocess(folder.write("a.top", mark + "; comment\ntext\n"), {}, {});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].text, "text");
  // Files that are shorter than the mark.
  EXPECT_TRUE(preprocess(folder.write("empty.top", ""), {}, {}).empty());
  EXPECT_EQ(preprocess(folder.write("short.top", "a"), {}, {}).size(), 1U);
}

TEST(Elements, AreGuessedFromNumberNameAndMass) {
  EXPECT_EQ(guess_element(6, 0, "X")->symbol, "C");
  EXPECT_EQ(guess_element(0, 12.011, "CA")->symbol, "C");
  EXPECT_EQ(guess_element(0, 40.08, "CA")->symbol, "Ca");
  EXPECT_EQ(guess_element(0, 35.45, "CL1")->symbol, "Cl");
  EXPECT_EQ(guess_element(0, 0, "1HB2")->symbol, "H");
  EXPECT_EQ(guess_element(0, 15.9994, "XX")->symbol, "O");
  EXPECT_EQ(guess_element(0, 0, "QQ"), nullptr);
  // Without a mass, by the residue.
  EXPECT_EQ(guess_element(0, 0, "CL", "CL")->symbol, "Cl");
  EXPECT_EQ(guess_element(0, 0, "CA", "CA")->symbol, "Ca");
  EXPECT_EQ(guess_element(0, 0, "CA", "peptide")->symbol, "C");
  EXPECT_EQ(guess_element(0, 0, "MG", "MG2")->symbol, "Mg");
}

}  // namespace
}  // namespace starpmc
