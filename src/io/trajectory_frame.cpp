#include "io/trajectory_frame.hpp"

#include <cmath>
#include <span>

#include "io/sha256.hpp"

namespace starpmc {

std::string TrajectoryFrame::sha256() const {
  Sha256 hash;
  hash.add(std::as_bytes(std::span(&step, 1)));
  for (const std::span<const double> numbers :
       {std::span<const double>(edges), std::span<const double>(centres),
        std::span<const double>(orientations), std::span<const double>(positions)}) {
    hash.add(numbers);
  }
  return hash.hexadecimal_digest();
}

bool is_place(const Vector3& position) {
  return std::abs(position.x) <= kFarthestAngstrom && std::abs(position.y) <= kFarthestAngstrom &&
         std::abs(position.z) <= kFarthestAngstrom;
}

bool is_pose(const Vector3& centre, const Quaternion& orientation) {
  constexpr double largest_error = 1e-6;
  const auto& [w, x, y, z] = orientation;
  return std::abs(w * w + x * x + y * y + z * z - 1) < largest_error && is_place(centre);
}

}  // namespace starpmc
