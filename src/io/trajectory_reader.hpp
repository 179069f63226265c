#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "io/hdf5_handle.hpp"
#include "system/system.hpp"

namespace starpmc {

/// Reads the exact states back from a trajectory.h5md, be its writer killed or not. The caller
/// holds hdf5::library_mutex().
class TrajectoryReader {
 public:
  struct Frame {
    std::uint64_t step = 0;
    std::vector<Molecule> molecules;
  };

  /// @param system the one the trajectory was written for
  /// @throws RunError if the file is unreadable, foreign or a symbolic link, or has other molecules
  TrajectoryReader(const std::filesystem::path& path, const System& system);
  /// Closes without HDF5's own messages.
  ~TrajectoryReader();
  TrajectoryReader(const TrajectoryReader&) = delete;
  TrajectoryReader& operator=(const TrajectoryReader&) = delete;

  /// Frames that every part of the file has.
  std::uint64_t frame_count() const { return frames_; }
  /// @param index below frame_count()
  /// @throws RunError if the frame cannot be read, or is no state of rigid molecules
  Frame read(std::uint64_t index) const;

 private:
  void open();
  void check_species() const;
  void set_states(std::vector<Molecule>& molecules, std::uint64_t index) const;

  std::filesystem::path path_;
  std::span<const Molecule> molecules_;
  hdf5::Handle file_;
  hdf5::Handle step_;
  hdf5::Handle centre_;
  hdf5::Handle orientation_;
  std::uint64_t frames_ = 0;
};

}  // namespace starpmc
