#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "system/geometry.hpp"
#include "system/pqr_file.hpp"

namespace starpmc {

/// Poses of a ligand, read one after another.
class PoseSource {
 public:
  PoseSource() = default;
  virtual ~PoseSource() = default;
  PoseSource(const PoseSource&) = delete;
  PoseSource& operator=(const PoseSource&) = delete;

  /// Positions of the ligand's sites in the next pose (angstrom); false where there is none.
  /// @throws InputError naming file and line
  virtual bool next(std::span<Vector3> positions) = 0;
  /// Share of the input that has been read, 0 to 1.
  virtual double share_read() const = 0;
};

/// Opens a list of poses by its name's extension:
///   .pqr  models with the ligand's atoms
///   .xyz  frames with as many atoms as the ligand, of the same elements where its names tell them
///   .csv  a line "w,x,y,z,tx,ty,tz" per pose: the ligand turned about the mean position of its
///         sites by the unit quaternion (w, x, y, z), then moved by (tx, ty, tz) angstrom; lines of
///         names, and those that begin with #, are read over at the beginning
/// @param ligand its first model
/// @throws InputError
std::unique_ptr<PoseSource> open_poses(const std::filesystem::path& path, const PqrModel& ligand);

}  // namespace starpmc
