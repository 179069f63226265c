#include "system/superposition.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "system/system.hpp"

namespace starpmc {
namespace {

class Superpose : public testing::TestWithParam<std::vector<Vector3>> {};

TEST_P(Superpose, RecoversRandomRotations) {
  std::mt19937 generator(7);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 200; ++trial) {
    Quaternion q{normal(generator), normal(generator), normal(generator), normal(generator)};
    const double length = std::sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    q = {q.w / length, q.x / length, q.y / length, q.z / length};
    const Vector3 centre{10 * normal(generator), 10 * normal(generator), 10 * normal(generator)};
    std::vector<Vector3> target;
    for (const Vector3& r : GetParam()) target.push_back(centre + rotate(q, r));
    const Superposition fit = superpose(GetParam(), target);
    EXPECT_LT(fit.rmsd, 1e-13);
    EXPECT_GE(fit.orientation.w, 0);
    for (std::size_t i = 0; i < target.size(); ++i) {
      EXPECT_LT(norm(fit.centre + rotate(fit.orientation, GetParam()[i]) - target[i]), 1e-12);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Bodies, Superpose,
    testing::Values(std::vector<Vector3>{{0, 0, 0}},                                // point
                    std::vector<Vector3>{{0, 0, 0}, {1.1, 0, 0}},                   // line
                    std::vector<Vector3>{{0, 0, 0}, {0.96, 0, 0}, {-0.2, 0.9, 0}},  // plane
                    std::vector<Vector3>{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, -1, -1}},
                    std::vector<Vector3>{{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}}));

TEST(SuperposeMore, APointKeepsTheIdentity) {
  const std::vector<Vector3> point{{0, 0, 0}};
  const std::vector<Vector3> target{{1, 2, 3}};
  const Superposition fit = superpose(point, target);
  EXPECT_EQ(fit.orientation, Quaternion{});
  EXPECT_EQ(fit.centre, (Vector3{1, 2, 3}));
}

TEST(SuperposeMore, AMirrorImageDoesNotFit) {
  const std::vector<Vector3> body{{1, 0, 0}, {0, 2, 0}, {0, 0, 3}, {0, 0, 0}};
  std::vector<Vector3> mirrored = body;
  for (Vector3& r : mirrored) r.z = -r.z;
  EXPECT_GT(superpose(body, mirrored).rmsd, 0.1);
}

}  // namespace
}  // namespace starpmc
