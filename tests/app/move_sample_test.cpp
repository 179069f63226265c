#include "app/move_sample.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace starpmc {
namespace {

/// Waters about two charges in a box, and tables of the charges' potential.
class MoveSampleTest : public testing::Test {
 protected:
  static constexpr double kCutoff = 8.5;
  const Box box_{{20, 21, 22}};
  const std::vector<Vector3> nuclei_{{0, 0, 0}, {1.2, 0, 0}};
  const std::vector<double> strengths_{0.6, -0.4};
  const std::vector<double> charges_{-0.834, 0.417, 0.417};
  const std::size_t molecules_ = 30;
  MoveSample sample_{std::vector<std::vector<double>>(molecules_, charges_)};

  void SetUp() override {
    std::mt19937 generator(3);
    std::uniform_real_distribution<double> place(-5, 5);
    std::normal_distribution<double> shift(0, 0.5);
    for (int configuration = 0; configuration < 20; ++configuration) {
      PointCharges charges;
      while (charges.positions.size() < molecules_ * charges_.size()) {
        const Vector3 centre{place(generator), place(generator), place(generator)};
        if (to_a_nucleus(centre) < 3.2) continue;
        for (std::size_t i = 0; i < charges_.size(); ++i) {
          charges.positions.push_back(centre + Vector3{shift(generator), shift(generator), 0.0});
        }
      }
      sample_.add(charges);
    }
    sample_.choose();
  }
  double to_a_nucleus(const Vector3& r) const {
    return std::min(norm(r - nuclei_[0]), norm(r - nuclei_[1]));
  }
  /// A density's own: smooth inside.
  std::vector<double> near(const std::vector<Vector3>& positions) const {
    std::vector<double> values;
    for (const Vector3& r : positions) {
      double sum = 0;
      for (std::size_t k = 0; k < nuclei_.size(); ++k) {
        const double d = std::max(norm(r - nuclei_[k]), 1e-6);
        sum += strengths_[k] * STARPMC_COULOMB_CONSTANT * std::erf(2.2 * d) / d;
      }
      values.push_back(sum);
    }
    return values;
  }
  LatticeSources sources(std::span<const double> near) const {
    return {{{box_.lengths.x, box_.lengths.y, box_.lengths.z}, kCutoff, kCutoff},
            nullptr,
            nuclei_,
            strengths_,
            near};
  }
  std::vector<double> direct() const {
    const std::vector<std::size_t> close = near_positions(sample_.positions(), nuclei_, 3);
    EXPECT_GT(close.size(), 10U);
    std::vector<Vector3> positions;
    for (const std::size_t i : close) positions.push_back(sample_.positions()[i]);
    return direct_potential(sample_.positions(), close, sources(near(positions)), 2);
  }
  TableError error(const LatticeChoice& choice) const {
    const LatticePlan plan(choice, nuclei_, box_, 1, "a test");
    const std::vector<double> values = near(plan.near_positions());
    return sample_.error(make_potential_lattice(plan, sources(values), 2), direct());
  }
};

TEST_F(MoveSampleTest, TheDirectPotentialIsTheSum) {
  const std::vector<double> potential = direct();
  for (std::size_t i = 0; i < potential.size(); ++i) {
    double expected = 0;
    for (std::size_t k = 0; k < nuclei_.size(); ++k) {
      const double r = norm(box_.minimum_image(sample_.positions()[i] - nuclei_[k]));
      if (r >= kCutoff) continue;
      expected += strengths_[k] * STARPMC_COULOMB_CONSTANT *
                  (1 / r - 1 / kCutoff + (r - kCutoff) / (kCutoff * kCutoff));
    }
    EXPECT_NEAR(potential[i], expected, 1e-4) << to_a_nucleus(sample_.positions()[i]);
  }
}

TEST_F(MoveSampleTest, ACoarseTableIsNoticed) {
  const TableError fine = error(LatticeChoice::for_potential(kCutoff));
  EXPECT_EQ(fine.moves, 37 * molecules_);  // to the places in the next two of 20 configurations
  EXPECT_LT(fine.rms_kj_per_mol, 0.01);
  EXPECT_GT(fine.largest_kj_per_mol, fine.rms_kj_per_mol);
  EXPECT_LT(fine.largest_kj_per_mol, 0.1);
  const TableError coarse = error({{{3.0, 0.8}}, 1.5, 3.0});
  EXPECT_GT(coarse.rms_kj_per_mol, 0.02);  // twice what a table may err by
}

}  // namespace
}  // namespace starpmc
