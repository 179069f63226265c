#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "system/geometry.hpp"

namespace starpmc {

/// What a frame of trajectory.h5md says, in the numbers of the file.
struct TrajectoryFrame {
  std::int64_t step = 0;
  std::array<double, 3> edges{};     ///< angstrom
  std::vector<double> centres;       ///< x, y, z of each molecule, angstrom
  std::vector<double> orientations;  ///< w, x, y, z of each
  std::vector<double> positions;     ///< x, y, z of each site, rounded to what the file holds

  /// 64 hexadecimal digits.
  std::string sha256() const;
};

/// No file's coordinates are farther from the origin: beyond it, doubles no longer tell positions
/// apart to the digits that files have.
inline constexpr double kFarthestAngstrom = 1e8;

/// Whether numbers are a place: false for what is not finite.
bool is_place(const Vector3& position);
/// Whether numbers are the pose of a rigid molecule. A frame that never reached the disk reads as
/// zeros, which are no rotation.
bool is_pose(const Vector3& centre, const Quaternion& orientation);

/// How far a trajectory has come: what a checkpoint keeps of it.
struct TrajectoryExtent {
  std::uint64_t frames = 0;
  std::string last_frame_sha256;  ///< empty where there is no frame
};

}  // namespace starpmc
