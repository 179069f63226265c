#include "io/trajectory.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <sys/stat.h>

#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>

#include "base/checked_file.hpp"
#include "io/hdf5_handle.hpp"
#include "io/site_order.hpp"
#include "io/trajectory_reader.hpp"
#include "kernels/base/error.hpp"
#include "system/read_system.hpp"
#include "tests/io/child_process.hpp"
#include "tests/io/example_system.hpp"
#include "tests/io/temporary_folder.hpp"
#include "tests/io/traced_process.hpp"
#include "tests/test_folders.hpp"

namespace starpmc {
namespace {

using test::example_system;
using test::moved;
using test::TemporaryFolder;
using testing::HasSubstr;

struct Numbers {
  std::vector<hsize_t> shape;
  std::vector<double> values;
};

Numbers read_numbers(const std::filesystem::path& path, const std::string& name) {
  const hdf5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "file");
  const hdf5::Handle dataset(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT), name);
  const hdf5::Handle space(H5Dget_space(dataset.get()), name);
  Numbers numbers;
  numbers.shape.resize(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space.get())));
  H5Sget_simple_extent_dims(space.get(), numbers.shape.data(), nullptr);
  numbers.values.resize(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.get())));
  hdf5::check(H5Dread(dataset.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                      numbers.values.data()),
              name);
  return numbers;
}

Vector3 centre_of(const TrajectoryFrame& frame, std::size_t molecule) {
  const double* const c = &frame.centres[3 * molecule];
  return {c[0], c[1], c[2]};
}

TEST(Trajectory, CentresAndOrientationsKeepEveryBit) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trajectory.h5md";
  const System system = example_system();
  Trajectory trajectory(path, system);
  for (int frame = 0; frame < 3; ++frame)
    trajectory.append(10U * static_cast<unsigned>(frame), moved(system, frame));
  EXPECT_EQ(trajectory.frame_count(), 3U);
  trajectory.close();

  const Numbers centres = read_numbers(path, "/particles/molecules/position/value");
  EXPECT_THAT(centres.shape, testing::ElementsAre(3, system.molecules.size(), 3));
  const Molecule last = moved(system, 2).back();
  EXPECT_EQ(centres.values.at(centres.values.size() - 1), last.centre.z);
  const Numbers orientations = read_numbers(path, "/particles/molecules/orientation/value");
  EXPECT_EQ(orientations.values.at(4 * 3 + 1), system.molecules[3].orientation.x);
  EXPECT_THAT(read_numbers(path, "/particles/all/box/edges/value").values,
              testing::ElementsAre(20, 25, 30, 20, 25, 30, 20, 25, 30));
  EXPECT_THAT(read_numbers(path, "/particles/all/position/step").values,
              testing::ElementsAre(0, 10, 20));
  EXPECT_THAT(read_numbers(path, "/particles/molecules/position/step").values,
              testing::ElementsAre(0, 10, 20));
}

TEST(Trajectory, PositionsInDoublePrecisionOnRequest) {
  const TemporaryFolder folder;
  const System system = example_system();
  for (const bool in_double : {false, true}) {
    const auto path = folder.path() / (in_double ? "double.h5" : "single.h5");
    Trajectory trajectory(path, system, {.double_precision_positions = in_double});
    trajectory.append(0, system.molecules);
    trajectory.close();
    const auto expected = particle_positions(system, system.molecules);
    const auto found = read_numbers(path, "/particles/all/position/value").values;
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], in_double ? 0 : 2e-6);
  }
}

TEST(Trajectory, MoleculesAreWholeWithTheirCentresInTheBox) {
  const System system = example_system();
  const auto positions = particle_positions(system, system.molecules);
  EXPECT_DOUBLE_EQ(positions.at(positions.size() - 1), 3);  // argon at z = 33 in a box of 30
  constexpr std::size_t first_oxygen = 2;
  const double* oxygen = &positions[3 * first_oxygen];
  const double* hydrogen = oxygen + 3;
  EXPECT_NEAR(std::hypot(oxygen[0] - hydrogen[0], oxygen[1] - hydrogen[1], oxygen[2] - hydrogen[2]),
              std::hypot(0.757, 0.585), 1e-12);
}

