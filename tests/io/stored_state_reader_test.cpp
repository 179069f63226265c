#include "io/stored_state_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "io/binary_json.hpp"
#include "io/checkpoint.hpp"
#include "io/hdf5_handle.hpp"
#include "io/trajectory.hpp"
#include "kernels/base/error.hpp"
#include "tests/io/example_system.hpp"
#include "tests/io/temporary_folder.hpp"

namespace starpmc {
namespace {

using test::example_system;
using test::moved;
using test::TemporaryFolder;
using testing::AllOf;
using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr hsize_t kHuge = hsize_t{1} << 60;

/// A trajectory of two frames, changed by hand.
class StoredStateOfForeignFile : public testing::Test {
 protected:
  StoredStateOfForeignFile() {
    Trajectory trajectory(path, system);
    trajectory.append(0, system.molecules);
    trajectory.append(10, moved(system, 1));
    trajectory.close();
  }

  void change(const std::function<void(hid_t)>& by) const {
    const std::lock_guard lock(hdf5::library_mutex());
    const hdf5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), "file");
    by(file.get());
  }

  /// Overwrites numbers of the last frame of a dataset, or of one without frames.
  void put(const std::string& name, const std::vector<hsize_t>& start,
           const std::vector<double>& values) const {
    change([&](hid_t file) {
      const hdf5::Handle data(H5Dopen2(file, name.c_str(), H5P_DEFAULT), name);
      const hdf5::Handle space(H5Dget_space(data.get()), name);
      std::vector<hsize_t> count(start.size(), 1);
      count.back() = values.size();
      hdf5::check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr,
                                      count.data(), nullptr),
                  name);
      const hdf5::Handle memory(
          H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), name);
      hdf5::check(H5Dwrite(data.get(), H5T_NATIVE_DOUBLE, memory.get(), space.get(), H5P_DEFAULT,
                           values.data()),
                  name);
    });
  }

  /// Puts an empty list of so many entries in the place of a dataset; none of it is in the file.
  void make_list(const std::string& name, hsize_t count, hid_t type) const {
    change([&](hid_t file) {
      hdf5::check(H5Ldelete(file, name.c_str(), H5P_DEFAULT), name);
      const hdf5::Handle space(H5Screate_simple(1, &count, nullptr), name);
      const hdf5::Handle properties(H5Pcreate(H5P_DATASET_CREATE), name);
      const hsize_t chunk = 1024;
      hdf5::check(H5Pset_chunk(properties.get(), 1, &chunk), name);
      const hdf5::Handle data(H5Dcreate2(file, name.c_str(), type, space.get(), H5P_DEFAULT,
                                         properties.get(), H5P_DEFAULT),
                              name);
    });
  }

  void expect_refused(const std::string& part) const {
    try {
      read_stored_state(path, {});
      FAIL() << "not refused, expected: " << part;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr(path.string()), HasSubstr(part)));
    }
  }

  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "trajectory.h5md";
  const System system = example_system();
};

TEST_F(StoredStateOfForeignFile, IsReadAsItWas) {
  const StoredState state = read_stored_state(path, {});
  ASSERT_EQ(state.molecules.size(), system.molecules.size());
  EXPECT_EQ(state.molecules[3].centre, moved(system, 1)[3].centre);
  EXPECT_EQ(state.types[0].sites[1].reference, system.molecule_types[0].sites[1].reference);
  EXPECT_EQ(state.path, path);
}

/// HDF5 writes a pointer for each of them.
TEST_F(StoredStateOfForeignFile, SeveralTextsForOneAreRefused) {
  change([](hid_t file) {
    const hdf5::Handle group(H5Gopen2(file, "parameters", H5P_DEFAULT), "group");
    hdf5::check(H5Adelete(group.get(), "title"), "title");
    const hdf5::Handle type(H5Tcopy(H5T_C_S1), "type");
    hdf5::check(H5Tset_size(type.get(), H5T_VARIABLE), "type");
    const hsize_t count = 1000;
    const hdf5::Handle space(H5Screate_simple(1, &count, nullptr), "space");
    const hdf5::Handle attribute(
        H5Acreate2(group.get(), "title", type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT),
        "title");
    const std::vector<const char*> texts(count, "xxxxxxxxxx");
    hdf5::check(H5Awrite(attribute.get(), type.get(), static_cast<const void*>(texts.data())),
                "title");
  });
  expect_refused("title is not a single text");
}

