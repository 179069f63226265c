#include "io/trajectory_frame.hpp"

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

}  // namespace starpmc