/// Those that were taken from other coordinates: its frames are of the geometries in its header.
TEST(Trajectory, TellsItsReferenceGeometriesAndIsContinuedWithNoOthers) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trajectory.h5md";
  const System system = example_system();
  TrajectoryExtent extent;
  {
    Trajectory trajectory(path, system);
    trajectory.append(0, system.molecules);
    extent = trajectory.extent();
    trajectory.close();
  }
  System other = system;
  for (Site& site : other.molecule_types[0].sites) {
    site.reference = {site.reference.y, -site.reference.x, site.reference.z};
  }
  {
    const std::lock_guard lock(hdf5::library_mutex());
    const TrajectoryReader reader(path, other);
    ASSERT_EQ(reader.molecule_types().size(), 2U);
    EXPECT_EQ(reader.molecule_types()[0].sites[1].reference,
              system.molecule_types[0].sites[1].reference);
  }
  Trajectory::check(path, system, extent);
  try {
    Trajectory::check(path, other, extent);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(HasSubstr(path.string()),
                                             HasSubstr("another rigid geometry of molecule SOL")));
  }
}

TEST(Trajectory, WorksWithoutSoluteAndWithoutMolecules) {
  const TemporaryFolder folder;
  System fluid = example_system();
  fluid.solute.reset();
  Trajectory without_solute(folder.path() / "fluid.h5", fluid);
  without_solute.append(1, fluid.molecules);
  without_solute.close();
  System alone = example_system();
  alone.molecules.clear();
  Trajectory without_molecules(folder.path() / "alone.h5", alone);
  without_molecules.append(1, {});
  without_molecules.close();
  EXPECT_THAT(read_numbers(folder.path() / "alone.h5", "/particles/all/position/value").shape,
              testing::ElementsAre(1, 2, 3));
}

TEST(Trajectory, IsReadableWithAllFramesOfTheLastFlushWhenKilled) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trajectory.h5md";
  const System system = example_system();
  for (const int held : {0, 3, 500}) {
    const int status = test::exit_status_of([&] {
      Trajectory trajectory(path, system);
      for (int frame = 0; frame < 7; ++frame)
        trajectory.append(static_cast<unsigned>(frame), moved(system, frame));
      trajectory.flush();
      for (int frame = 7; frame < 7 + held; ++frame)
        trajectory.append(static_cast<unsigned>(frame), moved(system, frame));
      return raise(SIGKILL);
    });
    EXPECT_EQ(status, -1);
    const TrajectoryReader reader(path, system);
    ASSERT_GE(reader.frame_count(), 7U);
    for (std::uint64_t frame = 0; frame < reader.frame_count(); ++frame) {
      EXPECT_EQ(reader.read(frame).step, static_cast<std::int64_t>(frame));
    }
    std::filesystem::remove(path);
  }
}

/// Of a trajectory with as many frames as give HDF5's index of compressed ones a third level.
class InterruptedTrajectory : public testing::Test {
 protected:
  static constexpr std::uint64_t frames = 4'500;
  static constexpr std::uint64_t frames_per_flush = 90;

  /// Writes it, with a flush after every frames_per_flush, and calls `after_write(WatchedWrite)`.
  template <typename AfterWrite>
  void watch(AfterWrite after_write) {
    const auto write = [&] {
      Trajectory trajectory(path, system, {.compression_level = 1});
      for (std::uint64_t frame = 0; frame < frames; ++frame) {
        trajectory.append(frame, moved(system, static_cast<int>(frame)));
        if (frame % frames_per_flush != 0) continue;
        trajectory.flush();
        flushed.set(frame + 1);
        length.set(std::filesystem::file_size(path));
        if (frame % (5 * frames_per_flush) != 0) continue;
        synchronise_file(path);
        synchronised.set(frame + 1);
      }
      return 0;
    };
    const std::optional<int> status = test::watch_writes(write, after_write);
    if (!status) GTEST_SKIP() << "this system does not let a process be traced";
    EXPECT_EQ(status, 0);
  }

