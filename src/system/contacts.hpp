#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "system/geometry.hpp"

namespace starpmc {

/// A pair of points nearer than asked for; `d` leads from i to j (minimum image).
struct Contact {
  std::size_t i = 0;
  std::size_t j = 0;
  Vector3 d;
  double distance = 0;  ///< angstrom
};

/// All pairs i < j of points of different owners nearer than `cutoff_angstrom` under the minimum
/// image, sorted by i, then j. A cell list: linear in the number of points.
std::vector<Contact> find_contacts(const Box& box, std::span<const Vector3> points,
                                   std::span<const std::size_t> owners, double cutoff_angstrom);

}  // namespace starpmc
