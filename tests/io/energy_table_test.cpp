#include "io/energy_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "kernels/base/error.hpp"
#include "tests/io/child_process.hpp"
#include "tests/io/temporary_folder.hpp"

namespace starpmc {
namespace {

TEST(EnergyTable, NumbersReadBackToTheSameBits) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "energies.csv";
  const EnergyTerms terms{-20345.678901234567, 1.0 / 3, -1e-17, 0, 6.02214076e23};
  EnergyTable table(path);
  table.append(100, terms, -0.1, 0.4375);
  table.append(18446744073709551615U, {}, 0, 0);
  table.close();

  std::istringstream lines(test::read_all(path));
  std::string line;
  std::getline(lines, line);
  EXPECT_THAT(line, testing::StartsWith("# starpmc"));
  std::getline(lines, line);
  EXPECT_THAT(line, testing::HasSubstr("kJ/mol"));
  std::getline(lines, line);
  EXPECT_THAT(line, testing::HasSubstr("qmmm_coulomb"));
  std::getline(lines, line);
  EXPECT_EQ(line,
            "step,mm_coulomb,mm_vdw,qmmm_vdw,qmmm_nuclei,qmmm_grid,qmmm_coulomb,solute,total,"
            "acceptance");
  std::getline(lines, line);
  std::istringstream fields(line);
  std::vector<double> numbers;
  for (std::string field; std::getline(fields, field, ',');)
    numbers.push_back(std::strtod(field.c_str(), nullptr));
  EXPECT_THAT(numbers,
              testing::ElementsAre(100, terms.mm_coulomb, terms.mm_vdw, terms.qmmm_vdw,
                                   terms.qmmm_nuclei, terms.qmmm_grid, terms.qmmm_coulomb(), -0.1,
                                   terms.total() - 0.1, 0.4375));
  std::getline(lines, line);
  EXPECT_EQ(line, "18446744073709551615,0,0,0,0,0,0,0,0,0");
}

TEST(EnergyTable, FlushMakesTheLinesVisible) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "energies.csv";
  EnergyTable table(path);
  table.append(7, {}, 0, 0.5);
  table.flush();
  EXPECT_THAT(test::read_all(path), testing::EndsWith("\n7,0,0,0,0,0,0,0,0,0.5\n"));
}

TEST(EnergyTable, DoesNotOverwrite) {
  const test::TemporaryFolder folder;
  EXPECT_THROW(EnergyTable(folder.write("energies.csv", "")), RunError);
}

TEST(EnergyTable, FullDiskIsReportedAndEarlierLinesStay) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "energies.csv";
  const int status = test::exit_status_of([&] {
    test::limit_file_size(100000);
    try {
      EnergyTable table(path);
      for (std::uint64_t step = 0; step < 100000; ++step)
        table.append(step, {1, 2, 3, 4, 5}, 6, 0.5);
    } catch (const RunError& error) {
      return std::string(error.what()).find("energies.csv: cannot write: File too large") !=
                     std::string::npos
                 ? 0
                 : 1;
    }
    return 2;
  });
  EXPECT_EQ(status, 0);
  EXPECT_THAT(test::read_all(path), testing::HasSubstr("\n1000,1,2,3,4,5,9,6,21,0.5\n"));
}

TEST(EnergyTable, AResumedTableIsThatOfAnUninterruptedRun) {
  const test::TemporaryFolder folder;
  const auto interrupted = folder.path() / "interrupted.csv";
  const auto uninterrupted = folder.path() / "uninterrupted.csv";
  FileExtent extent;
  {
    EnergyTable table(interrupted);
    table.append(1, {1, 2, 3, 4, 5}, -1, 0.5);
    extent = table.extent();  // still buffered
    table.append(2, {9, 9, 9, 9, 9}, 9, 0.25);
    table.flush();
    EXPECT_EQ(table.extent().bytes, test::read_all(interrupted).size());
  }
  {
    EnergyTable table = EnergyTable::resume(interrupted, extent);
    EXPECT_EQ(table.extent().bytes, extent.bytes);
    EXPECT_EQ(table.extent().sha256, extent.sha256);
    table.append(2, {5, 4, 3, 2, 1}, -2, 0.75);
    table.close();
  }
  EnergyTable table(uninterrupted);
  table.append(1, {1, 2, 3, 4, 5}, -1, 0.5);
  table.append(2, {5, 4, 3, 2, 1}, -2, 0.75);
  table.close();
  EXPECT_EQ(test::read_all(interrupted), test::read_all(uninterrupted));
}

TEST(EnergyTable, TheExtentHasThePlainSha256) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "energies.csv";
  EnergyTable table(path);
  table.append(1, {1, 2, 3, 4, 5}, -1, 0.5);
  Sha256 hash;
  table.flush();
  hash.add(std::string_view(test::read_all(path)));
  EXPECT_EQ(table.extent().sha256, hash.hexadecimal_digest());
}

std::string refusal(const std::filesystem::path& path, const FileExtent& extent) {
  try {
    EnergyTable::resume(path, extent);
  } catch (const InputError& error) {
    return error.what();
  }
  return "resumed";
}

TEST(EnergyTable, AShorterOtherOrMissingFileIsNotResumed) {
  const test::TemporaryFolder folder;
  const auto path = folder.write("energies.csv", "12345");
  Sha256 hash;
  hash.add(std::string_view("1234"));
  const std::string digest = hash.hexadecimal_digest();
  EXPECT_THAT(refusal(path, {17, digest}), testing::HasSubstr("5 bytes where there were 17"));
  const auto other = folder.write("other.csv", "12245");
  EXPECT_THAT(refusal(other, {4, digest}),
              testing::AllOf(testing::HasSubstr(other.string()), testing::HasSubstr(digest),
                             testing::HasSubstr("of another run or chain")));
  EXPECT_THAT(refusal(folder.path() / "none.csv", {4, digest}), testing::HasSubstr("is missing"));
  std::filesystem::create_symlink(path, folder.path() / "link.csv");
  EXPECT_THAT(refusal(folder.path() / "link.csv", {4, digest}), testing::HasSubstr("symbolic"));
  EXPECT_EQ(test::read_all(path), "12345");
  EXPECT_EQ(test::read_all(other), "12245");
  EXPECT_EQ(refusal(path, {4, digest}), "resumed");
  EXPECT_EQ(test::read_all(path), "1234");
}

}  // namespace
}  // namespace starpmc