  void expect_frames(const std::filesystem::path& file, std::uint64_t count) const {
    const TrajectoryReader reader(file, system);
    ASSERT_GE(reader.frame_count(), count);
    for (std::uint64_t frame = count - 1;; frame -= std::min(frame, frames_per_flush / 2)) {
      ASSERT_EQ(reader.read(frame).step, static_cast<std::int64_t>(frame)) << "of " << count;
      if (frame == 0) break;
    }
  }

  static void copy_over(const std::filesystem::path& from, const std::filesystem::path& to) {
    std::filesystem::copy(from, to, std::filesystem::copy_options::overwrite_existing);
  }

  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "trajectory.h5md";
  const System system = example_system();
  test::SharedNumber synchronised;  ///< frames by the last flush that waited for the disk
  test::SharedNumber flushed;       ///< by the last
  test::SharedNumber length;        ///< of the file then
};

TEST_F(InterruptedTrajectory, HasAllFramesOfTheLastFlushWhicheverWriteAKillFollows) {
  int writes = 0;
  const auto copy = folder.path() / "copy.h5md";
  watch([&](const test::WatchedWrite& write) {
    if (write.bytes == 0 || write.offset >= length.get() || HasFailure()) return;
    ++writes;
    copy_over(path, copy);
    expect_frames(copy, flushed.get());
  });
  if (IsSkipped()) return;
  EXPECT_GT(writes, 5 * static_cast<int>(frames / frames_per_flush));
}

/// On the disk is what it was told to have, and of all that was written since any one part.
TEST_F(InterruptedTrajectory, HasAllFramesOfTheLastCheckpointWhateverAPowerFailureKeeps) {
  int writes = 0;
  const auto on_disk = folder.path() / "disk.h5md";
  const auto copy = folder.path() / "copy.h5md";
  watch([&](const test::WatchedWrite& write) {
    if (HasFailure()) return;
    if (write.bytes == 0) {
      copy_over(path, on_disk);
      return;
    }
    if (synchronised.get() == 0 || write.offset >= length.get()) return;
    ++writes;
    copy_over(on_disk, copy);
    // File systems keep a file's length in their journal.
    std::filesystem::resize_file(copy, std::filesystem::file_size(path));
    std::string part(write.bytes, '\0');
    std::ifstream(path, std::ios::binary)
        .seekg(static_cast<std::streamoff>(write.offset))
        .read(part.data(), static_cast<std::streamsize>(part.size()));
    std::fstream(copy, std::ios::binary | std::ios::in | std::ios::out)
        .seekp(static_cast<std::streamoff>(write.offset))
        .write(part.data(), static_cast<std::streamsize>(part.size()));
    expect_frames(copy, synchronised.get());
  });
  if (IsSkipped()) return;
  EXPECT_GT(writes, 5 * static_cast<int>(frames / frames_per_flush));
}

TEST(Trajectory, FramesAreHandedOverEverySecondOfAppending) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trajectory.h5md";
  const System system = example_system();
  Trajectory trajectory(path, system);
  trajectory.append(0, system.molecules);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  trajectory.append(1, system.molecules);
  const auto copy = folder.path() / "copy.h5";
  std::filesystem::copy(path, copy);
  EXPECT_EQ(TrajectoryReader(copy, system).frame_count(), 2U);
}

