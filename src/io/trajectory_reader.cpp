#include "io/trajectory_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "io/continued_file.hpp"
#include "io/site_order.hpp"
#include "io/trajectory_header.hpp"
#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

using hdf5::Handle;

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& problem) {
  throw InputError(path.string(), problem, "", how_to_put_right("the file as the run left it"));
}

Handle open_dataset(const Handle& file, const std::string& name) {
  return {H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT), name};
}

/// Frames of a dataset whose frames have the given shape.
std::uint64_t frames_of(const Handle& dataset, const std::string& name,
                        std::vector<hsize_t> frame_shape) {
  const std::vector<hsize_t> shape = hdf5::shape_of(dataset.get());
  if (shape.size() != frame_shape.size() + 1 ||
      !std::equal(frame_shape.begin(), frame_shape.end(), shape.begin() + 1))
    throw RunError(fmt::format("{} has the shape ({}), the system needs (frames, {})", name,
                               fmt::join(shape, ", "), fmt::join(frame_shape, ", ")));
  return shape.front();
}

void read_part(const Handle& dataset, std::uint64_t index, hid_t memory_type, void* values) {
  std::vector<hsize_t> count = hdf5::shape_of(dataset.get());
  std::vector<hsize_t> start(count.size(), 0);
  count.front() = 1;
  start.front() = index;
  const Handle file_space(H5Dget_space(dataset.get()), "frame");
  hdf5::check(H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, start.data(), nullptr,
                                  count.data(), nullptr),
              "frame");
  const Handle memory_space(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr),
                            "frame");
  hdf5::check(H5Dread(dataset.get(), memory_type, memory_space.get(), file_space.get(), H5P_DEFAULT,
                      values),
              "reading");
}

/// Whether a dataset holds just these numbers.
template <typename Number>
bool holds(const Handle& file, const std::string& name, hid_t memory_type,
           const std::vector<Number>& expected) {
  const Handle dataset = open_dataset(file, name);
  const std::vector<hsize_t> shape = hdf5::shape_of(dataset.get());
  if (shape != std::vector<hsize_t>{expected.size()}) return false;
  std::vector<Number> found(expected.size());
  hdf5::check(H5Dread(dataset.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data()),
              name);
  return found == expected;
}

}  // namespace

TrajectoryReader::TrajectoryReader(const std::filesystem::path& path, const System& system)
    : path_(path), system_(system), particles_(particle_labels(system).size()) {
  std::error_code ignored;
  const auto status = std::filesystem::symlink_status(path, ignored);
  if (!std::filesystem::exists(status)) refuse(path, "the trajectory to be continued is missing");
  if (!std::filesystem::is_regular_file(status))
    refuse(path,
           "the trajectory to be continued is not a regular file; symbolic links are not followed");
  const hdf5::QuietErrors quiet;
  try {
    open();
  } catch (const RunError& error) {
    refuse(path, std::string("cannot read the trajectory: ") + error.what());
  }
}

TrajectoryReader::~TrajectoryReader() {
  const hdf5::QuietErrors quiet;
  for (Handle* const handle : {&orientation_, &centre_, &position_, &edges_, &step_, &file_})
    *handle = Handle();
}

void TrajectoryReader::open() {
  file_ = Handle(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "opening");
  const auto open = [&](Handle& dataset, const char* name, std::vector<hsize_t> frame_shape) {
    dataset = open_dataset(file_, name);
    frames_ = std::min(frames_, frames_of(dataset, name, std::move(frame_shape)));
  };
  const hsize_t molecules = system_.molecules.size();
  frames_ = std::numeric_limits<std::uint64_t>::max();
  open(step_, "particles/all/position/step", {});
  open(edges_, "particles/all/box/edges/value", {3});
  if (molecules > 0) {
    check_species();
    types_ = read_molecule_types(file_.get());
    open(centre_, "particles/molecules/position/value", {molecules, 3});
    open(orientation_, "particles/molecules/orientation/value", {molecules, 4});
  }
  check_particles();
  open(position_, "particles/all/position/value", {particles_, 3});
}

void TrajectoryReader::check_species() const {
  constexpr const char* name = "particles/molecules/species";
  std::vector<std::int32_t> species;
  for (const Molecule& molecule : system_.molecules)
    species.push_back(static_cast<std::int32_t>(molecule.type));
  if (!holds(file_, name, H5T_NATIVE_INT32, species))
    throw RunError(std::string(name) + " are not the molecules of the system");
}

void TrajectoryReader::check_particles() const {
  const ParticleFacts facts = particle_facts(system_);
  const std::string all = "particles/all/";
  const auto require = [&](const char* name, bool same) {
    if (!same) throw RunError(all + name + " is not that of the particles of the system");
  };
  require("species", holds(file_, all + "species", H5T_NATIVE_INT32, facts.species));
  require("charge", holds(file_, all + "charge", H5T_NATIVE_DOUBLE, facts.charges));
  require("mass", holds(file_, all + "mass", H5T_NATIVE_DOUBLE, facts.masses));
}

TrajectoryFrame TrajectoryReader::read(std::uint64_t index) const {
  return read_frame(index, true);
}

TrajectoryFrame TrajectoryReader::read_poses(std::uint64_t index) const {
  return read_frame(index, false);
}

TrajectoryFrame TrajectoryReader::read_frame(std::uint64_t index, bool with_positions) const {
  const hdf5::QuietErrors quiet;
  try {
    TrajectoryFrame frame;
    const std::size_t molecules = system_.molecules.size();
    frame.centres.resize(3 * molecules);
    frame.orientations.resize(4 * molecules);
    read_part(step_, index, H5T_NATIVE_INT64, &frame.step);
    read_part(edges_, index, H5T_NATIVE_DOUBLE, frame.edges.data());
    if (molecules > 0) {
      read_part(centre_, index, H5T_NATIVE_DOUBLE, frame.centres.data());
      read_part(orientation_, index, H5T_NATIVE_DOUBLE, frame.orientations.data());
    }
    if (with_positions) {
      frame.positions.resize(3 * particles_);
      read_part(position_, index, H5T_NATIVE_DOUBLE, frame.positions.data());
    }
    check_states(frame);
    return frame;
  } catch (const RunError& error) {
    refuse(path_, fmt::format("cannot read frame {} of the trajectory: {}", index, error.what()));
  }
}

void TrajectoryReader::check_states(const TrajectoryFrame& frame) const {
  for (std::size_t i = 0; i < system_.molecules.size(); ++i) {
    const double* const c = &frame.centres[3 * i];
    const double* const q = &frame.orientations[4 * i];
    if (!is_pose({c[0], c[1], c[2]}, {q[0], q[1], q[2], q[3]}))
      throw RunError(fmt::format("molecule {} has no centre or no orientation there", i));
  }
}

}  // namespace starpmc
