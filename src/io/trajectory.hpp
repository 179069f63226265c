#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "system/system.hpp"

namespace starpmc {

struct TrajectoryOptions {
  bool double_precision_positions = false;  ///< site positions as float64 instead of float32
  unsigned compression_level = 1;           ///< deflate, 0 (off) to 9
  std::string creator_version = "unknown";
};

/// trajectory.h5: H5MD 1.1 (de Buyl, Colberg, Hoefling, Comput. Phys. Commun. 185, 1546 (2014)).
///
/// /particles/all holds box, species, charge and position {step, time, value}: solute atoms first,
/// then all sites of the MM molecules, virtual sites included; molecules are kept whole, their
/// centres wrapped into the box. /particles/molecules holds centres (angstrom, unwrapped) and
/// orientations (w, x, y, z) in float64, /parameters the molecule types, so the exact state of
/// every frame can be rebuilt. The file is readable after every append(), should the process be
/// killed. Equal runs by the same user give files of equal bytes, resumed or not. Trajectories of
/// several threads take turns (hdf5::library_mutex()).
class Trajectory {
 public:
  /// @throws RunError if the file exists or cannot be written
  Trajectory(const std::filesystem::path& path, const System& system,
             const TrajectoryOptions& options = {});
  /// Goes on after the first `frames` frames of the file that an earlier run has left; its further
  /// frames are dropped. The frames kept are written anew, to a temporary file that then takes the
  /// place of the old one: until then that stays as it was.
  /// @param system, options those of the earlier run
  /// @throws RunError if the file is missing, unreadable or of other molecules, or has fewer frames
  static Trajectory resume(const std::filesystem::path& path, const System& system,
                           const TrajectoryOptions& options, std::uint64_t frames);
  ~Trajectory();
  Trajectory(Trajectory&&) noexcept;
  Trajectory& operator=(Trajectory&&) = delete;

  /// Appends the state of `molecules`: those of the system given to the constructor, moved. The
  /// file is handed to the system whole.
  /// @throws RunError when the disk is full; std::invalid_argument for a wrong number of molecules
  void append(std::uint64_t step, std::span<const Molecule> molecules);
  std::uint64_t frame_count() const;
  /// @throws RunError
  void close();

 private:
  class Writer;
  explicit Trajectory(std::unique_ptr<Writer> writer);

  std::unique_ptr<Writer> writer_;
};

/// The system as PDB: solute and sites in the trajectory's order, so that MDAnalysis and viewers
/// can use it as the topology of trajectory.h5. Coordinates that do not fit PDB's columns are an
/// error.
/// @throws RunError
void write_system_pdb(const std::filesystem::path& path, const System& system);

}  // namespace starpmc