/// HDF5's memory of where frames are is given up at times, in the middle of the series.
TEST(Trajectory, ThousandsOfFramesAreOneSeries) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trajectory.h5md";
  const System system = example_system();
  constexpr int many = 11000;
  Trajectory trajectory(path, system);
  for (int frame = 0; frame < many; ++frame) {
    trajectory.append(static_cast<unsigned>(frame), moved(system, frame));
    if (frame % 1000 == 0) trajectory.flush();
  }
  trajectory.close();
  const TrajectoryReader reader(path, system);
  ASSERT_EQ(reader.frame_count(), static_cast<std::uint64_t>(many));
  for (int frame = 0; frame < many; frame += 97) {
    const TrajectoryFrame found = reader.read(static_cast<unsigned>(frame));
    EXPECT_EQ(found.step, frame);
    EXPECT_EQ(centre_of(found, system.molecules.size() - 1), moved(system, frame).back().centre);
    const TrajectoryFrame poses = reader.read_poses(static_cast<unsigned>(frame));
    EXPECT_EQ(poses.step, found.step);
    EXPECT_EQ(poses.edges, found.edges);
    EXPECT_EQ(poses.centres, found.centres);
    EXPECT_EQ(poses.orientations, found.orientations);
    EXPECT_TRUE(poses.positions.empty());
  }
}

TEST(Trajectory, DoesNotOverwrite) {
  const TemporaryFolder folder;
  const auto path = folder.write("trajectory.h5md", "precious");
  testing::internal::CaptureStderr();
  try {
    Trajectory trajectory(path, example_system());
    FAIL() << "overwritten";
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), HasSubstr(path.string()));
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");  // HDF5 itself stays silent
  EXPECT_EQ(test::read_all(path), "precious");
}

TEST(Trajectory, RejectsAnotherNumberOfMolecules) {
  const TemporaryFolder folder;
  const System system = example_system();
  Trajectory trajectory(folder.path() / "trajectory.h5md", system);
  EXPECT_THROW(trajectory.append(0, std::span(system.molecules).first(2)), std::invalid_argument);
  trajectory.append(0, system.molecules);
  trajectory.close();
  EXPECT_THROW(trajectory.append(1, system.molecules), RunError);
}

TEST(Trajectory, FullDiskIsReportedAndTheProcessEndsOrderly) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trajectory.h5md";
  const System system = example_system();
  const int status = test::exit_status_of([&] {
    test::limit_file_size(200000);
    Trajectory trajectory(path, system, {.compression_level = 0});
    try {
      for (int frame = 0; frame < 1000; ++frame)
        trajectory.append(static_cast<unsigned>(frame), moved(system, frame));
    } catch (const RunError& error) {
      const std::string what = error.what();
      const bool told = what.find(path.string() + ": cannot write") != std::string::npos &&
                        what.find("File too large") != std::string::npos;
      if (!told) std::fprintf(stderr, "%s\n", what.c_str());
      return told ? 0 : 1;
    }
    return 2;
  });
  EXPECT_EQ(status, 0);
  // The frames before are there, whole.
  const TrajectoryReader reader(path, system);
  ASSERT_GT(reader.frame_count(), 10U);
  for (std::uint64_t frame = 0; frame < reader.frame_count(); ++frame) {
    EXPECT_EQ(reader.read(frame).step, static_cast<std::int64_t>(frame));
  }
}

constexpr int all_frames = 9;

void append_frames(Trajectory& trajectory, const System& system, int first, int end) {
  for (int frame = first; frame < end; ++frame)
    trajectory.append(10U * static_cast<unsigned>(frame), moved(system, frame));
}

/// The file's first `frames` frames, as a run would have noted them.
TrajectoryExtent extent_of(const std::filesystem::path& path, const System& system,
                           std::uint64_t frames) {
  const std::scoped_lock lock(hdf5::library_mutex());
  if (frames == 0) return {};
  return {frames, TrajectoryReader(path, system).read(frames - 1).sha256()};
}

