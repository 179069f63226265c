#include "system/pose_transfer.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "kernels/base/error.hpp"
#include "system/read_system.hpp"
#include "tests/system/temporary_folder.hpp"

namespace starpmc {
namespace {

using test::TemporaryFolder;
using testing::AllOf;
using testing::HasSubstr;

const std::vector<Vector3> kShape = {{0, 0, 0}, {1.5, 0, 0}, {0.5, 1.4, 0}, {0.6, 0.5, 1.3}};
const Quaternion kTurn{0.5, -0.5, 0.1, 0.7};  // |q| = 1
const Quaternion kOther{0.6, 0, -0.8, 0};

MoleculeType type_of(const std::vector<Vector3>& shape) {
  MoleculeType type{"W", {}};
  for (const Vector3& r : shape)
    type.sites.push_back({fmt::format("C{}", type.sites.size() + 1), "C", 0, 0, 12, r});
  return type;
}

std::vector<Vector3> placed(std::vector<Vector3> shape, const Vector3& at, const Quaternion& turn) {
  for (Vector3& r : shape) r = at + rotate(turn, r);
  return shape;
}

TEST(PoseTransfer, KeepsEveryPosition) {
  const std::vector<MoleculeType> stored{type_of(placed(kShape, {0.1, -0.2, 0.3}, kTurn))};
  const std::vector<MoleculeType> own{type_of(kShape)};
  const Molecule pose{0, {11, -4, 7}, kOther};
  const Molecule moved = PoseTransfer(stored, own, "run")(pose);
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    const Vector3 was = pose.centre + rotate(pose.orientation, stored[0].sites[i].reference);
    const Vector3 is = moved.centre + rotate(moved.orientation, kShape[i]);
    EXPECT_LT(norm(was - is), 1e-13);
  }
}

TEST(PoseTransfer, KeepsEveryBitWhereTheGeometriesAreTheSame) {
  const std::vector<MoleculeType> types{type_of(kShape)};
  const std::vector<Molecule> poses{{0, {11, -4, 7}, kOther}};
  const std::vector<Molecule> moved = PoseTransfer(types, types, "run")(poses);
  EXPECT_EQ(moved[0].centre, poses[0].centre);
  EXPECT_EQ(moved[0].orientation, poses[0].orientation);
}

void expect_refused(const std::vector<MoleculeType>& stored, const std::string& part) {
  const std::vector<MoleculeType> own{type_of(kShape)};
  try {
    const PoseTransfer transfer(stored, own, "run/trajectory.h5md");
    FAIL() << "not refused, expected: " << part;
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("run/trajectory.h5md"), HasSubstr(part)));
  }
}

TEST(PoseTransfer, OtherShapesAreRefused) {
  std::vector<Vector3> shape = kShape;
  shape[3] = shape[3] + Vector3{0.5, -0.6, 0.5};
  expect_refused({type_of(shape)}, "molecule W has another rigid geometry there");
  shape[3].x = std::numeric_limits<double>::quiet_NaN();
  expect_refused({type_of(shape)}, "molecule W has another rigid geometry there");
  shape.pop_back();
  expect_refused({type_of(shape)}, "W of 3 sites");
  expect_refused({}, "0 kinds");
}

/// Coordinates of molecules whose geometry nothing but these tell.
class FurtherCoordinates : public testing::Test {
 protected:
  using Poses = std::vector<Molecule>;

  std::filesystem::path write(const std::string& name, const std::vector<Vector3>& shape,
                              const Poses& of) const {
    std::vector<GroAtom> atoms;
    int residue = 0;
    for (const Molecule& pose : of) {
      ++residue;
      int number = 0;
      for (const Vector3& r : placed(shape, pose.centre, pose.orientation))
        atoms.push_back({residue, "W", fmt::format("C{}", ++number), r});
    }
    return folder.write(name, format_gro("t", atoms, Box{{20, 20, 20}}, 8));
  }

  System read(const std::filesystem::path& coordinates, const System* before = nullptr) const {
    SystemFiles files;
    files.coordinates = coordinates;
    files.topology = topology;
    files.rigid = {"W"};
    files.first = before;
    return read_system(files);
  }

  const TemporaryFolder folder;
  const std::filesystem::path topology = folder.write(
      "w.top",
      "[ defaults ]\n1 2 yes 0.5 0.5\n[ atomtypes ]\nCT 6 12.0 0 A 0.25 0.3\n"
      "[ moleculetype ]\nW 1\n[ atoms ]\n1 CT 1 W C1 1 0.3 12.0\n2 CT 1 W C2 1 -0.2 12.0\n"
      "3 CT 1 W C3 1 0.4 12.0\n4 CT 1 W C4 1 -0.5 12.0\n[ bonds ]\n1 2 1\n"
      "[ system ]\nw\n[ molecules ]\nW 2\n");
  const Poses poses = {{0, {5, 5, 5}, kOther}, {0, {13, 12, 14}, kTurn}};
  const System first = read(write("a.gro", kShape, {{0, {5, 5, 5}, {}}, {0, {14, 5, 5}, kTurn}}));
};

TEST_F(FurtherCoordinates, AreOfTheFirstGeometry) {
  const System second = read(write("b.gro", kShape, poses), &first);
  System used = first;
  used.molecules = second.molecules;
  for (std::size_t m = 0; m < poses.size(); ++m) {
    const auto expected = placed(kShape, poses[m].centre, poses[m].orientation);
    for (std::size_t i = 0; i < kShape.size(); ++i) {
      EXPECT_LT(norm(site_position(used, used.molecules[m], i) - expected[i]), 1e-6);
      EXPECT_EQ(second.molecule_types[0].sites[i].reference,
                first.molecule_types[0].sites[i].reference);
    }
  }
}

TEST_F(FurtherCoordinates, OfAnotherShapeAreRefused) {
  std::vector<Vector3> shape = kShape;
  shape[3] = shape[3] + Vector3{0.5, -0.6, 0.5};
  const auto file = write("b.gro", shape, poses);
  EXPECT_EQ(read(file).molecules.size(), 2U);  // by themselves they are a system
  try {
    read(file, &first);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr(file.string()),
                      HasSubstr("molecule W does not have the geometry that system.coordinates "
                                "gives it")));
  }
}

TEST_F(FurtherCoordinates, ThatOverlapAreRefused) {
  try {
    read(write("b.gro", kShape, {{0, {5, 5, 5}, kOther}, {0, {5.1, 5, 5}, kOther}}), &first);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("overlaps with molecule W"));
  }
}

}  // namespace
}  // namespace starpmc
