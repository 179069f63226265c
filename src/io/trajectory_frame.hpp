#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

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

/// How far a trajectory has come: what a checkpoint keeps of it.
struct TrajectoryExtent {
  std::uint64_t frames = 0;
  std::string last_frame_sha256;  ///< empty where there is no frame
};

}  // namespace starpmc