std::string resume_error(const std::filesystem::path& path, const System& system,
                         const TrajectoryExtent& extent) {
  testing::internal::CaptureStderr();
  std::string message = "no error";
  try {
    Trajectory::resume(path, system, {}, extent);
  } catch (const InputError& error) {
    message = error.what();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  return message;
}

/// Every number of every dataset, by name.
std::map<std::string, std::vector<double>> all_numbers(const std::filesystem::path& path) {
  std::vector<std::string> names;
  {
    const hdf5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "file");
    const auto visit = [](hid_t, const char* name, const H5O_info_t* info, void* list) -> herr_t {
      if (info->type == H5O_TYPE_DATASET)
        static_cast<std::vector<std::string>*>(list)->emplace_back(name);
      return 0;
    };
    hdf5::check(H5Ovisit(file.get(), H5_INDEX_NAME, H5_ITER_NATIVE, visit, &names), "visit");
  }
  std::map<std::string, std::vector<double>> numbers;
  for (const std::string& name : names) {
    if (!name.ends_with("site_names")) numbers[name] = read_numbers(path, name).values;
  }
  return numbers;
}

TEST(Trajectory, AResumedOneHasTheNumbersOfAnUninterruptedRun) {
  System without_molecules = example_system();
  without_molecules.molecules.clear();
  for (const System& system : {example_system(), without_molecules}) {
    for (const TrajectoryOptions& options :
         {TrajectoryOptions{}, TrajectoryOptions{true, 0, "double"}, TrajectoryOptions{false, 1}}) {
      const TemporaryFolder folder;
      Trajectory whole(folder.path() / "whole.h5", system, options);
      append_frames(whole, system, 0, all_frames);
      whole.close();
      const auto expected = all_numbers(folder.path() / "whole.h5");
      EXPECT_GE(expected.size(), 7U);
      for (const int kept : {0, 1, 5}) {
        const auto path = folder.path() / ("kept-" + std::to_string(kept) + ".h5");
        const int status = test::exit_status_of([&] {
          Trajectory trajectory(path, system, options);
          append_frames(trajectory, system, 0, kept);
          append_frames(trajectory, system, 3, 5);  // lost
          trajectory.flush();
          return raise(SIGKILL);
        });
        EXPECT_EQ(status, -1);
        Trajectory resumed = Trajectory::resume(
            path, system, options, extent_of(path, system, static_cast<std::uint64_t>(kept)));
        EXPECT_EQ(resumed.frame_count(), static_cast<std::uint64_t>(kept));
        append_frames(resumed, system, kept, all_frames);
        resumed.close();
        EXPECT_EQ(all_numbers(path), expected) << kept;
      }
      EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 4);
    }
  }
}

ino_t inode(const std::filesystem::path& path) {
  struct stat facts {};
  EXPECT_EQ(stat(path.c_str(), &facts), 0);
  return facts.st_ino;
}

TEST(Trajectory, AResumptionIsInPlaceAndLosesNothingWhereverItIsKilled) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trajectory.h5md";
  const System system = example_system();
  {
    Trajectory trajectory(path, system);
    append_frames(trajectory, system, 0, 400);
  }
  const ino_t before = inode(path);
  for (const int appended : {0, 1, 40, 250}) {
    for (const bool flushed : {false, true}) {
      const int status = test::exit_status_of([&] {
        Trajectory resumed = Trajectory::resume(path, system, {}, extent_of(path, system, 200));
        append_frames(resumed, system, 200, 200 + appended);
        if (flushed) resumed.flush();
        return raise(SIGKILL);
      });
      EXPECT_EQ(status, -1);
      EXPECT_EQ(inode(path), before);
      const TrajectoryReader reader(path, system);
      ASSERT_GE(reader.frame_count(), 400U);
      for (std::uint64_t frame = 0; frame < reader.frame_count(); ++frame) {
        const TrajectoryFrame found = reader.read(frame);
        EXPECT_EQ(found.step, static_cast<std::int64_t>(10 * frame));
        EXPECT_EQ(centre_of(found, 0), moved(system, static_cast<int>(frame)).front().centre);
      }
    }
  }
}

