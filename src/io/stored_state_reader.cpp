#include "io/stored_state_reader.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "io/binary_json.hpp"
#include "io/checkpoint.hpp"
#include "io/hdf5_handle.hpp"
#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

using hdf5::Handle;

constexpr std::size_t kPoseNumbers = 7;  ///< x, y, z, w, i, j, k

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& problem,
                         const std::string& found, const std::string& remedy) {
  throw InputError(path.string(), problem, found, remedy);
}

class HeaderReader {
 public:
  explicit HeaderReader(const std::filesystem::path& path)
      : file_(H5Fopen(path.c_str(), H5F_ACC_RDONLY, hdf5::frame_file_access(false).get()),
              "opening") {}

  /// Everything but the frames.
  StoredState read() const {
    StoredState state;
    state.title = text_attribute("parameters", "title");
    read_types(state);
    for (const std::int64_t type : integers("particles/molecules/species")) {
      if (type < 0 || static_cast<std::size_t>(type) >= state.types.size())
        throw RunError("particles/molecules/species names no molecule type");
      state.molecules.push_back({static_cast<std::size_t>(type), {}, {}});
    }
    if (exists("parameters/solute")) read_solute(state);
    return state;
  }

  std::uint64_t frames() const {
    return shape_of("particles/molecules/orientation/value", 3).front();
  }

  void set_box(StoredState& state, std::uint64_t frame) const {
    const auto edges = frame_of("particles/all/box/edges/value", frame, {3});
    state.box = Box{{edges[0], edges[1], edges[2]}};
  }

  void set_poses(StoredState& state, std::uint64_t frame) const {
    const hsize_t count = state.molecules.size();
    const auto centres = frame_of("particles/molecules/position/value", frame, {count, 3});
    const auto quaternions = frame_of("particles/molecules/orientation/value", frame, {count, 4});
    for (std::size_t m = 0; m < count; ++m) {
      const double* const c = &centres[3 * m];
      const double* const q = &quaternions[4 * m];
      state.molecules[m].centre = {c[0], c[1], c[2]};
      state.molecules[m].orientation = {q[0], q[1], q[2], q[3]};
    }
  }

 private:
  bool exists(const std::string& name) const {
    return H5Lexists(file_.get(), name.c_str(), H5P_DEFAULT) > 0;
  }

  Handle dataset(const std::string& name) const {
    return {H5Dopen2(file_.get(), name.c_str(), H5P_DEFAULT), name};
  }

  std::vector<hsize_t> shape_of(const std::string& name, std::size_t dimensions) const {
    std::vector<hsize_t> shape = hdf5::shape_of(dataset(name).get());
    if (shape.size() != dimensions) throw RunError(name + " has another shape");
    return shape;
  }

