#include "kernels/compact_blocks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace starpmc {
namespace {

using Coordinates = std::array<std::span<const double>, 3>;

struct Extent {
  std::array<double, 3> low;
  std::array<double, 3> high;
};

Extent extent_of(const Coordinates& coordinates, std::span<const std::uint32_t> points) {
  Extent extent{{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  for (const std::uint32_t point : points) {
    for (std::size_t k = 0; k < 3; ++k) {
      extent.low[k] = std::min(extent.low[k], coordinates[k][point]);
      extent.high[k] = std::max(extent.high[k], coordinates[k][point]);
    }
  }
  return extent;
}

/// Orders points so that each run of STARPMC_BLOCK_POINTS is compact.
void sort_into_blocks(const Coordinates& coordinates, std::span<std::uint32_t> points) {
  if (points.size() <= STARPMC_BLOCK_POINTS) return;
  const Extent extent = extent_of(coordinates, points);
  std::size_t axis = 0;
  for (std::size_t k = 1; k < 3; ++k) {
    if (extent.high[k] - extent.low[k] > extent.high[axis] - extent.low[axis]) axis = k;
  }
  const std::size_t blocks = (points.size() + STARPMC_BLOCK_POINTS - 1) / STARPMC_BLOCK_POINTS;
  const std::size_t half = blocks / 2 * STARPMC_BLOCK_POINTS;
  const auto nearer = [&](std::uint32_t a, std::uint32_t b) {
    const double xa = coordinates[axis][a];
    const double xb = coordinates[axis][b];
    return xa < xb || (xa == xb && a < b);  // ties by index: the same blocks on every machine
  };
  std::nth_element(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(half), points.end(),
                   nearer);
  sort_into_blocks(coordinates, points.first(half));
  sort_into_blocks(coordinates, points.subspan(half));
}

}  // namespace

template <class Real>
CompactBlocks<Real> make_compact_blocks(std::span<const double> x, std::span<const double> y,
                                        std::span<const double> z, std::span<const double> charge) {
  const Coordinates coordinates{x, y, z};
  std::vector<std::uint32_t> order(x.size());
  std::iota(order.begin(), order.end(), 0U);
  sort_into_blocks(coordinates, order);

  CompactBlocks<Real> result;
  const std::size_t blocks = (order.size() + STARPMC_BLOCK_POINTS - 1) / STARPMC_BLOCK_POINTS;
  result.blocks.assign(blocks * BLOCK_FIELDS, 0.0);
  result.points.assign(blocks * 4 * STARPMC_BLOCK_POINTS, Real{0});
  result.slot_of_point.resize(order.size());
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::size_t first = block * STARPMC_BLOCK_POINTS;
    const std::size_t count = std::min<std::size_t>(STARPMC_BLOCK_POINTS, order.size() - first);
    // nth_element leaves the order within a block to the library: fix it
    std::sort(order.begin() + static_cast<std::ptrdiff_t>(first),
              order.begin() + static_cast<std::ptrdiff_t>(first + count));
    const std::span<const std::uint32_t> members(&order[first], count);
    const Extent extent = extent_of(coordinates, members);
    double* const header = &result.blocks[block * BLOCK_FIELDS];
    for (std::size_t k = 0; k < 3; ++k) header[k] = (extent.low[k] + extent.high[k]) / 2;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t point = members[i];
      double distance_squared = 0;
      Real* const to = &result.points[block * 4 * STARPMC_BLOCK_POINTS + i];
      for (std::size_t k = 0; k < 3; ++k) {
        const double d = coordinates[k][point] - header[k];
        distance_squared += d * d;
        to[k * STARPMC_BLOCK_POINTS] = static_cast<Real>(d);
      }
      to[3 * STARPMC_BLOCK_POINTS] = charge.empty() ? Real{0} : static_cast<Real>(charge[point]);
      header[BLOCK_RADIUS] = std::max(header[BLOCK_RADIUS], std::sqrt(distance_squared));
      result.slot_of_point[point] = static_cast<std::uint32_t>(first + i);
    }
  }
  return result;
}

template CompactBlocks<double> make_compact_blocks(std::span<const double>, std::span<const double>,
                                                   std::span<const double>,
                                                   std::span<const double>);
template CompactBlocks<float> make_compact_blocks(std::span<const double>, std::span<const double>,
                                                  std::span<const double>, std::span<const double>);

}  // namespace starpmc