/// As by a process that has been forked and has not yet become another program.
TEST(Trajectory, IsWaitedForWhereItsLockIsOnItsWayOut) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trajectory.h5md";
  const System system = example_system();
  {
    Trajectory trajectory(path, system);
    append_frames(trajectory, system, 0, 3);
  }
  const TrajectoryExtent extent = extent_of(path, system, 3);
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(descriptor, 0);
  ASSERT_EQ(flock(descriptor, LOCK_SH | LOCK_NB), 0);
  {
    const std::jthread leaving([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      close(descriptor);
    });
    Trajectory resumed = Trajectory::resume(path, system, {}, extent);
    append_frames(resumed, system, 3, 5);
  }
  EXPECT_EQ(TrajectoryReader(path, system).frame_count(), 5U);
}

TEST(Trajectory, AResumedOneThatEndsEarlierDropsTheRest) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trajectory.h5md";
  const System system = example_system();
  {
    Trajectory trajectory(path, system);
    append_frames(trajectory, system, 0, 9);
  }
  Trajectory resumed = Trajectory::resume(path, system, {}, extent_of(path, system, 4));
  append_frames(resumed, system, 4, 6);
  resumed.close();
  for (const auto& [name, numbers] : all_numbers(path)) {
    if (name.starts_with("particles/all/position/step")) {
      EXPECT_THAT(numbers, testing::ElementsAre(0, 10, 20, 30, 40, 50));
    }
  }
  EXPECT_EQ(read_numbers(path, "/particles/all/position/value").shape.front(), 6U);
  EXPECT_EQ(read_numbers(path, "/particles/molecules/orientation/value").shape.front(), 6U);
}

TEST(Trajectory, ShortForeignOrMissingOnesAreNotResumed) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trajectory.h5md";
  const System system = example_system();
  Trajectory trajectory(path, system);
  append_frames(trajectory, system, 0, 3);
  trajectory.close();
  const std::string before = test::read_all(path);

  EXPECT_THAT(resume_error(path, system, {4, ""}),
              HasSubstr(path.string() +
                        ": the trajectory to be continued has 3 frames where there were 4\n  "
                        "remedy: "));
  System other = system;
  other.molecules.pop_back();
  EXPECT_THAT(resume_error(path, other, {3, ""}), HasSubstr("not the molecules of the system"));
  other.molecules.push_back(system.molecules.front());
  EXPECT_THAT(resume_error(path, other, {3, ""}), HasSubstr("not the molecules of the system"));
  EXPECT_THAT(resume_error(folder.path() / "missing.h5", system, {0, ""}), HasSubstr("is missing"));
  EXPECT_THAT(resume_error(folder.write("text.h5", "a novel"), system, {0, ""}),
              HasSubstr("text.h5: cannot read the trajectory"));
  std::filesystem::create_symlink(path, folder.path() / "link.h5");
  EXPECT_THAT(resume_error(folder.path() / "link.h5", system, {3, ""}),
              HasSubstr("symbolic links"));
  EXPECT_EQ(test::read_all(path), before);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 3);
}

/// What is noted of a trajectory is that of its last frame as the file has it, in either precision.
TEST(Trajectory, TheExtentIsThatOfTheFile) {
  const TemporaryFolder folder;
  const System system = example_system();
  for (const bool precise : {false, true}) {
    const auto path = folder.path() / (precise ? "double.h5" : "single.h5");
    const TrajectoryOptions options{.double_precision_positions = precise};
    Trajectory trajectory(path, system, options);
    EXPECT_EQ(trajectory.extent().last_frame_sha256, "");
    append_frames(trajectory, system, 0, 3);
    const TrajectoryExtent extent = trajectory.extent();
    trajectory.close();
    EXPECT_EQ(extent.frames, 3U);
    EXPECT_EQ(extent.last_frame_sha256, extent_of(path, system, 3).last_frame_sha256);
    // A resumed one knows it without a frame of its own.
    EXPECT_EQ(Trajectory::resume(path, system, options, extent).extent().last_frame_sha256,
              extent.last_frame_sha256);
  }
}

