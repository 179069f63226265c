#include "io/trajectory.hpp"

#include <array>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "error.hpp"
#include "io/checked_file.hpp"
#include "io/hdf5_handle.hpp"
#include "io/site_order.hpp"
#include "io/trajectory_reader.hpp"

namespace starpmc {
namespace {

using hdf5::FrameSeries;
using hdf5::Handle;

constexpr std::array<int, 2> h5md_version = {1, 1};
constexpr std::array<int, 1> box_dimension = {3};

Handle create_file(const std::string& path) {
  // The oldest format the library writes: it has no mark for "open for writing", which would keep
  // readers out after a kill.
  const hdf5::QuietErrors quiet;
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), path);
  hdf5::check(H5Pset_libver_bounds(access.get(), H5F_LIBVER_EARLIEST, H5F_LIBVER_V18), path);
  return {H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, access.get()),
          path + ": cannot create the trajectory"};
}

void write_header(hid_t file, const std::string& version) {
  const Handle h5md = hdf5::create_group(file, "h5md");
  hdf5::write_attribute(h5md.get(), "version", h5md_version);
  const Handle author = hdf5::create_group(h5md.get(), "author");
  const char* const user = std::getenv("USER");
  hdf5::write_attribute(author.get(), "name", user == nullptr ? "unknown" : user);
  const Handle creator = hdf5::create_group(h5md.get(), "creator");
  hdf5::write_attribute(creator.get(), "name", "starpmc");
  hdf5::write_attribute(creator.get(), "version", version);
}

void write_particle_facts(hid_t particles, const System& system) {
  std::vector<std::int32_t> species;
  std::vector<double> charges;
  std::vector<double> masses;
  for (const ParticleLabel& label : particle_labels(system)) {
    species.push_back(label.atomic_number);
    charges.push_back(label.charge);
    masses.push_back(label.mass);
  }
  const std::array<hsize_t, 1> shape = {species.size()};
  const Handle species_data = hdf5::write_dataset(particles, "species", species, shape);
  hdf5::write_attribute(species_data.get(), "meaning", "atomic number; 0: virtual site");
  const Handle charge_data = hdf5::write_dataset(particles, "charge", charges, shape);
  hdf5::write_attribute(charge_data.get(), "unit", "e");
  hdf5::write_attribute(charge_data.get(), "note",
                        "0 for the atoms of the QM molecule, whose charge is its density");
  const Handle mass_data = hdf5::write_dataset(particles, "mass", masses, shape);
  hdf5::write_attribute(mass_data.get(), "unit", "g mol-1");
}

/// Reference geometries: with centres and orientations they give every site to the last bit.
void write_molecule_types(hid_t file, const System& system) {
  const Handle parameters = hdf5::create_group(file, "parameters");
  const Handle types = hdf5::create_group(parameters.get(), "molecule_types");
  for (std::size_t i = 0; i < system.molecule_types.size(); ++i) {
    const MoleculeType& type = system.molecule_types[i];
    const Handle group = hdf5::create_group(types.get(), std::to_string(i));
    hdf5::write_attribute(group.get(), "name", type.name);
    if (type.sites.empty()) continue;
    std::vector<std::string> names;
    std::vector<double> charges;
    std::vector<double> reference;
    for (const Site& site : type.sites) {
      names.push_back(site.name);
      charges.push_back(site.charge);
      reference.insert(reference.end(), {site.reference.x, site.reference.y, site.reference.z});
    }
    const std::array<hsize_t, 2> shape = {type.sites.size(), 3};
    hdf5::write_dataset(group.get(), "site_names", names);
    hdf5::write_dataset(group.get(), "charge", charges, std::span(shape).first(1));
    const Handle position =
        hdf5::write_dataset(group.get(), "reference_position", reference, shape);
    hdf5::write_attribute(position.get(), "unit", "Angstrom");
  }
}

}  // namespace

class Trajectory::Writer {
 public:
  Writer(const std::filesystem::path& path, const System& system, const TrajectoryOptions& options)
      : path_(path.string()), system_(system), file_(create_file(path_)) {
    guarded([&] {
      write_header(file_.get(), options.creator_version);
      write_molecule_types(file_.get(), system_);
      create_particles(options);
      create_molecules(options);
      flush();
    });
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
    if (!file_is_open_) throw RunError(path_ + ": the trajectory is closed");
    guarded([&] {
      hdf5::reserve_room(file_.get(), most_bytes_per_frame());
      // Positions last: readers count frames by them.
      step_->append(static_cast<std::int64_t>(step));
      const auto time = static_cast<double>(step);
      time_->append(std::span(&time, 1));
      const Vector3& box = system_.box.lengths;
      edges_->append(std::array<double, 3>{box.x, box.y, box.z});
      append_molecules(molecules);
      position_->append(particle_positions(system_, molecules));
      flush();
      ++frames_;
    });
  }

  void synchronise() {
    if (!file_is_open_) throw RunError(path_ + ": the trajectory is closed");
    guarded([&] { hdf5::synchronise_file(file_.get()); });
  }

  /// Moves the open file to another name, replacing what has it.
  void rename(const std::filesystem::path& path) {
    rename_durably(path_, path);
    path_ = path.string();
  }

  void close() {
    if (!file_is_open_) return;
    guarded([&] {
      flush();
      close_datasets();
      file_is_open_ = false;
      file_.close("closing the file");
    });
  }

  std::uint64_t frame_count() const { return frames_; }

 private:
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

