#include "qm/density_grid.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <string>

#include "kernels/base/error.hpp"
#include "qm/frozen_engine.hpp"
#include "tests/test_folders.hpp"

namespace starpmc {
namespace {

namespace fs = std::filesystem;

class DensityGridFile : public testing::Test {
 protected:
  DensityGridFile()
      : path_(fs::temp_directory_path() / ("starpmc-grid-test-" + std::to_string(getpid()))) {}
  ~DensityGridFile() override { fs::remove(path_); }

  std::string bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void overwrite(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }
  /// The message of the InputError that reading must give.
  std::string refusal() const {
    try {
      read_density_grid(path_);
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(path_.string()), std::string::npos);
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return {};
  }
  void expect_refusal(const std::string& part) const {
    const std::string message = refusal();
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }

  fs::path path_;
  DensityGrid grid_{
      {0, 1, 2}, {0.1, 1.1, 2.1}, {-1, -2, -3}, {-0.5, -1e-10, -1.25}, {0.25, 1.5, 0}};
};

TEST_F(DensityGridFile, RoundTripKeepsEveryBit) {
  write_density_grid(path_, grid_);
  const DensityGrid read = read_density_grid(path_);
  EXPECT_EQ(read.x, grid_.x);
  EXPECT_EQ(read.y, grid_.y);
  EXPECT_EQ(read.z, grid_.z);
  EXPECT_EQ(read.charge, grid_.charge);
  EXPECT_EQ(read.extent, grid_.extent);
  EXPECT_EQ(bytes().size(), 24U + 3 * 40 + 4);
  write_density_grid(path_, DensityGrid{});
  EXPECT_EQ(read_density_grid(path_).size(), 0U);
}

TEST_F(DensityGridFile, MissingFileIsAnInputError) { expect_refusal("there is no such file"); }

TEST_F(DensityGridFile, TruncationAtEveryByteIsNoticed) {
  write_density_grid(path_, grid_);
  const std::string whole = bytes();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    overwrite(whole.substr(0, length));
    EXPECT_THROW(read_density_grid(path_), InputError) << length;
  }
  overwrite(whole + "x");
  expect_refusal("truncated");
}

TEST_F(DensityGridFile, ForeignFilesAndVersionsAreRefused) {
  overwrite("# x y z charge\n0 0 0 -1\n                                   ");
  expect_refusal("not a density grid");
  write_density_grid(path_, grid_);
  std::string other = bytes();
  other[8] = 7;
  overwrite(other);
  expect_refusal("version, found '7'");
}

TEST_F(DensityGridFile, EveryFlippedBitIsNoticed) {
  write_density_grid(path_, grid_);
  const std::string whole = bytes();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    overwrite(damaged);
    EXPECT_THROW(read_density_grid(path_), InputError) << at;
  }
}

TEST_F(DensityGridFile, ACountThatOverflowsIsRefused) {
  write_density_grid(path_, grid_);
  std::string damaged = bytes();
  const std::uint64_t count = (std::uint64_t{1} << 61) + 3;  // times 40 is 120 modulo 2^64
  std::memcpy(damaged.data() + 16, &count, sizeof(count));
  overwrite(damaged);
  expect_refusal("announced");
}

