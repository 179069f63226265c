#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "io/trajectory_frame.hpp"
#include "system/system.hpp"

namespace starpmc {

struct TrajectoryOptions {
  bool double_precision_positions = false;  ///< site positions as float64 instead of float32
  /// Deflate, 0 (off) to 9. Random digits hardly shrink: level 1 makes a file 14 % smaller and
  /// takes twenty times as long to write.
  unsigned compression_level = 0;
  std::string creator_version = "unknown";
};

/// trajectory.h5md: H5MD 1.1 (de Buyl, Colberg, Hoefling, Comput. Phys. Commun. 185, 1546 (2014)).
///
/// /particles/all holds box, species, charge and position {step, time, value}: solute atoms first,
/// then all sites of the MM molecules, virtual sites included; molecules are kept whole, their
/// centres wrapped into the box. /particles/molecules holds centres (angstrom, unwrapped) and
/// orientations (w, x, y, z) in float64, /parameters the molecule types and the QM molecule, so the
/// exact state of every frame can be rebuilt (read_stored_state()). Frames are handed to the system
/// at least every second of appending and by flush(); should the process be killed, the file is
/// readable and has them. Equal runs give equal numbers, resumed or not. Trajectories of several
/// threads take turns (hdf5::library_mutex()).
class Trajectory {
 public:
  /// @throws RunError if the file exists or cannot be written
  Trajectory(const std::filesystem::path& path, const System& system,
             const TrajectoryOptions& options = {});
  /// Goes on, in place, where `extent` ends in the file that an earlier run has left.
  /// Its further frames stay until the next ones, which are the same if it is the same run, are
  /// written over them; close() drops those left. So nothing is lost at whatever instant the
  /// process is killed.
  /// @param system, options those of the earlier run
  /// @throws InputError as check(); RunError if the file cannot be written. It is then as it was.
  static Trajectory resume(const std::filesystem::path& path, const System& system,
                           const TrajectoryOptions& options, const TrajectoryExtent& extent);
  /// Whether a run of this system can go on with the file. Reads the last frame of `extent` and
  /// what is said of the particles, however long the file is.
  /// @throws InputError naming the file if it is missing, unreadable, of other particles, has fewer
  ///         frames, or another one where `extent` ends
  static void check(const std::filesystem::path& path, const System& system,
                    const TrajectoryExtent& extent);
  ~Trajectory();
  Trajectory(Trajectory&&) noexcept;
  Trajectory& operator=(Trajectory&&) = delete;

  /// Appends the state of `molecules`: those of the system given to the constructor, moved.
  /// @throws RunError when the disk is full; std::invalid_argument for a wrong number of molecules
  void append(std::uint64_t step, std::span<const Molecule> molecules);
  std::uint64_t frame_count() const;
  /// With all frames appended so far: what resume() takes.
  TrajectoryExtent extent() const;
  /// Hands all frames to the system.
  /// @throws RunError
  void flush();
  /// @throws RunError
  void close();

 private:
  class Writer;
  explicit Trajectory(std::unique_ptr<Writer> writer);

  std::unique_ptr<Writer> writer_;
};

/// The system as PDB: solute and sites in the trajectory's order, so that MDAnalysis and viewers
/// can use it as the topology of trajectory.h5md. Replaces an earlier one. Coordinates that do not
/// fit PDB's columns are an error.
/// @throws RunError
/// @param molecules those of the system, moved
void write_system_pdb(const std::filesystem::path& path, const System& system,
                      std::span<const Molecule> molecules);

}  // namespace starpmc
