#include "io/stored_state_reader.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "io/binary_json.hpp"
#include "io/checkpoint.hpp"
#include "io/hdf5_handle.hpp"
#include "io/hdf5_reading.hpp"
#include "io/trajectory_frame.hpp"
#include "io/trajectory_header.hpp"
#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

using hdf5::Handle;

constexpr std::size_t kPoseNumbers = 7;  ///< x, y, z, w, i, j, k

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& problem,
                         const std::string& found, const std::string& remedy) {
  throw InputError(path.string(), problem, found, remedy);
}

constexpr const char* kAnIntactFile =
    "name another frame (system.frame), or a file that is as a run has left it";

constexpr const char* kTheFileAsItWas = "name a file that is as a run has left it";

std::string shown(const Vector3& v) { return fmt::format("{}, {}, {}", v.x, v.y, v.z); }

[[noreturn]] void refuse_place(const Vector3& position, const std::filesystem::path& path,
                               const std::string& whose, const char* remedy) {
  refuse(path, fmt::format("{} lies nowhere within {:g} angstrom", whose, kFarthestAngstrom),
         shown(position), remedy);
}

void check_poses(const StoredState& state, const std::filesystem::path& path) {
  for (std::size_t m = 0; m < state.molecules.size(); ++m) {
    const auto& [type, centre, q] = state.molecules[m];
    if (is_pose(centre, q)) continue;
    const std::string name = fmt::format("molecule {} ({})", m + 1, state.types[type].name);
    if (!is_place(centre)) refuse_place(centre, path, "the centre of " + name, kAnIntactFile);
    refuse(path, name + " has no unit quaternion for an orientation",
           fmt::format("{}, {}, {}, {}", q.w, q.x, q.y, q.z), kAnIntactFile);
  }
}

void check_box(const Vector3& edges, std::uint64_t frame, const std::filesystem::path& path) {
  if (edges == Vector3{}) {
    refuse(path,
           fmt::format("the box of frame {} is of zeros: the frame never reached the disk", frame),
           shown(edges), kAnIntactFile);
  }
  if (is_place(edges) && edges.x > 0 && edges.y > 0 && edges.z > 0) return;
  refuse(path,
         fmt::format("the box of frame {} has an edge that is not between 0 and {:g} angstrom",
                     frame, kFarthestAngstrom),
         shown(edges), kAnIntactFile);
}

class HeaderReader {
 public:
  explicit HeaderReader(const std::filesystem::path& path)
      : path_(path),
        file_(H5Fopen(path.c_str(), H5F_ACC_RDONLY, hdf5::frame_file_access(false).get()),
              "opening") {}

  /// Everything but the frames.
  StoredState read() const {
    StoredState state;
    state.path = path_;
    state.title = hdf5::text_attribute(file_.get(), "parameters", "title");
    state.types = read_molecule_types(file_.get());
    for (const std::int64_t type : hdf5::integers(file_.get(), "particles/molecules/species")) {
      if (type < 0 || static_cast<std::size_t>(type) >= state.types.size())
        throw RunError("particles/molecules/species names no molecule type");
      state.molecules.push_back({static_cast<std::size_t>(type), {}, {}});
    }
    if (hdf5::exists(file_.get(), "parameters/solute")) read_solute(state);
    check_references(state);
    return state;
  }

  std::uint64_t frames() const {
    return hdf5::shape_of(file_.get(), "particles/molecules/orientation/value", 3).front();
  }

  void set_box(StoredState& state, std::uint64_t frame) const {
    const auto edges = hdf5::frame_of(file_.get(), "particles/all/box/edges/value", frame, {3});
    check_box({edges[0], edges[1], edges[2]}, frame, path_);
    state.box = Box{{edges[0], edges[1], edges[2]}};
  }

  void set_poses(StoredState& state, std::uint64_t frame) const {
    const hsize_t count = state.molecules.size();
    const auto centres =
        hdf5::frame_of(file_.get(), "particles/molecules/position/value", frame, {count, 3});
    const auto quaternions =
        hdf5::frame_of(file_.get(), "particles/molecules/orientation/value", frame, {count, 4});
    for (std::size_t m = 0; m < count; ++m) {
      const double* const c = &centres[3 * m];
      const double* const q = &quaternions[4 * m];
      state.molecules[m].centre = {c[0], c[1], c[2]};
      state.molecules[m].orientation = {q[0], q[1], q[2], q[3]};
    }
    check_poses(state, path_);
  }