TEST(Trajectory, AnotherRunsOrADamagedOneIsNotResumed) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trajectory.h5md";
  const System system = example_system();
  TrajectoryExtent extent;
  {
    Trajectory trajectory(path, system);
    append_frames(trajectory, system, 0, 3);
    extent = trajectory.extent();
  }
  const auto other = folder.path() / "other.h5md";
  {
    Trajectory trajectory(other, system);
    append_frames(trajectory, system, 1, 4);
  }
  EXPECT_THAT(resume_error(other, system, extent),
              testing::AllOf(HasSubstr(other.string()), HasSubstr(extent.last_frame_sha256),
                             HasSubstr("of another run"), HasSubstr("remedy")));
  for (const char* name : {"particles/all/position/value", "particles/molecules/position/value",
                           "particles/all/charge"}) {
    const auto damaged = folder.path() / "damaged.h5md";
    std::filesystem::copy(path, damaged, std::filesystem::copy_options::overwrite_existing);
    {
      const std::scoped_lock lock(hdf5::library_mutex());
      const hdf5::Handle file(H5Fopen(damaged.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), "file");
      const hdf5::Handle dataset(H5Dopen2(file.get(), name, H5P_DEFAULT), name);
      std::size_t count = 1;
      for (const hsize_t length : hdf5::shape_of(dataset.get())) count *= length;
      std::vector<float> numbers(count);
      hdf5::check(
          H5Dread(dataset.get(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()),
          name);
      numbers.back() = std::nextafter(numbers.back(), 1000.0F);
      hdf5::check(
          H5Dwrite(dataset.get(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()),
          name);
    }
    EXPECT_THAT(resume_error(damaged, system, extent), HasSubstr(damaged.string())) << name;
  }
  EXPECT_EQ(resume_error(path, system, extent), "no error");
}

TEST(Trajectory, ADamagedFrameIsNamed) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trajectory.h5md";
  const System system = example_system();
  Trajectory trajectory(path, system);
  append_frames(trajectory, system, 0, 3);
  trajectory.close();
  {
    const std::scoped_lock lock(hdf5::library_mutex());
    const hdf5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), "file");
    const hdf5::Handle dataset(
        H5Dopen2(file.get(), "particles/molecules/orientation/value", H5P_DEFAULT), "dataset");
    // The third frame is dropped and comes back as zeros, as one that never reached the disk.
    for (const hsize_t frames : {2, 3}) {
      const std::array<hsize_t, 3> shape = {frames, system.molecules.size(), 4};
      hdf5::check(H5Dset_extent(dataset.get(), shape.data()), "extent");
    }
  }
  EXPECT_THAT(resume_error(path, system, {3, ""}),
              HasSubstr(path.string() + ": cannot read frame 2 of the trajectory: molecule 0"));
  EXPECT_EQ(resume_error(path, system, extent_of(path, system, 2)), "no error");
}

TEST(Trajectory, AResumptionOnAFullDiskKeepsTheFrames) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trajectory.h5md";
  const System system = example_system();
  Trajectory trajectory(path, system);
  append_frames(trajectory, system, 0, 50);
  trajectory.close();
  const auto before = all_numbers(path);
  const int status = test::exit_status_of([&] {
    test::limit_file_size(40000);
    Trajectory resumed = Trajectory::resume(path, system, {}, extent_of(path, system, 50));
    try {
      append_frames(resumed, system, 50, 60);
    } catch (const RunError& error) {
      return std::string(error.what()).find("File too large") != std::string::npos ? 0 : 1;
    }
    return 2;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(all_numbers(path), before);
}

TEST(Trajectory, ThreadsMayWriteAtTheSameTime) {
  const TemporaryFolder folder;
  const System system = example_system();
  constexpr int threads = 4;
  const auto write = [&](int thread) {
    const auto path = folder.path() / (std::to_string(thread) + ".h5");
    {
      Trajectory trajectory(path, system);
      append_frames(trajectory, system, 0, 5);
    }
    Trajectory trajectory = Trajectory::resume(path, system, {}, extent_of(path, system, 4));
    append_frames(trajectory, system, 4, 60);
    trajectory.close();
  };
  std::vector<std::jthread> running;
  for (int thread = 0; thread < threads; ++thread) running.emplace_back(write, thread);
  running.clear();
  Trajectory alone(folder.path() / "alone.h5", system);
  append_frames(alone, system, 0, 60);
  alone.close();
  for (int thread = 0; thread < threads; ++thread)
    EXPECT_EQ(all_numbers(folder.path() / (std::to_string(thread) + ".h5")),
              all_numbers(folder.path() / "alone.h5"))
        << thread;
}

TEST(SystemPdb, HasALineForEveryParticle) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "system.pdb";
  write_system_pdb(path, example_system(), example_system().molecules);
  const std::string text = test::read_all(path);
  EXPECT_THAT(text, HasSubstr("CRYST1   20.000   25.000   30.000  90.00  90.00  90.00 P 1"));
  EXPECT_THAT(text, HasSubstr("HETATM    1 Cl1  CLF A   1       9.000  12.000  15.000  1.00  0.00"
                              "          CL\n"));
  EXPECT_THAT(text, HasSubstr(" MW  SOL B   2"));
  EXPECT_THAT(text, testing::EndsWith("END\n"));
  write_system_pdb(path, example_system(), example_system().molecules);  // once more
  EXPECT_EQ(test::read_all(path), text);
}

