#include "io/trajectory.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "io/continued_file.hpp"
#include "io/hdf5_handle.hpp"
#include "io/site_order.hpp"
#include "io/trajectory_header.hpp"
#include "io/trajectory_reader.hpp"
#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

using hdf5::FrameSeries;
using hdf5::Handle;

constexpr std::array<int, 1> box_dimension = {3};
constexpr const char* position_group = "particles/all/position";
constexpr const char* edges_group = "particles/all/box/edges";
constexpr const char* centre_group = "particles/molecules/position";
constexpr const char* orientation_group = "particles/molecules/orientation";

/// Frames are handed to the system this often, or when they are as many bytes.
constexpr std::chrono::seconds frame_flush_interval{1};
constexpr std::uint64_t most_bytes_held = std::uint64_t{8} << 20;
/// Frames after which the file is opened anew, so that HDF5 forgets where the earlier ones are: it
/// keeps one to two kilobytes for each.
constexpr std::uint64_t frames_per_opening = 5000;

std::string below(const char* group, const char* name) { return std::string(group) + "/" + name; }

Handle create_file(const std::string& path) {
  const hdf5::QuietErrors quiet;
  const Handle access = hdf5::frame_file_access(true);
  return {H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, access.get()),
          path + ": cannot create the trajectory"};
}

/// Until then a file is tried again: a process that this one has just started has all its files,
/// locks included, until it has become the program that it is to be.
constexpr std::chrono::milliseconds longest_wait{2000};
constexpr std::chrono::milliseconds between_tries{20};

Handle open_file(const std::string& path, bool locked) {
  const hdf5::QuietErrors quiet;
  const Handle access = hdf5::frame_file_access(locked);
  const auto last_try = std::chrono::steady_clock::now() + longest_wait;
  for (;;) {
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, access.get());
    if (file < 0 && std::chrono::steady_clock::now() < last_try) {
      std::this_thread::sleep_for(between_tries);
      continue;
    }
    return {file, path +
                      ": cannot open the trajectory to go on with it (is another program "
                      "reading it?)"};
  }
}

}  // namespace

class Trajectory::Writer {
 public:
  Writer(const std::filesystem::path& path, const System& system, const TrajectoryOptions& options)
      : Writer(path, system, options, create_file(path.string())) {
    guarded([&] {
      write_trajectory_header(file_.get(), system_, options.creator_version);
      create_particles(options);
      create_molecules(options);
      flush();
    });
  }

  /// Goes on where `extent` ends; changes nothing as yet.
  Writer(const std::filesystem::path& path, const System& system, const TrajectoryOptions& options,
         const TrajectoryExtent& extent)
      : Writer(path, system, options, open_file(path.string(), true)) {
    frames_ = extent.frames;
    resumed_sha256_ = extent.last_frame_sha256;
    guarded([&] { open_datasets(); });
  }

