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
  std::vector<double> near(const std::vector<Vector3>& positions,
                           const std::vector<double>& strengths) const {
    std::vector<double> values;
    for (const Vector3& r : positions) {
      double sum = 0;
      for (std::size_t k = 0; k < nuclei_.size(); ++k) {
        const double d = std::max(norm(r - nuclei_[k]), 1e-6);
        sum += strengths[k] * STARPMC_COULOMB_CONSTANT * std::erf(2.2 * d) / d;
      }
      values.push_back(sum);
    }
    return values;
  }
  /// Sum over the charges.
  double shifted_force(const Vector3& position, const std::vector<double>& strengths) const {
    double sum = 0;
    for (std::size_t k = 0; k < nuclei_.size(); ++k) {
      const double r = norm(box_.minimum_image(position - nuclei_[k]));
      if (r >= kCutoff) continue;
      sum += strengths[k] * STARPMC_COULOMB_CONSTANT *
             (1 / r - 1 / kCutoff + (r - kCutoff) / (kCutoff * kCutoff));
    }
    return sum;
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
    return direct_potentials(sample_.positions(), close, 1, sources(near(positions, strengths_)),
                             2);
  }
  TableError error(const LatticeChoice& choice) const {
    const LatticePlan plan(choice, nuclei_, box_, 1, "a test");
    const std::vector<double> values = near(plan.near_positions(), strengths_);
    return sample_.error(make_potential_lattice(plan, sources(values), 2), direct());
  }
};

TEST_F(MoveSampleTest, TheDirectPotentialIsTheSum) {
  const std::vector<double> potential = direct();
  for (std::size_t i = 0; i < potential.size(); ++i) {
    const double expected = shifted_force(sample_.positions()[i], strengths_);
    EXPECT_NEAR(potential[i], expected, 1e-4) << to_a_nucleus(sample_.positions()[i]);
  }
}

/// A response of two components about the same nuclei: tables and direct potentials.
class ResponseSample : public MoveSampleTest {
 protected:
  static constexpr std::size_t kComponents = 2;
  static constexpr double kNear = 3;
  const std::vector<double> responses_{0.02, -0.02, -0.01, 0.03};  // [component][nucleus]
  const std::vector<double> mean_{0.7, -0.4};

  std::vector<double> strengths_of(std::size_t component) const {
    return {responses_[2 * component], responses_[2 * component + 1]};
  }
  LatticeSources sources_with(const std::vector<double>& near_values) const {
    LatticeSources result = sources(near_values);
    result.strengths = responses_;
    return result;
  }
  std::vector<double> near_of_all(const std::vector<Vector3>& positions) const {
    std::vector<double> all;
    for (std::size_t c = 0; c < kComponents; ++c) {
      const std::vector<double> of_one = near(positions, strengths_of(c));
      all.insert(all.end(), of_one.begin(), of_one.end());
    }
    return all;
  }
  LatticeValues coarse_table() const {
    const LatticePlan plan({{{3.0, 0.8}}, 1.5, kNear, STARPMC_COMPONENT_GRAIN}, nuclei_, box_,
                           kComponents, "a test");
    const std::vector<double> values = near_of_all(plan.near_positions());
    return make_potential_lattice(plan, sources_with(values), 2);
  }
  std::vector<double> direct_responses() const {
    const std::vector<std::size_t> close = near_positions(sample_.positions(), nuclei_, kNear);
    std::vector<Vector3> there;
    for (const std::size_t i : close) there.push_back(sample_.positions()[i]);
    const std::vector<double> values = near_of_all(there);
    return direct_potentials(sample_.positions(), close, kComponents, sources_with(values), 2);
  }
  /// -|Y|^2/2 of a configuration, of whose molecules one is where it is in another.
  /// @param eta of a component at a position, by its number
  template <class Eta>
  double polarisation(const Eta& eta, std::size_t configuration, std::size_t moved,
                      std::size_t other) const {
    const std::size_t sites = charges_.size();
    double energy = 0;
    for (std::size_t c = 0; c < kComponents; ++c) {
      double y = -mean_[c];
      for (std::size_t i = 0; i < molecules_ * sites; ++i) {
        const std::size_t in = i / sites == moved ? other : configuration;
        y += charges_[i % sites] * eta(c, in * molecules_ * sites + i);
      }
      energy -= y * y / 2;
    }
    return energy;
  }
};

TEST_F(ResponseSample, TheDirectPotentialsAreTheSums) {
  const std::vector<double> direct = direct_responses();
  for (std::size_t i = 0; i < sample_.positions().size(); ++i) {
    for (std::size_t c = 0; c < kComponents; ++c) {
      const double expected = shifted_force(sample_.positions()[i], strengths_of(c));
      EXPECT_NEAR(direct[c * sample_.positions().size() + i], expected, 1e-5);
    }
  }
}

TEST_F(ResponseSample, TheErrorIsThatOfTheEnergyOfEachMove) {
  const LatticeValues table = coarse_table();
  const std::vector<double> direct = direct_responses();
  const TableError error = sample_.response_error(table, mean_, direct);
  EXPECT_EQ(error.moves, 37 * molecules_);
  const std::vector<Vector3>& places = sample_.positions();
  const auto by_table = [&](std::size_t c, std::size_t at) {
    return lattice_value(&table.lattice, table.values.data(), places[at].x, places[at].y,
                         places[at].z, static_cast<int>(c));
  };
  const auto exact = [&](std::size_t c, std::size_t at) { return direct[c * places.size() + at]; };
  double squares = 0;
  double largest = 0;
  for (std::size_t from = 0; from < 20; ++from) {
    for (std::size_t to = from + 1; to <= from + 2 && to < 20; ++to) {
      for (std::size_t m = 0; m < molecules_; ++m) {
        const double wrong =
            polarisation(by_table, from, m, to) - polarisation(by_table, from, molecules_, to) -
            (polarisation(exact, from, m, to) - polarisation(exact, from, molecules_, to));
        squares += wrong * wrong;
        largest = std::max(largest, std::abs(wrong));
      }
    }
  }
  EXPECT_GT(error.rms_kj_per_mol, 1e-4);
  EXPECT_NEAR(error.rms_kj_per_mol, std::sqrt(squares / static_cast<double>(error.moves)), 1e-9);
  EXPECT_NEAR(error.largest_kj_per_mol, largest, 1e-9);
}

TEST_F(MoveSampleTest, APartHasFewerOfTheConfigurations) {
  const MoveSample part = sample_.part(6 * molecules_);
  // So many moves take 3 configurations to begin in, and two more to go to.
  ASSERT_EQ(part.positions().size(), 5 * molecules_ * charges_.size());
  EXPECT_EQ(part.positions().front(), sample_.positions().front());
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