TEST_F(StoredStateOfForeignFile, MoreMoleculesThanAnySystemHasAreRefused) {
  make_list("particles/molecules/species", kHuge, H5T_NATIVE_INT32);
  expect_refused("particles/molecules/species has 1152921504606846976 entries");
}

/// Of 16 bytes each: 2^60 + 1 of them have no more bytes than one, for 64 bits.
TEST_F(StoredStateOfForeignFile, MoreNamesThanAnySystemHasAreRefused) {
  const hdf5::Handle type(H5Tcopy(H5T_C_S1), "type");
  H5Tset_size(type.get(), 16);
  for (const hsize_t count : {kHuge, kHuge + 1}) {
    make_list("parameters/molecule_types/0/site_names", count, type.get());
    expect_refused("parameters/molecule_types/0/site_names has 11529215046068469");
  }
}

TEST_F(StoredStateOfForeignFile, LongNamesOfManySitesAreRefused) {
  const hdf5::Handle type(H5Tcopy(H5T_C_S1), "type");
  H5Tset_size(type.get(), 60'000);
  make_list("parameters/molecule_types/0/site_names", 9'000'000, type.get());
  expect_refused("9000000 texts of 60000 characters");
}

TEST_F(StoredStateOfForeignFile, PosesThatAreNoneAreRefused) {
  const std::string centres = "particles/molecules/position/value";
  const std::string orientations = "particles/molecules/orientation/value";
  const std::vector<double> centre{1, 2, 3};
  for (const double wrong : {kNan, std::numeric_limits<double>::infinity(), 1e300, -1e9}) {
    put(centres, {1, 2, 0}, {1, wrong, 3});
    expect_refused("the centre of molecule 3 (SOL) lies nowhere");
  }
  put(centres, {1, 2, 0}, centre);
  read_stored_state(path, {});
  for (const double wrong : {0.0, kNan, 1.001}) {
    put(orientations, {1, 6, 0}, {wrong, 0, 0, 0});
    expect_refused("molecule 7 (AR) has no unit quaternion");
  }
  read_stored_state(path, 0);  // the other frame is as it was
}

TEST_F(StoredStateOfForeignFile, ReferencePositionsThatAreNoneAreRefused) {
  put("parameters/molecule_types/0/reference_position", {1, 0}, {kNan, 0, 0});
  expect_refused("site HW1 of the rigid geometry of SOL");
}

TEST_F(StoredStateOfForeignFile, AQmMoleculeOfNoPlaceIsRefused) {
  put("parameters/solute/position", {1, 0}, {0, 1e300, 0});
  expect_refused("atom 2 of the QM molecule CLF");
}

TEST_F(StoredStateOfForeignFile, BoxesThatAreNoneAreRefused) {
  const std::string edges = "particles/all/box/edges/value";
  for (const double wrong : {kNan, -20.0, 0.0, 1e300}) {
    put(edges, {1, 0}, {20, wrong, 30});
    expect_refused("the box of frame 1 has an edge that is not between 0 and");
  }
  put(edges, {1, 0}, {0, 0, 0});
  expect_refused("the box of frame 1 is of zeros: the frame never reached the disk");
}

TEST_F(StoredStateOfForeignFile, PosesOfACheckpointThatAreNoneAreRefused) {
  std::vector<double> poses;
  for (const Molecule& molecule : system.molecules) {
    const auto& [x, y, z] = molecule.centre;
    const auto& [w, i, j, k] = molecule.orientation;
    poses.insert(poses.end(), {x, y, z, w, i, j, k});
  }
  write_checkpoint(folder.path(), {{"poses", to_binary(poses)}});
  EXPECT_EQ(read_state_of_run(folder.path()).molecules[1].centre, system.molecules[1].centre);
  poses[7] = kNan;
  write_checkpoint(folder.path(), {{"poses", to_binary(poses)}});
  try {
    read_state_of_run(folder.path());
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr(checkpoint_path(folder.path()).string()),
                                    HasSubstr("the centre of molecule 2 (SOL) lies nowhere")));
  }
}

}  // namespace
}  // namespace starpmc