  ~Writer() {
    const hdf5::QuietErrors quiet;
    discard();
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void append(std::uint64_t step, std::span<const Molecule> molecules) {
    if (molecules.size() != system_.molecules.size())
      throw std::invalid_argument("Trajectory::append: number of molecules has changed");
    require_open();
    TrajectoryFrame frame = frame_of(step, molecules);
    guarded([&] {
      reserve_room();
      // Positions last: readers count frames by them.
      step_->append(frame.step);
      time_->append(std::array<double, 1>{0});
      edges_->append(frame.edges);
      if (!molecules.empty()) {
        centre_->append(frame.centres);
        orientation_->append(frame.orientations);
      }
      append_positions(frame.positions);
      last_frame_ = std::move(frame);
      ++frames_;
      ++frames_held_;
      const bool many = frames_held_ * most_bytes_per_frame() > most_bytes_held;
      if (many || std::chrono::steady_clock::now() - last_flush_ >= frame_flush_interval) flush();
    });
  }

  void hand_over() {
    if (!file_is_open_ || frames_held_ == 0) return;
    guarded([&] { flush(); });
  }

  void close() {
    if (!file_is_open_) return;
    guarded([&] {
      for_each_series([](FrameSeries& series) { series.trim(); });
      flush();
      close_datasets();
      file_is_open_ = false;
      file_.close("closing the file");
    });
  }

  std::uint64_t frame_count() const { return frames_; }

  TrajectoryExtent extent() const {
    return {frames_, last_frame_ ? last_frame_->sha256() : resumed_sha256_};
  }

 private:
  Writer(const std::filesystem::path& path, const System& system, const TrajectoryOptions& options,
         Handle file)
      : path_(path.string()),
        system_(system),
        double_precision_positions_(options.double_precision_positions),
        particle_count_(particle_labels(system).size()),
        file_(std::move(file)) {}

  void require_open() const {
    if (!file_is_open_) throw RunError(path_ + ": the trajectory is closed");
  }

  /// Gives HDF5's errors the name of the file and keeps HDF5 from printing them itself. After a
  /// failure the file is left as it is on the disk, with the frames of the last flush.
  template <typename Action>
  void guarded(Action action) {
    const hdf5::QuietErrors quiet;
    try {
      action();
    } catch (const RunError& error) {
      // What HDF5 still holds would spoil the frames that are on the disk.
      hdf5::abandon_file(file_.get());
      discard();
      throw RunError(path_ + ": cannot write the trajectory: " + error.what());
    }
  }

  /// For the next frame and for those held; where there is none for all, those held still go to the
  /// file.
  void reserve_room() {
    constexpr std::uint64_t bookkeeping = std::uint64_t{1} << 15;
    const std::uint64_t next =
        bookkeeping + FrameSeries::most_frames_per_chunk * most_bytes_per_frame();
    try {
      hdf5::reserve_room(file_.get(), next + frames_held_ * most_bytes_per_frame());
    } catch (const RunError&) {
      if (frames_held_ == 0) throw;
      flush();
      hdf5::reserve_room(file_.get(), next);
    }
  }

  /// With what HDF5 needs to find the frame; compression can make numbers longer, a little.
  std::uint64_t most_bytes_per_frame() const {
    constexpr std::uint64_t bookkeeping = 512;
    const std::uint64_t numbers =
        3 * particle_count_ + 7 * static_cast<std::uint64_t>(system_.molecules.size());
    return bookkeeping + numbers * (sizeof(double) + 1);
  }

  void flush() {
    hdf5::check(H5Fflush(file_.get(), H5F_SCOPE_LOCAL), "flush");
    frames_since_opening_ += std::exchange(frames_held_, 0);
    last_flush_ = std::chrono::steady_clock::now();
    if (frames_since_opening_ > frames_per_opening) reopen();
  }

  void reopen() {
    close_datasets();
    file_.close("closing the file");
    file_ = open_file(path_, false);  // a reader may have its lock meanwhile
    open_datasets();
    frames_since_opening_ = 0;
  }

  template <typename Action>
  void for_each_series(Action action) {
    for (auto* series : {&step_, &time_, &edges_, &centre_, &orientation_, &position_})
      if (*series) action(**series);
  }

  void close_datasets() noexcept {
    for (auto* series : {&step_, &time_, &edges_, &centre_, &orientation_, &position_})
      series->reset();
  }

  void discard() noexcept {
    close_datasets();
    file_is_open_ = false;
    file_ = Handle();
  }

  void open_datasets() {
    const auto open = [&](std::optional<FrameSeries>& series, const std::string& path,
                          std::vector<hsize_t> frame_shape) {
      series.emplace(file_.get(), path, std::move(frame_shape), frames_);
    };
    const hsize_t count = system_.molecules.size();
    open(step_, below(position_group, "step"), {});
    open(time_, below(position_group, "time"), {});
    open(edges_, below(edges_group, "value"), {3});
    open(position_, below(position_group, "value"), {particle_count_, 3});
    if (count == 0) return;
    open(centre_, below(centre_group, "value"), {count, 3});
    open(orientation_, below(orientation_group, "value"), {count, 4});
  }

  void create_particles(const TrajectoryOptions& options) {
    const Handle particles = hdf5::create_group(file_.get(), "particles");
    const Handle all = hdf5::create_group(particles.get(), "all");
    write_particle_facts(all.get(), system_);

    const Handle position = hdf5::create_group(file_.get(), position_group);
    step_.emplace(position.get(), "step", H5T_STD_I64LE, std::vector<hsize_t>{}, 0U);
    time_.emplace(position.get(), "time", H5T_IEEE_F64LE, std::vector<hsize_t>{}, 0U);
    hdf5::write_attribute(time_->get(), "unit", "ps");
    hdf5::write_attribute(time_->get(), "note",
                          "Monte Carlo has no time: always 0, because readers of H5MD ask for a "
                          "time with a unit; steps are in the dataset step");
    position_.emplace(position.get(), "value",
                      options.double_precision_positions ? H5T_IEEE_F64LE : H5T_IEEE_F32LE,
                      std::vector<hsize_t>{particle_count_, 3}, options.compression_level);
    hdf5::write_attribute(position_->get(), "unit", "Angstrom");

    const Handle box = hdf5::create_group(all.get(), "box");
    hdf5::write_attribute(box.get(), "dimension", box_dimension);
    const std::array<std::string, 3> periodic = {"periodic", "periodic", "periodic"};
    hdf5::write_attribute(box.get(), "boundary", std::span<const std::string>(periodic));
    const Handle edges = hdf5::create_group(file_.get(), edges_group);
    edges_.emplace(edges.get(), "value", H5T_IEEE_F64LE, std::vector<hsize_t>{3}, 0U);
    hdf5::write_attribute(edges_->get(), "unit", "Angstrom");
    link_step_and_time(edges.get());
  }

  /// /particles/molecules: the rigid bodies, exactly.
  void create_molecules(const TrajectoryOptions& options) {
    const hsize_t count = system_.molecules.size();
    if (count == 0) return;
    const Handle molecules = hdf5::create_group(file_.get(), "particles/molecules");
    hdf5::hard_link(file_.get(), "particles/all/box", molecules.get(), "box");
    std::vector<std::int32_t> species;
    for (const Molecule& molecule : system_.molecules)
      species.push_back(static_cast<std::int32_t>(molecule.type));
    const Handle type = hdf5::write_dataset(molecules.get(), "species", species, {&count, 1});
    hdf5::write_attribute(type.get(), "meaning", "index into /parameters/molecule_types");

    const Handle position = hdf5::create_group(file_.get(), centre_group);
    centre_.emplace(position.get(), "value", H5T_IEEE_F64LE, std::vector<hsize_t>{count, 3},
                    options.compression_level);
    hdf5::write_attribute(centre_->get(), "unit", "Angstrom");
    link_step_and_time(position.get());
    const Handle orientation = hdf5::create_group(file_.get(), orientation_group);
    orientation_.emplace(orientation.get(), "value", H5T_IEEE_F64LE, std::vector<hsize_t>{count, 4},
                         options.compression_level);
    hdf5::write_attribute(orientation_->get(), "meaning", "unit quaternion w, x, y, z");
    link_step_and_time(orientation.get());
  }

  /// H5MD wants elements sampled together to share their steps and times.
  void link_step_and_time(hid_t element) {
    hdf5::hard_link(file_.get(), below(position_group, "step"), element, "step");
    hdf5::hard_link(file_.get(), below(position_group, "time"), element, "time");
  }

  TrajectoryFrame frame_of(std::uint64_t step, std::span<const Molecule> molecules) const {
    const Vector3& box = system_.box.lengths;
    TrajectoryFrame frame{static_cast<std::int64_t>(step), {box.x, box.y, box.z}, {}, {}, {}};
    frame.centres.reserve(3 * molecules.size());
    frame.orientations.reserve(4 * molecules.size());
    for (const Molecule& molecule : molecules) {
      const Vector3& c = molecule.centre;
      const Quaternion& q = molecule.orientation;
      frame.centres.insert(frame.centres.end(), {c.x, c.y, c.z});
      frame.orientations.insert(frame.orientations.end(), {q.w, q.x, q.y, q.z});
    }
    frame.positions = particle_positions(system_, molecules);
    return frame;
  }

  /// Leaves `positions` as the file has them.
  void append_positions(std::vector<double>& positions) {
    if (double_precision_positions_) {
      position_->append(positions);
    } else {  // HDF5's own conversion takes several times as long
      const std::vector<float> rounded(positions.begin(), positions.end());
      position_->append(rounded);
      positions.assign(rounded.begin(), rounded.end());
    }
  }

  std::string path_;
  System system_;
  bool double_precision_positions_;
  hsize_t particle_count_;
  Handle file_;
  bool file_is_open_ = true;
  std::uint64_t frames_ = 0;
  std::optional<TrajectoryFrame> last_frame_;  ///< of those appended here
  std::string resumed_sha256_;                 ///< of the last one of an earlier run
  std::uint64_t frames_held_ = 0;              ///< appended since the last flush
  std::uint64_t frames_since_opening_ = 0;
  std::chrono::steady_clock::time_point last_flush_ = std::chrono::steady_clock::now();
  std::optional<FrameSeries> step_;
  std::optional<FrameSeries> time_;
  std::optional<FrameSeries> edges_;
  std::optional<FrameSeries> position_;
  std::optional<FrameSeries> centre_;
  std::optional<FrameSeries> orientation_;
};

Trajectory::Trajectory(const std::filesystem::path& path, const System& system,
                       const TrajectoryOptions& options) {
  const std::lock_guard lock(hdf5::library_mutex());
  writer_ = std::make_unique<Writer>(path, system, options);
}

Trajectory::Trajectory(std::unique_ptr<Writer> writer) : writer_(std::move(writer)) {}

namespace {

/// Frames of both would be of one header.
void require_same_geometries(std::span<const MoleculeType> stored, const System& system,
                             const std::filesystem::path& path) {
  const auto reference = [](const Site& site) { return site.reference; };
  for (std::size_t i = 0; i < stored.size() && i < system.molecule_types.size(); ++i) {
    const MoleculeType& own = system.molecule_types[i];
    if (std::ranges::equal(stored[i].sites, own.sites, {}, reference, reference)) continue;
    throw InputError(
        path.string(),
        "the trajectory to be continued has another rigid geometry of molecule " + own.name, "",
        how_to_put_right("the file as the run left it"));
  }
}

}  // namespace

Trajectory Trajectory::resume(const std::filesystem::path& path, const System& system,
                              const TrajectoryOptions& options, const TrajectoryExtent& extent) {
  check(path, system, extent);
  const std::lock_guard lock(hdf5::library_mutex());
  return Trajectory(std::make_unique<Writer>(path, system, options, extent));
}

void Trajectory::check(const std::filesystem::path& path, const System& system,
                       const TrajectoryExtent& extent) {
  const std::lock_guard lock(hdf5::library_mutex());
  const TrajectoryReader earlier(path, system);
  const std::string remedy = how_to_put_right("the file as the run left it");
  if (earlier.frame_count() < extent.frames) {
    throw InputError(path.string(),
                     "the trajectory to be continued has " + std::to_string(earlier.frame_count()) +
                         " frames where there were " + std::to_string(extent.frames),
                     "", remedy);
  }
  require_same_geometries(earlier.molecule_types(), system, path);
  if (extent.frames == 0) return;
  const std::string found = earlier.read(extent.frames - 1).sha256();
  if (found == extent.last_frame_sha256) return;
  throw InputError(path.string(),
                   "is damaged or of another run or chain: the SHA-256 of what frame " +
                       std::to_string(extent.frames - 1) + " says is " + extent.last_frame_sha256 +
                       " in the checkpoint",
                   found, remedy);
}

Trajectory::~Trajectory() {
  const std::lock_guard lock(hdf5::library_mutex());
  writer_.reset();
}

Trajectory::Trajectory(Trajectory&&) noexcept = default;

void Trajectory::append(std::uint64_t step, std::span<const Molecule> molecules) {
  const std::lock_guard lock(hdf5::library_mutex());
  writer_->append(step, molecules);
}

void Trajectory::flush() {
  const std::lock_guard lock(hdf5::library_mutex());
  writer_->hand_over();
}

std::uint64_t Trajectory::frame_count() const { return writer_->frame_count(); }

TrajectoryExtent Trajectory::extent() const { return writer_->extent(); }

void Trajectory::close() {
  const std::lock_guard lock(hdf5::library_mutex());
  writer_->close();
}

}  // namespace starpmc
