#include "kernels/compact_blocks.hpp"

#include <algorithm>
#include <array>
#include <bit>
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

double diagonal(const Extent& extent) {
  return std::hypot(extent.high[0] - extent.low[0], extent.high[1] - extent.low[1],
                    extent.high[2] - extent.low[2]);
}

using Block = std::span<std::uint32_t>;

/// Cuts points into compact runs of at most STARPMC_BLOCK_POINTS.
void cut_into_blocks(const Coordinates& coordinates, Block points, double longest_diagonal,
                     std::vector<Block>& blocks) {
  if (points.empty()) return;
  const Extent extent = extent_of(coordinates, points);
  const bool fits = points.size() <= STARPMC_BLOCK_POINTS;
  if (fits && (points.size() == 1 || diagonal(extent) <= longest_diagonal)) {
    blocks.push_back(points);
    return;
  }
  std::size_t axis = 0;
  for (std::size_t k = 1; k < 3; ++k) {
    if (extent.high[k] - extent.low[k] > extent.high[axis] - extent.low[axis]) axis = k;
  }
  const std::size_t whole = (points.size() + STARPMC_BLOCK_POINTS - 1) / STARPMC_BLOCK_POINTS;
  const std::size_t half = fits ? points.size() / 2 : whole / 2 * STARPMC_BLOCK_POINTS;
  const auto nearer = [&](std::uint32_t a, std::uint32_t b) {
    const double xa = coordinates[axis][a];
    const double xb = coordinates[axis][b];
    return xa < xb || (xa == xb && a < b);  // ties by index: the same blocks on every machine
  };
  std::nth_element(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(half), points.end(),
                   nearer);
  cut_into_blocks(coordinates, points.first(half), longest_diagonal, blocks);
  cut_into_blocks(coordinates, points.subspan(half), longest_diagonal, blocks);
}

template <class Real>
Real stored_coordinate(double position, double origin, double edge) {
  if constexpr (kPrecisionOf<Real> == Precision::fixed) {
    return {fixed_coordinate(position, edge)};
  } else {
    (void)edge;
    return static_cast<Real>(position - origin);
  }
}

template <class Real>
Real stored_value(double value) {
  if constexpr (kPrecisionOf<Real> == Precision::fixed) {
    return {std::bit_cast<std::int32_t>(static_cast<float>(value))};
  } else {
    return static_cast<Real>(value);
  }
}

/// Writes a block's header and points; places that are left over hold charge 0 at the origin.
template <class Real>
void write_block(const Coordinates& coordinates, std::span<const double> charge,
                 std::span<const double> extent, std::span<const double, 3> box, Block members,
                 std::span<double> header, std::span<Real> points) {
  const Extent bounds = extent_of(coordinates, members);
  for (std::size_t k = 0; k < 3; ++k) {
    header[k] = (bounds.low[k] + bounds.high[k]) / 2;
    std::fill_n(&points[k * STARPMC_BLOCK_POINTS], STARPMC_BLOCK_POINTS,
                stored_coordinate<Real>(header[k], header[k], box[k]));
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::uint32_t point = members[i];
    double distance_squared = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const double position = coordinates[k][point];
      distance_squared += (position - header[k]) * (position - header[k]);
      points[k * STARPMC_BLOCK_POINTS + i] = stored_coordinate<Real>(position, header[k], box[k]);
    }
    if (!charge.empty()) {
      points[3 * STARPMC_BLOCK_POINTS + i] = stored_value<Real>(charge[point]);
    }
    if (!extent.empty()) {
      points[4 * STARPMC_BLOCK_POINTS + i] =
          stored_value<Real>(inverse_square_extent(extent[point]));
      header[BLOCK_EXTENT] = std::max(header[BLOCK_EXTENT], extent[point]);
    }
    header[BLOCK_RADIUS] = std::max(header[BLOCK_RADIUS], std::sqrt(distance_squared));
  }
}

}  // namespace

template <class Real>
CompactBlocks<Real> make_compact_blocks(std::span<const double> x, std::span<const double> y,
                                        std::span<const double> z, std::span<const double> charge,
                                        std::span<const double> extent,
                                        std::span<const double, 3> box) {
  const Coordinates coordinates{x, y, z};
  std::vector<std::uint32_t> order(x.size());
  std::iota(order.begin(), order.end(), 0U);
  std::vector<Block> blocks;
  cut_into_blocks(coordinates, order, *std::ranges::min_element(box), blocks);

  CompactBlocks<Real> result;
  result.blocks.assign(blocks.size() * BLOCK_FIELDS, 0.0);
  result.points.assign(blocks.size() * std::size_t{STARPMC_BLOCK_VALUES}, Real{0});
  result.slot_of_point.resize(order.size());
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    // nth_element leaves the order within a block to the library: fix it
    std::ranges::sort(blocks[block]);
    write_block(
        coordinates, charge, extent, box, blocks[block],
        std::span(result.blocks).subspan(block * BLOCK_FIELDS, BLOCK_FIELDS),
        std::span(result.points)
            .subspan(block * std::size_t{STARPMC_BLOCK_VALUES}, std::size_t{STARPMC_BLOCK_VALUES}));
    for (std::size_t i = 0; i < blocks[block].size(); ++i) {
      result.slot_of_point[blocks[block][i]] =
          static_cast<std::uint32_t>(block * STARPMC_BLOCK_POINTS + i);
    }
  }
  return result;
}

template CompactBlocks<double> make_compact_blocks(std::span<const double>, std::span<const double>,
                                                   std::span<const double>, std::span<const double>,
                                                   std::span<const double>,
                                                   std::span<const double, 3>);
template CompactBlocks<float> make_compact_blocks(std::span<const double>, std::span<const double>,
                                                  std::span<const double>, std::span<const double>,
                                                  std::span<const double>,
                                                  std::span<const double, 3>);
template CompactBlocks<FixedCoordinate> make_compact_blocks(
    std::span<const double>, std::span<const double>, std::span<const double>,
    std::span<const double>, std::span<const double>, std::span<const double, 3>);

}  // namespace starpmc