  /// With what HDF5 may need to find the frame; compression can make numbers longer, a little.
  std::uint64_t most_bytes_per_frame() const {
    constexpr std::uint64_t bookkeeping = std::uint64_t{1} << 16;
    const std::uint64_t numbers =
        3 * particle_count_ + 7 * static_cast<std::uint64_t>(system_.molecules.size());
    return bookkeeping + numbers * (sizeof(double) + 1);
  }

  void flush() { hdf5::check(H5Fflush(file_.get(), H5F_SCOPE_LOCAL), "flush"); }

  void close_datasets() noexcept {
    for (auto* series : {&step_, &time_, &edges_, &position_, &centre_, &orientation_})
      series->reset();
  }

  void discard() noexcept {
    close_datasets();
    file_is_open_ = false;
    file_ = Handle();
  }

  void create_particles(const TrajectoryOptions& options) {
    const Handle particles = hdf5::create_group(file_.get(), "particles");
    const Handle all = hdf5::create_group(particles.get(), "all");
    write_particle_facts(all.get(), system_);

    const Handle position = hdf5::create_group(all.get(), "position");
    step_.emplace(position.get(), "step", H5T_STD_I64LE, std::vector<hsize_t>{}, 0U);
    time_.emplace(position.get(), "time", H5T_IEEE_F64LE, std::vector<hsize_t>{}, 0U);
    hdf5::write_attribute(time_->get(), "unit", "ps");
    hdf5::write_attribute(time_->get(), "note",
                          "Monte Carlo has no time: one step is shown as 1 ps, because readers of "
                          "H5MD ask for a unit of time");
    const hsize_t sites = particle_labels(system_).size();
    particle_count_ = sites;
    position_.emplace(position.get(), "value",
                      options.double_precision_positions ? H5T_IEEE_F64LE : H5T_IEEE_F32LE,
                      std::vector<hsize_t>{sites, 3}, options.compression_level);
    hdf5::write_attribute(position_->get(), "unit", "Angstrom");

    const Handle box = hdf5::create_group(all.get(), "box");
    hdf5::write_attribute(box.get(), "dimension", box_dimension);
    const std::array<std::string, 3> periodic = {"periodic", "periodic", "periodic"};
    hdf5::write_attribute(box.get(), "boundary", std::span<const std::string>(periodic));
    const Handle edges = hdf5::create_group(box.get(), "edges");
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

    const Handle position = hdf5::create_group(molecules.get(), "position");
    centre_.emplace(position.get(), "value", H5T_IEEE_F64LE, std::vector<hsize_t>{count, 3},
                    options.compression_level);
    hdf5::write_attribute(centre_->get(), "unit", "Angstrom");
    link_step_and_time(position.get());
    const Handle orientation = hdf5::create_group(molecules.get(), "orientation");
    orientation_.emplace(orientation.get(), "value", H5T_IEEE_F64LE, std::vector<hsize_t>{count, 4},
                         options.compression_level);
    hdf5::write_attribute(orientation_->get(), "meaning", "unit quaternion w, x, y, z");
    link_step_and_time(orientation.get());
  }

  /// H5MD wants elements sampled together to share their steps and times.
  void link_step_and_time(hid_t element) {
    hdf5::hard_link(file_.get(), "particles/all/position/step", element, "step");
    hdf5::hard_link(file_.get(), "particles/all/position/time", element, "time");
  }

  void append_molecules(std::span<const Molecule> molecules) {
    if (molecules.empty()) return;
    std::vector<double> centres;
    std::vector<double> orientations;
    for (const Molecule& molecule : molecules) {
      const Vector3& c = molecule.centre;
      const Quaternion& q = molecule.orientation;
      centres.insert(centres.end(), {c.x, c.y, c.z});
      orientations.insert(orientations.end(), {q.w, q.x, q.y, q.z});
    }
    centre_->append(centres);
    orientation_->append(orientations);
  }

  std::string path_;
  System system_;
  Handle file_;
  bool file_is_open_ = true;
  std::uint64_t frames_ = 0;
  std::uint64_t particle_count_ = 0;
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

Trajectory Trajectory::resume(const std::filesystem::path& path, const System& system,
                              const TrajectoryOptions& options, std::uint64_t frames) {
  const std::lock_guard lock(hdf5::library_mutex());
  const TrajectoryReader earlier(path, system);
  if (earlier.frame_count() < frames)
    throw RunError(path.string() + ": the trajectory to be continued has " +
                   std::to_string(earlier.frame_count()) + " frames where there were " +
                   std::to_string(frames) +
                   "\n  remedy: put the whole file back, or start the run anew with "
                   "--output.overwrite true");
  const std::filesystem::path temporary = temporary_path(path);
  std::error_code ignored;
  std::filesystem::remove(temporary, ignored);  // left by a process of the same number
  std::unique_ptr<Writer> writer;
  try {
    writer = std::make_unique<Writer>(temporary, system, options);
    for (std::uint64_t index = 0; index < frames; ++index) {
      const TrajectoryReader::Frame frame = earlier.read(index);
      writer->append(frame.step, frame.molecules);
    }
    writer->synchronise();
    writer->rename(path);
  } catch (...) {
    writer.reset();
    std::filesystem::remove(temporary, ignored);
    throw;
  }
  return Trajectory(std::move(writer));
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

std::uint64_t Trajectory::frame_count() const { return writer_->frame_count(); }

void Trajectory::close() {
  const std::lock_guard lock(hdf5::library_mutex());
  writer_->close();
}

}  // namespace starpmc
