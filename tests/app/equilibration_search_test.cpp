#include "app/equilibration_search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

namespace starpmc {
namespace {

constexpr std::size_t kMolecules = 50;
constexpr std::uint64_t kInterval = 10 * kMolecules;

Settings::SamplingSection sampling(std::uint64_t steps) {
  Settings::SamplingSection settings;
  settings.steps = steps;
  return settings;
}

/// A chain whose energies relax exponentially from `start` standard deviations, over `looks`, in
/// noise that is correlated over a few looks, and whose step sizes grow for some looks.
struct Chain {
  double start = 0;
  double looks = 1;
  int looks_of_tuning = 5;
  unsigned seed = 1;

  void look(EquilibrationSearch& search, std::uint64_t step) {
    const double at = static_cast<double>(step) / kInterval;
    noise = 0.7 * noise + std::sqrt(1 - 0.49) * normal(random);
    const double energy = -4000 + 50 * (noise + start * std::exp(-at / looks));
    const double size = 0.1 * (1 + std::min(at / looks_of_tuning, 1.0));
    search.look(step, {energy, 0, 0, 0, 0}, 0, {size, 100 * size});
  }
  /// Steps of equilibration.
  std::uint64_t find(EquilibrationSearch& search) {
    random.seed(seed);
    std::uint64_t step = 0;
    while (!search.steps()) look(search, step = search.next_look(step));
    return *search.steps();
  }

  std::mt19937 random{};
  std::normal_distribution<double> normal{};
  double noise = 0;
};

TEST(EquilibrationSearch, ANumberIsTaken) {
  auto settings = sampling(1000000);
  for (const std::uint64_t steps : {0U, 12345U}) {
    settings.equilibration_steps = steps;
    const EquilibrationSearch search(settings, kMolecules);
    EXPECT_FALSE(search.automatic());
    EXPECT_EQ(search.steps(), steps);
    EXPECT_EQ(search.how(), EquilibrationEnd::given);
  }
}

TEST(EquilibrationSearch, LooksEveryTenSweeps) {
  const EquilibrationSearch search(sampling(1234), kMolecules);
  EXPECT_TRUE(search.automatic());
  EXPECT_FALSE(search.steps());
  EXPECT_EQ(search.next_look(0), kInterval);
  EXPECT_EQ(search.next_look(kInterval - 1), kInterval);
  EXPECT_EQ(search.next_look(kInterval), 2 * kInterval);
  EXPECT_EQ(search.next_look(2 * kInterval), 1234U);
  EXPECT_EQ(EquilibrationSearch(sampling(1234), 3).next_look(100), 200U);
}

TEST(EquilibrationSearch, LastsAsLongAsTheRelaxation) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    EquilibrationSearch at_rest(sampling(100000000), kMolecules);
    EquilibrationSearch relaxing(sampling(100000000), kMolecules);
    const std::uint64_t few = Chain{.seed = seed}.find(at_rest);
    const std::uint64_t many = Chain{.start = 20, .looks = 200, .seed = seed}.find(relaxing);
    EXPECT_EQ(at_rest.how(), EquilibrationEnd::settled);
    EXPECT_EQ(relaxing.how(), EquilibrationEnd::settled);
    EXPECT_LE(few, 700 * kInterval) << seed;
    // What is left of the relaxation: 20 exp(-3) standard deviations after 600 looks.
    EXPECT_GE(many, 600 * kInterval) << seed;
    EXPECT_LE(many, 4000 * kInterval) << seed;
  }
}

TEST(EquilibrationSearch, SeesWhatHappensAboutTheSolute) {
  EquilibrationSearch search(sampling(100000000), kMolecules);
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  std::uint64_t step = 0;
  while (!search.steps()) {
    step = search.next_look(step);
    const double of_solute = 10 * std::exp(-static_cast<double>(step) / (100 * kInterval));
    search.look(step, {normal(random), 0, of_solute + normal(random), 0, 0}, 0, {0.1, 10});
  }
  EXPECT_GE(step, 200 * kInterval);
}

/// Waters that still turn about the solute, in a box that is at rest otherwise.
TEST(EquilibrationSearch, SeesTheSolutesElectrostatics) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    EquilibrationSearch search(sampling(100000000), kMolecules);
    EquilibrationSearch at_rest(sampling(100000000), kMolecules);
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    std::uint64_t step = 0;
    const auto look = [&](EquilibrationSearch& into, double relaxing) {
      const EnergyTerms energies{normal(random), 0, normal(random), 0, 0};
      into.look(step, energies, -300 + 20 * (relaxing + normal(random)), {0.1, 10});
    };
    while (!search.steps()) {
      step = search.next_look(step);
      look(search, 10 * std::exp(-static_cast<double>(step) / (100 * kInterval)));
    }
    EXPECT_EQ(search.how(), EquilibrationEnd::settled);
    EXPECT_GE(step, 300 * kInterval) << seed;  // 10 exp(-3) = 0.5 standard deviations are left
    step = 0;
    while (!at_rest.steps()) {
      step = at_rest.next_look(step);
      look(at_rest, 0);
    }
    EXPECT_LE(step, 250 * kInterval) << seed;
  }
}

TEST(EquilibrationSearch, StepSizesHaveToSettle) {
  EquilibrationSearch quick(sampling(100000000), kMolecules);
  EquilibrationSearch slow(sampling(100000000), kMolecules);
  EXPECT_LT(Chain{}.find(quick), Chain{.looks_of_tuning = 200}.find(slow));
}

TEST(EquilibrationSearch, LastsAtMostAsLongAsProduction) {
  EquilibrationSearch drifting(sampling(300 * kInterval + 7), kMolecules);
  EXPECT_EQ((Chain{.start = 200, .looks = 1000}.find(drifting)), 300 * kInterval + 7);
  EXPECT_EQ(drifting.how(), EquilibrationEnd::not_settled);
  // Too short to tell anything.
  EquilibrationSearch few(sampling(5), kMolecules);
  EXPECT_EQ(Chain{}.find(few), 5U);
  EXPECT_EQ(few.how(), EquilibrationEnd::not_settled);
}

TEST(EquilibrationSearch, GoesOnFromItsStateAsBefore) {
  Chain chain{.start = 5, .looks = 30};
  EquilibrationSearch whole(sampling(100000000), kMolecules);
  const std::uint64_t expected = chain.find(whole);
  ASSERT_EQ(whole.how(), EquilibrationEnd::settled);
  EquilibrationSearch search(sampling(100000000), kMolecules);
  chain.random.seed(chain.seed);
  chain.noise = 0;
  chain.normal.reset();
  std::uint64_t step = 0;
  while (!search.steps()) {
    const auto bytes = nlohmann::json::to_cbor(search.state());
    search = EquilibrationSearch(sampling(100000000), kMolecules);
    search.restore(nlohmann::json::from_cbor(bytes));
    chain.look(search, step = search.next_look(step));
  }
  EXPECT_EQ(step, expected);
  EquilibrationSearch found(sampling(100000000), kMolecules);
  found.restore(search.state());
  EXPECT_EQ(found.steps(), expected);
  EXPECT_EQ(found.how(), EquilibrationEnd::settled);
}

}  // namespace
}  // namespace starpmc
