#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "io/hdf5_handle.hpp"
#include "io/trajectory_frame.hpp"
#include "system/system.hpp"

namespace starpmc {

/// Reads a trajectory.h5md back, be its writer killed or not. The caller holds
/// hdf5::library_mutex().
class TrajectoryReader {
 public:
  /// @param system the one the trajectory was written for
  /// @throws InputError if the file is unreadable, foreign or a symbolic link, or has other
  ///         particles
  TrajectoryReader(const std::filesystem::path& path, const System& system);
  /// Closes without HDF5's own messages.
  ~TrajectoryReader();
  TrajectoryReader(const TrajectoryReader&) = delete;
  TrajectoryReader& operator=(const TrajectoryReader&) = delete;

  /// Names and reference geometries that the file's poses are of; those of the system are others
  /// where they were taken from other coordinates (PoseTransfer).
  const std::vector<MoleculeType>& molecule_types() const { return types_; }
  /// Frames that every part of the file has.
  std::uint64_t frame_count() const { return frames_; }
  /// @param index below frame_count()
  /// @throws InputError if the frame cannot be read, or is no state of rigid molecules
  TrajectoryFrame read(std::uint64_t index) const;
  /// As read(), without the positions of sites, which are most of a frame.
  TrajectoryFrame read_poses(std::uint64_t index) const;

 private:
  void open();
  void check_species() const;
  void check_particles() const;
  TrajectoryFrame read_frame(std::uint64_t index, bool with_positions) const;
  void check_states(const TrajectoryFrame& frame) const;

  std::filesystem::path path_;
  const System& system_;
  std::size_t particles_;
  std::vector<MoleculeType> types_;
  hdf5::Handle file_;
  hdf5::Handle step_;
  hdf5::Handle edges_;
  hdf5::Handle position_;
  hdf5::Handle centre_;
  hdf5::Handle orientation_;
  std::uint64_t frames_ = 0;
};

}  // namespace starpmc
