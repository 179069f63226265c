#include "io/trajectory_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

using hdf5::Handle;

constexpr const char* remedy =
    "\n  remedy: put the whole file back, or start the run anew with --output.overwrite true";

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

void read_frame(const Handle& dataset, std::uint64_t index, hid_t memory_type, void* values) {
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

/// A frame that never reached the disk reads as zeros, which are no rotation.
bool is_state(const Molecule& molecule) {
  constexpr double largest_error = 1e-6;
  const auto& [w, x, y, z] = molecule.orientation;
  const Vector3& c = molecule.centre;
  return std::abs(w * w + x * x + y * y + z * z - 1) < largest_error && std::isfinite(c.x) &&
         std::isfinite(c.y) && std::isfinite(c.z);
}

}  // namespace

TrajectoryReader::TrajectoryReader(const std::filesystem::path& path, const System& system)
    : path_(path), molecules_(system.molecules) {
  std::error_code ignored;
  const auto status = std::filesystem::symlink_status(path, ignored);
  if (!std::filesystem::exists(status))
    throw RunError(path.string() + ": the trajectory to be continued is missing" + remedy);
  if (!std::filesystem::is_regular_file(status))
    throw RunError(path.string() +
                   ": the trajectory to be continued is no regular file; symbolic links are not "
                   "followed" +
                   remedy);
  const hdf5::QuietErrors quiet;
  try {
    open();
  } catch (const RunError& error) {
    throw RunError(path.string() + ": cannot read the trajectory: " + error.what() + remedy);
  }
}

TrajectoryReader::~TrajectoryReader() {
  const hdf5::QuietErrors quiet;
  orientation_ = Handle();
  centre_ = Handle();
  step_ = Handle();
  file_ = Handle();
}

void TrajectoryReader::open() {
  file_ = Handle(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "opening");
  constexpr const char* step_name = "particles/all/position/step";
  step_ = open_dataset(file_, step_name);
  frames_ = frames_of(step_, step_name, {});
  if (molecules_.empty()) return;
  check_species();
  constexpr const char* centre_name = "particles/molecules/position/value";
  constexpr const char* orientation_name = "particles/molecules/orientation/value";
  centre_ = open_dataset(file_, centre_name);
  orientation_ = open_dataset(file_, orientation_name);
  frames_ = std::min({frames_, frames_of(centre_, centre_name, {molecules_.size(), 3}),
                      frames_of(orientation_, orientation_name, {molecules_.size(), 4})});
}

void TrajectoryReader::check_species() const {
  constexpr const char* name = "particles/molecules/species";
  const Handle dataset = open_dataset(file_, name);
  const std::vector<hsize_t> shape = hdf5::shape_of(dataset.get());
  std::vector<std::int32_t> species(molecules_.size());
  bool same = shape.size() == 1 && shape.front() == molecules_.size();
  if (same) {
    hdf5::check(
        H5Dread(dataset.get(), H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, species.data()),
        name);
    same = std::ranges::equal(species, molecules_, {}, {}, [](const Molecule& molecule) {
      return static_cast<std::int32_t>(molecule.type);
    });
  }
  if (!same) throw RunError(std::string(name) + " are not the molecules of the system");
}

TrajectoryReader::Frame TrajectoryReader::read(std::uint64_t index) const {
  const hdf5::QuietErrors quiet;
  try {
    std::int64_t step = 0;
    read_frame(step_, index, H5T_NATIVE_INT64, &step);
    Frame frame{static_cast<std::uint64_t>(step), {molecules_.begin(), molecules_.end()}};
    if (!molecules_.empty()) set_states(frame.molecules, index);
    return frame;
  } catch (const RunError& error) {
    throw RunError(fmt::format("{}: cannot read frame {} of the trajectory: {}{}", path_.string(),
                               index, error.what(), remedy));
  }
}

void TrajectoryReader::set_states(std::vector<Molecule>& molecules, std::uint64_t index) const {
  std::vector<std::array<double, 3>> centres(molecules.size());
  std::vector<std::array<double, 4>> orientations(molecules.size());
  read_frame(centre_, index, H5T_NATIVE_DOUBLE, centres.data());
  read_frame(orientation_, index, H5T_NATIVE_DOUBLE, orientations.data());
  for (std::size_t i = 0; i < molecules.size(); ++i) {
    const auto& [x, y, z] = centres[i];
    molecules[i].centre = {x, y, z};
    const auto& [w, i_part, j_part, k_part] = orientations[i];
    molecules[i].orientation = {w, i_part, j_part, k_part};
    if (!is_state(molecules[i]))
      throw RunError(fmt::format("molecule {} has no centre or no orientation there", i));
  }
}

}  // namespace starpmc
