#include "kernels/compact_blocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

namespace starpmc {
namespace {

using Coordinates = std::array<std::vector<double>, 3>;
using Members = std::vector<std::uint32_t>;

constexpr double kBox[] = {20, 25, 30};

/// The definition, with everything sorted whole.
void cut_plainly(const Coordinates& x, Members points, std::vector<Members>& blocks) {
  if (points.empty()) return;
  std::array<double, 3> lengths{};
  for (std::size_t k = 0; k < 3; ++k) {
    const auto [low, high] =
        std::ranges::minmax(points, {}, [&](std::uint32_t point) -> double { return x[k][point]; });
    lengths[k] = x[k][high] - x[k][low];
  }
  const std::size_t size = points.size();
  const bool fits = size <= STARPMC_BLOCK_POINTS;
  if (fits && (size == 1 || std::hypot(lengths[0], lengths[1], lengths[2]) <= kBox[0])) {
    std::ranges::sort(points);
    blocks.push_back(points);
    return;
  }
  const auto axis = static_cast<std::size_t>(std::ranges::max_element(lengths) - lengths.begin());
  std::ranges::sort(points, {},
                    [&](std::uint32_t point) { return std::pair(x[axis][point], point); });
  const std::size_t whole = (size + STARPMC_BLOCK_POINTS - 1) / STARPMC_BLOCK_POINTS;
  const auto half = static_cast<std::ptrdiff_t>(fits ? size / 2 : whole / 2 * STARPMC_BLOCK_POINTS);
  cut_plainly(x, {points.begin(), points.begin() + half}, blocks);
  cut_plainly(x, {points.begin() + half, points.end()}, blocks);
}

void expect_the_definition(const Coordinates& x) {
  Members all(x[0].size());
  std::iota(all.begin(), all.end(), 0U);
  std::vector<Members> expected;
  cut_plainly(x, all, expected);

  const auto blocks = make_compact_blocks<double>(x[0], x[1], x[2], {}, {}, kBox);
  ASSERT_EQ(blocks.block_count(), expected.size());
  ASSERT_EQ(blocks.slot_of_point.size(), all.size());
  for (std::size_t block = 0; block < expected.size(); ++block) {
    for (std::size_t i = 0; i < expected[block].size(); ++i) {
      ASSERT_EQ(blocks.slot_of_point[expected[block][i]], block * STARPMC_BLOCK_POINTS + i);
    }
  }
}

Coordinates points(std::size_t count, const std::function<double()>& draw) {
  Coordinates x;
  for (auto& values : x) {
    values.resize(count);
    std::ranges::generate(values, draw);
  }
  return x;
}

class CompactBlocksTest : public ::testing::Test {
 protected:
  std::mt19937_64 random_{7};
  std::normal_distribution<double> normal_{0, 2};
};

TEST_F(CompactBlocksTest, AsDefined) {
  for (const std::size_t count : {0, 1, 63, 64, 65, 511, 512, 513, 5000, 40000}) {
    SCOPED_TRACE(count);
    expect_the_definition(points(count, [&] { return normal_(random_); }));
  }
}

/// Points on a lattice: many are as far along an axis as others, so that their order decides.
TEST_F(CompactBlocksTest, Ties) {
  expect_the_definition(points(20000, [&] { return std::round(normal_(random_)); }));
  expect_the_definition(points(3000, [] { return 1.5; }));
}

/// All but a few points lie in one strip.
TEST_F(CompactBlocksTest, FarPoints) {
  Coordinates x = points(4000, [&] { return 1e-6 * normal_(random_); });
  x[0][17] = 1e6;
  x[1][170] = -1e9;
  x[2][1700] = 1e200;
  expect_the_definition(x);
}

/// Extents that have no inverse, or whose inverse is 0.
TEST_F(CompactBlocksTest, ExtremeExtents) {
  const double tiny = std::numeric_limits<double>::denorm_min();
  expect_the_definition(points(2000, [&] { return tiny * std::round(normal_(random_)); }));
  Coordinates x = points(2000, [&] { return normal_(random_); });
  x[0][3] = 1.7e308;
  x[0][4] = -1.7e308;
  expect_the_definition(x);
}

}  // namespace
}  // namespace starpmc