 private:
  void read_solute(StoredState& state) const {
    const hid_t file = file_.get();
    state.solute_name = hdf5::text_attribute(file, "parameters/solute", "name");
    state.solute_atoms = hdf5::texts(file, "parameters/solute/site_names");
    state.solute_positions =
        hdf5::points(file, "parameters/solute/position", state.solute_atoms.size());
  }

  void check_references(const StoredState& state) const {
    for (const MoleculeType& type : state.types) {
      for (const Site& site : type.sites) {
        if (is_place(site.reference)) continue;
        refuse_place(site.reference, path_,
                     fmt::format("site {} of the rigid geometry of {}", site.name, type.name),
                     kTheFileAsItWas);
      }
    }
    for (std::size_t i = 0; i < state.solute_atoms.size(); ++i) {
      if (is_place(state.solute_positions[i])) continue;
      refuse_place(state.solute_positions[i], path_,
                   fmt::format("atom {} of the QM molecule {}", i + 1, state.solute_name),
                   kTheFileAsItWas);
    }
  }

  std::filesystem::path path_;
  Handle file_;
};

/// Calls read with the file's reader; HDF5's and its errors become the user's.
template <typename Read>
StoredState guarded(const std::filesystem::path& trajectory, Read read) {
  const std::lock_guard lock(hdf5::library_mutex());
  const hdf5::QuietErrors quiet;
  try {
    const HeaderReader reader(trajectory);
    StoredState state = reader.read();
    read(reader, state);
    return state;
  } catch (const RunError& error) {
    refuse(trajectory,
           fmt::format("is not a trajectory that positions can be taken from: {}", error.what()),
           "", "name a trajectory.h5md of this version of starpmc, a run's folder, or a .gro file");
  }
}

/// @param path of the checkpoint
void take_poses(StoredState& state, const nlohmann::json& checkpoint,
                const std::filesystem::path& path) {
  const auto numbers = vector_from_binary<double>(checkpoint.at("poses"));
  if (numbers.size() != kPoseNumbers * state.molecules.size())
    throw RunError("its checkpoint has another number of molecules");
  for (std::size_t m = 0; m < state.molecules.size(); ++m) {
    const double* const v = &numbers[kPoseNumbers * m];
    state.molecules[m].centre = {v[0], v[1], v[2]};
    state.molecules[m].orientation = {v[3], v[4], v[5], v[6]};
  }
  check_poses(state, path);
}

}  // namespace

bool is_hdf5_file(const std::filesystem::path& path) {
  std::array<char, kHdf5Signature.size()> begin{};
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), begin.size());
  return file && std::string_view(begin.data(), begin.size()) == kHdf5Signature;
}

StoredState read_stored_state(const std::filesystem::path& trajectory,
                              std::optional<std::uint64_t> frame) {
  return guarded(trajectory, [&](const HeaderReader& reader, StoredState& state) {
    const std::uint64_t frames = reader.frames();
    if (frames == 0) throw RunError("it has no frames");
    if (frame.value_or(0) >= frames) {
      refuse(trajectory, fmt::format("has {} frames", frames), std::to_string(*frame),
             fmt::format("write system.frame = 0 to {}, or auto", frames - 1));
    }
    const std::uint64_t index = frame.value_or(frames - 1);
    reader.set_box(state, index);
    reader.set_poses(state, index);
  });
}

StoredState read_state_of_run(const std::filesystem::path& folder) {
  const std::filesystem::path trajectory = folder / "trajectory.h5md";
  if (!std::filesystem::exists(trajectory)) {
    const bool several = std::filesystem::exists(folder / "chain-0");
    refuse(folder,
           several ? "is the folder of a run with several chains"
                   : "is not the output folder of a run: it has no trajectory.h5md",
           "",
           several ? "name that of one of them: " + (folder / "chain-0").string()
                   : "name a run's folder, a trajectory.h5md or a .gro file");
  }
  std::vector<std::string> warnings;
  const auto checkpoint = read_checkpoint(folder, warnings);
  if (!checkpoint) {
    refuse(folder, "has no checkpoint, which holds the run's last positions", "",
           "name its trajectory.h5md, whose last frame is then taken, or another one "
           "(system.frame)");
  }
  return guarded(trajectory, [&](const HeaderReader& reader, StoredState& state) {
    reader.set_box(state, 0);  // every frame has the same
    try {
      take_poses(state, *checkpoint, checkpoint_path(folder));
    } catch (const nlohmann::json::exception& error) {
      throw RunError(fmt::format("its checkpoint lacks something: {}", error.what()));
    }
  });
}

}  // namespace starpmc
