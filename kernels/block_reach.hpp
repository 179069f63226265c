#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "kernels/common/layout.h"

namespace starpmc {

/// Distances from a compact block's origin that tell how a site meets its points.
struct BlockReach {
  double reach;   ///< below it, a point may lie inside the cutoff
  double inside;  ///< below it, every point does
  /// below it, a point may lie within the minimum distance, or the site within a point's extent
  double close;

  BlockReach(double cutoff, double radius, double extent = 0)
      : reach(cutoff + radius + BLOCK_MARGIN),
        inside(std::max(0.0, cutoff - radius - BLOCK_MARGIN)),
        close(radius + extent + BLOCK_CLOSE) {}

  /// Whether more than one image of a site may be in reach.
  bool meets_images(const Interaction& interaction) const {
    return 2 * reach > std::min({interaction.box[0], interaction.box[1], interaction.box[2]});
  }
};

struct Sphere {
  double centre[3];
  double radius;
};

/// A sphere around all points of some compact blocks.
inline Sphere sphere_around(std::span<const double> blocks) {
  Sphere sphere{};
  const std::size_t count = blocks.size() / BLOCK_FIELDS;
  for (std::size_t block = 0; block < count; ++block) {
    for (std::size_t k = 0; k < 3; ++k) {
      sphere.centre[k] += blocks[block * BLOCK_FIELDS + k] / static_cast<double>(count);
    }
  }
  for (std::size_t block = 0; block < count; ++block) {
    const double* const header = &blocks[block * BLOCK_FIELDS];
    const double distance = std::hypot(header[0] - sphere.centre[0], header[1] - sphere.centre[1],
                                       header[2] - sphere.centre[2]);
    sphere.radius = std::max(sphere.radius, distance + header[BLOCK_RADIUS]);
  }
  return sphere;
}

}  // namespace starpmc