  std::string text_attribute(const std::string& object, const std::string& name) const {
    const Handle attribute(
        H5Aopen_by_name(file_.get(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT),
        object + ", " + name);
    const Handle type(H5Aget_type(attribute.get()), name);
    if (H5Tis_variable_str(type.get()) <= 0) throw RunError(name + " is not a text");
    char* text = nullptr;
    hdf5::check(H5Aread(attribute.get(), type.get(), &text), name);
    const std::unique_ptr<char, herr_t (*)(void*)> owner(
        text, [](void* memory) { return H5free_memory(memory); });
    return text == nullptr ? "" : text;
  }

  std::vector<std::string> texts(const std::string& name) const {
    const Handle data = dataset(name);
    const Handle type(H5Dget_type(data.get()), name);
    const std::size_t length = H5Tget_size(type.get());
    if (H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) != 0)
      throw RunError(name + " has no texts of fixed length");
    const std::size_t count = shape_of(name, 1).front();
    std::vector<char> characters(count * length);
    hdf5::check(H5Dread(data.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, characters.data()),
                name);
    std::vector<std::string> found;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string_view text(&characters[i * length], length);
      found.emplace_back(text.substr(0, text.find('\0')));
    }
    return found;
  }

  std::vector<std::int64_t> integers(const std::string& name) const {
    std::vector<std::int64_t> numbers(shape_of(name, 1).front());
    hdf5::check(H5Dread(dataset(name).get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                        numbers.data()),
                name);
    return numbers;
  }

  std::vector<Vector3> points(const std::string& name, std::size_t expected) const {
    if (shape_of(name, 2) != std::vector<hsize_t>{expected, 3})
      throw RunError(name + " has another number of points than of names");
    std::vector<double> numbers(3 * expected);
    hdf5::check(H5Dread(dataset(name).get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                        numbers.data()),
                name);
    std::vector<Vector3> found;
    for (std::size_t i = 0; i < expected; ++i)
      found.push_back({numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2]});
    return found;
  }

  std::vector<double> frame_of(const std::string& name, std::uint64_t frame,
                               const std::vector<hsize_t>& frame_shape) const {
    const Handle data = dataset(name);
    std::vector<hsize_t> count{1};
    std::size_t numbers = 1;
    for (const hsize_t length : frame_shape) {
      count.push_back(length);
      numbers *= length;
    }
    std::vector<hsize_t> shape = shape_of(name, count.size());
    const bool has_it = shape.front() > frame;
    shape.front() = 1;
    if (!has_it || shape != count) throw RunError(name + " has another shape");
    std::vector<hsize_t> start(count.size(), 0);
    start.front() = frame;
    const Handle file_space(H5Dget_space(data.get()), name);
    hdf5::check(H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, start.data(), nullptr,
                                    count.data(), nullptr),
                name);
    const Handle memory_space(
        H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), name);
    std::vector<double> values(numbers);
    hdf5::check(H5Dread(data.get(), H5T_NATIVE_DOUBLE, memory_space.get(), file_space.get(),
                        H5P_DEFAULT, values.data()),
                name);
    return values;
  }

  void read_types(StoredState& state) const {
    const std::string types = "parameters/molecule_types/";
    for (std::size_t i = 0; exists(types + std::to_string(i)); ++i) {
      const std::string group = types + std::to_string(i);
      MoleculeType type{text_attribute(group, "name"), {}};
      const auto names = texts(group + "/site_names");
      const auto reference = points(group + "/reference_position", names.size());
      for (std::size_t s = 0; s < names.size(); ++s)
        type.sites.push_back({names[s], "", 0, 0, 0, reference[s]});
      state.types.push_back(std::move(type));
    }
  }

  void read_solute(StoredState& state) const {
    state.solute_name = text_attribute("parameters/solute", "name");
    state.solute_atoms = texts("parameters/solute/site_names");
    state.solute_positions = points("parameters/solute/position", state.solute_atoms.size());
  }

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
    state.path = trajectory;
    read(reader, state);
    return state;
  } catch (const RunError& error) {
    refuse(trajectory,
           fmt::format("is not a trajectory that positions can be taken from: {}", error.what()),
           "", "name a trajectory.h5md of this version of starpmc, a run's folder, or a .gro file");
  }
}

void take_poses(StoredState& state, const nlohmann::json& checkpoint) {
  const auto numbers = vector_from_binary<double>(checkpoint.at("poses"));
  if (numbers.size() != kPoseNumbers * state.molecules.size())
    throw RunError("its checkpoint has another number of molecules");
  for (std::size_t m = 0; m < state.molecules.size(); ++m) {
    const double* const v = &numbers[kPoseNumbers * m];
    state.molecules[m].centre = {v[0], v[1], v[2]};
    state.molecules[m].orientation = {v[3], v[4], v[5], v[6]};
  }
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
      take_poses(state, *checkpoint);
    } catch (const nlohmann::json::exception& error) {
      throw RunError(fmt::format("its checkpoint lacks something: {}", error.what()));
    }
  });
}

}  // namespace starpmc