TEST_F(DensityGridFile, NonFiniteNumbersAreRefused) {
  for (const double value : {static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    grid_.z[1] = value;
    write_density_grid(path_, grid_);
    expect_refusal("non-finite number at point 1");
  }
}

TEST(DropSmallCharges, ReportsWhatIsLost) {
  DensityGrid grid{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {-1, -1e-10, 2e-10, -3}};
  EXPECT_DOUBLE_EQ(drop_small_charges(grid, 1e-9), 1e-10);
  EXPECT_EQ(grid.x, (std::vector<double>{0, 3}));
  EXPECT_EQ(grid.y, (std::vector<double>{4, 7}));
  EXPECT_EQ(grid.z, (std::vector<double>{8, 11}));
  EXPECT_EQ(grid.charge, (std::vector<double>{-1, -3}));
  EXPECT_EQ(drop_small_charges(grid, 0), 0);
  EXPECT_EQ(grid.size(), 2U);
}

TEST_F(DensityGridFile, FrozenEngineReturnsItEveryTime) {
  write_density_grid(path_, grid_);
  Solute hydrogen;
  hydrogen.elements = {"H", "H"};
  hydrogen.positions = {{0, 0.1, -1}, {2, 2.1, -3}};
  FrozenEngine engine(hydrogen, 0, path_);
  EXPECT_EQ(engine.quadrature_points().size(), 0U);
  EXPECT_EQ(engine.name(), "frozen");
  for (int repetition = 0; repetition < 2; ++repetition) {
    const QmResult result = engine.update({}, {}, {});
    EXPECT_TRUE(result.converged);
    EXPECT_EQ(result.energy_kj_per_mol, 0);
    EXPECT_EQ(result.grid.charge, grid_.charge);
    EXPECT_DOUBLE_EQ(result.electrons_on_grid, 1.7500000001);
    EXPECT_EQ(result.expected_electrons, 2);
  }
}

/// Where tests/data/qm/formaldehyde.xyz has it.
Solute formaldehyde() {
  Solute solute;
  solute.name = "formaldehyde";
  solute.elements = {"C", "O", "H", "H"};
  solute.positions = {
      {0, 0, 0}, {1.203, 0, 0}, {-0.580753, 0.935377, 0}, {-0.580753, -0.935377, 0}};
  return solute;
}

/// The message of the InputError that the stored density of formaldehyde must give.
std::string refusal_for(const Solute& solute, int charge = 0) {
  const fs::path file = test_data_folder() / "qm/formaldehyde.grid";
  try {
    FrozenEngine(solute, charge, file);
  } catch (const InputError& error) {
    for (const std::string& part : {file.string(), solute.name, std::string("output.save-grid")}) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
    return error.what();
  }
  ADD_FAILURE() << "no InputError";
  return {};
}

void expect_in(const std::string& part, const std::string& whole) {
  EXPECT_NE(whole.find(part), std::string::npos) << "no '" << part << "' in: " << whole;
}

TEST(StoredGrid, ThatLiesElsewhereIsRefused) {
  for (const double shift : {0.5, 4.0, 9.0}) {
    for (const Vector3 direction : {Vector3{1, 0, 0}, Vector3{0, -1, 0}, Vector3{0, 0, 1}}) {
      Solute moved = formaldehyde();
      for (Vector3& position : moved.positions) position = position + shift * direction;
      const std::string message = refusal_for(moved);
      expect_in("electrons within 0.4 A of nucleus ", message);
      expect_in("apart", message);
    }
  }
  Solute far = formaldehyde();
  for (Vector3& position : far.positions) position.z += 30;
  expect_in("more than 15 A from any nucleus", refusal_for(far));
}

TEST(StoredGrid, OfAnotherGeometryOrSoluteIsRefused) {
  Solute turned = formaldehyde();
  for (Vector3& position : turned.positions) position = {position.y, position.x, position.z};
  expect_in("centres of density and nuclei are 0.77 A apart", refusal_for(turned));
  expect_in("of nucleus 2 (O at 0.00 1.20 0.00)", refusal_for(turned));
  Solute bent = formaldehyde();
  bent.positions[3] = {-0.580753, 0, -0.935377};
  expect_in("of nucleus 4 (H at -0.58 0.00 -0.94)", refusal_for(bent));
  Solute other = formaldehyde();
  other.elements = {"C", "S", "Cl", "Cl"};
  expect_in("16 electrons, where 56 are due", refusal_for(other));
  expect_in("where 6 are due", refusal_for(formaldehyde(), 10));
}

/// Coordinates of a .gro file are rounded to 0.01 A, and a geometry may be another method's.
TEST(StoredGrid, OfNearlyTheSameGeometryIsTaken) {
  Solute near = formaldehyde();
  for (Vector3& position : near.positions) position = position + Vector3{0.05, -0.05, 0.05};
  EXPECT_NO_THROW(FrozenEngine(near, 0, test_data_folder() / "qm/formaldehyde.grid"));
  EXPECT_NO_THROW(FrozenEngine(near, 1, test_data_folder() / "qm/formaldehyde.grid"));
}

TEST(StoredGrid, FormaldehydeHasSixteenElectrons) {
  FrozenEngine engine(formaldehyde(), 0, test_data_folder() / "qm/formaldehyde.grid");
  const QmResult result = engine.update({}, {}, {});
  EXPECT_EQ(result.expected_electrons, 16);
  EXPECT_NEAR(result.electrons_on_grid, 16.0, 1e-3);
  EXPECT_GT(result.grid.size(), 5000U);
}

}  // namespace
}  // namespace starpmc
