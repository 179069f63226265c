#include "kernels/compact_blocks.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/all_precisions.hpp"
#include "kernels/stored_value.hpp"

namespace starpmc {
namespace {

using Coordinates = std::array<std::span<const double>, 3>;

struct Point {
  std::array<double, 3> position;
  std::uint32_t index;  ///< in the input
};

struct Extent {
  std::array<double, 3> low{INFINITY, INFINITY, INFINITY};
  std::array<double, 3> high{-INFINITY, -INFINITY, -INFINITY};

  void add(const std::array<double, 3>& position) {
    for (std::size_t k = 0; k < 3; ++k) {
      low[k] = std::min(low[k], position[k]);
      high[k] = std::max(high[k], position[k]);
    }
  }
  double length(std::size_t axis) const { return high[axis] - low[axis]; }
  double diagonal() const { return std::hypot(length(0), length(1), length(2)); }
  std::size_t longest_axis() const {
    std::size_t axis = 0;
    for (std::size_t k = 1; k < 3; ++k) {
      if (length(k) > length(axis)) axis = k;
    }
    return axis;
  }
};

/// Points, and as much memory again, into which they may be moved.
struct PointSet {
  std::span<Point> points;
  std::span<Point> spare;

  PointSet part(std::size_t first, std::size_t count) const {
    return {points.subspan(first, count), spare.subspan(first, count)};
  }
};

/// Puts the points that are first along an axis before the others.
class Halving {
 public:
  Halving(const Extent& extent, std::size_t axis)
      : axis_(axis), low_(extent.low[axis]), strips_per_angstrom_(kStrips / extent.length(axis)) {}

  void operator()(PointSet& set, std::size_t half) const {
    const bool strips = set.points.size() >= kMany && std::isnormal(strips_per_angstrom_);
    if (strips) {
      by_strips(set, half);
    } else {
      select(set.points, half);
    }
  }

 private:
  static constexpr std::size_t kStrips = 256;
  static constexpr std::size_t kMany = 2 * kStrips;

  std::size_t strip(const Point& point) const {
    const double place = (point.position[axis_] - low_) * strips_per_angstrom_;
    return std::min(static_cast<std::size_t>(place), kStrips - 1);
  }

  void select(std::span<Point> points, std::size_t half) const {
    const auto nearer = [axis = axis_](const Point& a, const Point& b) {
      const double xa = a.position[axis];
      const double xb = b.position[axis];
      // ties by index: the same blocks on every machine
      return xa < xb || (xa == xb && a.index < b.index);
    };
    std::nth_element(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(half),
                     points.end(), nearer);
  }

  /// Only the strip in which the cut lies is searched: the others' points are before or behind it.
  void by_strips(PointSet& set, std::size_t half) const {
    std::array<std::size_t, kStrips> counts{};
    for (const Point& point : set.points) ++counts[strip(point)];
    std::size_t middle = 0;
    std::size_t before = 0;
    while (before + counts[middle] <= half) before += counts[middle++];
    std::array<std::size_t, 3> next{0, before, before + counts[middle]};
    for (const Point& point : set.points) {
      const std::size_t at = strip(point);
      const std::size_t side = (at >= middle ? 1U : 0U) + (at > middle ? 1U : 0U);
      set.spare[next[side]++] = point;
    }
    select(set.spare.subspan(before, counts[middle]), half - before);
    std::swap(set.points, set.spare);
  }

  std::size_t axis_;
  double low_;
  double strips_per_angstrom_;
};

/// Of each block the indices of its points, which lie one after another.
using Block = std::span<std::uint32_t>;

/// Cuts points into compact runs of at most STARPMC_BLOCK_POINTS.
class BlockCutter {
 public:
  BlockCutter(std::span<std::uint32_t> order, double longest_diagonal)
      : order_(order), longest_diagonal_(longest_diagonal) {}

  void cut(PointSet set) {
    const std::size_t count = set.points.size();
    if (count == 0) return;
    Extent extent;
    for (const Point& point : set.points) extent.add(point.position);
    const bool fits = count <= STARPMC_BLOCK_POINTS;
    if (fits && (count == 1 || extent.diagonal() <= longest_diagonal_)) {
      blocks_.push_back(order_.first(count));
      std::ranges::transform(set.points, order_.begin(), &Point::index);
      order_ = order_.subspan(count);
      return;
    }
    const std::size_t whole = (count + STARPMC_BLOCK_POINTS - 1) / STARPMC_BLOCK_POINTS;
    const std::size_t half = fits ? count / 2 : whole / 2 * STARPMC_BLOCK_POINTS;
    Halving(extent, extent.longest_axis())(set, half);
    cut(set.part(0, half));
    cut(set.part(half, count - half));
  }

  std::span<const Block> blocks() const { return blocks_; }

 private:
  std::span<std::uint32_t> order_;  ///< what is left of it
  double longest_diagonal_;
  std::vector<Block> blocks_;
};

template <class Real>
Real stored_coordinate(double position, double origin, double edge) {
  if constexpr (kPrecisionOf<Real> == Precision::fixed) {
    return {fixed_coordinate(position, edge)};
  } else {
    (void)edge;
    return static_cast<Real>(position - origin);
  }
}

/// Writes a block's header and points; places that are left over hold charge 0 at the origin.
template <class Real>
void write_block(const Coordinates& coordinates, std::span<const double> charge,
                 std::span<const double> extent, std::span<const double, 3> box, Block members,
                 std::span<double> header, std::span<Real> points) {
  Extent bounds;
  for (const std::uint32_t point : members) {
    bounds.add({coordinates[0][point], coordinates[1][point], coordinates[2][point]});
  }
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
  std::vector<Point> points;
  points.reserve(x.size());
  for (std::uint32_t i = 0; i < x.size(); ++i) points.push_back({{x[i], y[i], z[i]}, i});
  std::vector<Point> spare(points.size());
  std::vector<std::uint32_t> order(points.size());
  BlockCutter cutter(order, *std::ranges::min_element(box));
  cutter.cut({points, spare});
  const std::span<const Block> blocks = cutter.blocks();

  CompactBlocks<Real> result;
  result.blocks.assign(blocks.size() * BLOCK_FIELDS, 0.0);
  result.points.assign(blocks.size() * std::size_t{STARPMC_BLOCK_VALUES}, Real{0});
  result.slot_of_point.resize(order.size());
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    // What has been cut has no order of its own within a block.
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

STARPMC_FOR_ALL_PRECISIONS(make_compact_blocks)

}  // namespace starpmc