TEST(SystemPdb, HasTheSystemOfItsFiles) {
  const System system = read_system({test_data_folder() / "small/small.gro",
                                     test_data_folder() / "small/small.top",
                                     {},
                                     "formaldehyde",
                                     {},
                                     {}});
  const TemporaryFolder folder;
  const auto path = folder.path() / "system.pdb";
  write_system_pdb(path, system, system.molecules);
  std::istringstream text(test::read_all(path));
  std::string line;
  std::getline(text, line);
  EXPECT_THAT(line, testing::StartsWith("TITLE     formaldehyde in 64 tip3p"));
  std::vector<std::string> atoms;
  while (std::getline(text, line)) {
    if (line.starts_with("HETATM")) atoms.push_back(line);
  }
  ASSERT_EQ(atoms.size(), 4U + 3U * 64U);
  EXPECT_EQ(atoms[0].substr(0, 27), "HETATM    1  C1  formA   1 ");
  EXPECT_NEAR(std::stod(atoms[0].substr(30, 8)), system.solute->positions[0].x, 5e-4);
  EXPECT_EQ(atoms[0].substr(76), " C");
}

TEST(SystemPdb, NamesInUtf8FillTheirColumnsByBytes) {
  const TemporaryFolder folder;
  System system = example_system();
  system.title = std::string(69, 't') + "\u00e4 and more";
  system.molecule_types[0].name = "W\u00e4sser";
  system.molecule_types[0].sites[0].name = "O\u00e4\u6c29";
  system.molecule_types[1].name = "\u6c29\u6c14";
  const auto path = folder.path() / "system.pdb";
  write_system_pdb(path, system, system.molecules);
  std::istringstream lines(test::read_all(path));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "TITLE     " + std::string(69, 't'));
  std::vector<std::string> atoms;
  while (std::getline(lines, line)) {
    if (line.starts_with("HETATM")) atoms.push_back(line);
  }
  ASSERT_EQ(atoms.size(), 2U + 6U * 4U + 2U);
  for (const std::string& atom : atoms) EXPECT_EQ(atom.size(), 78U) << atom;
  EXPECT_EQ(atoms[2].substr(0, 26), "HETATM    3 O\u00e4  W\u00e4sB   2");
  EXPECT_EQ(atoms[26].substr(17, 4), "\u6c29 ");
}

TEST(SystemPdb, RefusesWhatTheColumnsCannotHold) {
  const TemporaryFolder folder;
  System system = example_system();
  system.box = Box{{20000, 20000, 20000}};
  system.molecules.front().centre = {15000, 0, 0};
  EXPECT_THROW(write_system_pdb(folder.path() / "system.pdb", system, system.molecules), RunError);
}

}  // namespace
}  // namespace starpmc
