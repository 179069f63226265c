// What solvate reads and refuses, and what it leaves alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "system/gromacs_data.hpp"
#include "system/read_system.hpp"
#include "system/solvated_files.hpp"
#include "tests/system/solvate_case.hpp"
#include "tests/system/temporary_folder.hpp"
#include "tests/test_folders.hpp"

namespace starpmc {
namespace {

using test::input_error;
using test::text_of;
using testing::HasSubstr;

using SolvateFiles = test::SolvateCase;

TEST_F(SolvateFiles, WhatFailsLeavesEarlierFilesAlone) {
  request.solute = folder.write("he.xyz", "1\n\nHe 0 0 0\n");
  request.waters = 30;
  request.overwrite = true;
  request.table = folder.write("types.txt", "type opls_13O He\n");
  folder.write("out.gro", "earlier coordinates");
  folder.write("out.top", "earlier topology");
  const auto failure = [&] { return input_error([&] { write_solvated_files(request); }); };
  const auto names = [&] {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "")) {
      found.push_back(entry.path().filename().string());
    }
    return found;
  };
  // The message names the file that would have been, not one that is gone.
  EXPECT_THAT(failure(),
              testing::AllOf(testing::StartsWith((folder / "out.top").string() + ":"),
                             HasSubstr("unknown atom type, found 'opls_13O'"),
                             HasSubstr("\n  remedy: "), testing::Not(HasSubstr("temporary"))));
  EXPECT_EQ(text_of(folder / "out.gro"), "earlier coordinates");
  EXPECT_EQ(text_of(folder / "out.top"), "earlier topology");
  EXPECT_THAT(names(), testing::UnorderedElementsAre("he.xyz", "types.txt", "out.gro", "out.top"));

  folder.write("types.txt", "type opls_130 He # helium\n");
  std::filesystem::remove(folder / "out.top");
  folder.write("out.top/notes.txt", "precious");
  EXPECT_THAT(failure(), testing::AllOf(HasSubstr("out.top: is not a regular file"),
                                        HasSubstr("found 'a folder'")));
  EXPECT_EQ(text_of(folder / "out.gro"), "earlier coordinates");
  EXPECT_EQ(text_of(folder / "out.top/notes.txt"), "precious");

  std::filesystem::remove_all(folder / "out.top");
  write_solvated_files(request);
  EXPECT_THAT(names(), testing::UnorderedElementsAre("he.xyz", "types.txt", "out.gro", "out.top"));
  request.table = folder / "out.top";
  EXPECT_THAT(failure(), HasSubstr("--table: is the file that would be written"));
}

TEST_F(SolvateFiles, AFolderThatIsNotThereIsNamed) {
  request.waters = 30;
  request.output = folder / "nowhere/out";
  EXPECT_THAT(input_error([&] { write_solvated_files(request); }),
              testing::AllOf(HasSubstr("--output: there is no such folder"), HasSubstr("nowhere'"),
                             testing::Not(HasSubstr("temporary"))));
}

TEST_F(SolvateFiles, AFolderThatMayNotBeWrittenToIsNamed) {
  request.waters = 30;
  request.output = "/proc/self/out";
  EXPECT_THAT(input_error([&] { write_solvated_files(request); }),
              HasSubstr("--output: the folder cannot be written to, found '/proc/self'"));
}

TEST_F(SolvateFiles, ABrokenSoluteIsMadeWhole) {
  // Ethane, the boundary of its file's box between the carbons.
  request.solute = folder.write("ethane.gro",
                                "ethane\n8\n"
                                "    1ETH     C1    1   1.000   1.000   0.076\n"
                                "    1ETH     C2    2   1.000   1.000   2.924\n"
                                "    1ETH     H3    3   1.102   1.000   0.117\n"
                                "    1ETH     H4    4   0.949   1.088   0.117\n"
                                "    1ETH     H5    5   0.949   0.912   0.117\n"
                                "    1ETH     H6    6   0.898   1.000   2.884\n"
                                "    1ETH     H7    7   1.051   0.912   2.884\n"
                                "    1ETH     H8    8   1.051   1.088   2.884\n"
                                "   3.0   3.0   3.0\n");
  request.waters = 100;
  const SolvatedFiles files = write_solvated_files(request);
  const System system = read_system({files.coordinates, files.topology, {}, "ethane", {}, {}});
  EXPECT_NEAR(norm(system.solute->positions[0] - system.solute->positions[1]), 1.52, 1e-5);
  EXPECT_EQ(files.solute_types[0].type, "opls_135");  // a methyl's, not that of three bonds
  EXPECT_EQ(files.solute_types[1].type, "opls_135");
}

TEST_F(SolvateFiles, RefusesAtomsThatLieOnEachOther) {
  request.waters = 30;
  // Written twice; lengths in nanometre.
  for (const char* atoms :
       {"3\n\nC 0 0 0\nO 0 0 1.2\nO 0 0 1.2\n", "3\n\nO 0 0 1\nC 0 0 0\nO 0 0 0.12\n"}) {
    request.solute = folder.write("solute.xyz", atoms);
    EXPECT_THAT(
        input_error([&] { write_solvated_files(request); }),
        testing::AllOf(HasSubstr("solute.xyz:5: atoms 2 and 3"), HasSubstr(" angstrom apart'"),
                       HasSubstr("angstrom in an .xyz file")));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "out.gro"));
}

TEST_F(SolvateFiles, RefusesAChargeThatLeavesNoElectrons) {
  request.solute = source_folder() / "configs/acetone.xyz";
  request.waters = 60;
  request.charge = 32;
  EXPECT_THAT(input_error([&] { write_solvated_files(request); }),
              testing::AllOf(HasSubstr("--charge: leaves the solute 0 electrons, found '32'"),
                             HasSubstr("remedy: ")));
  EXPECT_FALSE(std::filesystem::exists(folder / "out.gro"));
}

TEST_F(SolvateFiles, RefusesChargesThatARunWouldRefuse) {
  request.solute = source_folder() / "configs/chorismate.xyz";
  request.waters = 200;
  request.ions = "NaCl:0.1";
  for (const int charge : {1001, -1001, 2000000000, -2000000000}) {
    request.charge = charge;
    EXPECT_THAT(input_error([&] { write_solvated_files(request); }),
                testing::AllOf(HasSubstr("--charge: the charge is out of range"),
                               HasSubstr(std::to_string(charge)), HasSubstr("-1000 to 1000")));
  }
}

}  // namespace
}  // namespace starpmc
