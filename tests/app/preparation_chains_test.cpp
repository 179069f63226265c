#include "app/preparation_chains.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "qm/errors.hpp"
#include "tests/app/no_engine.hpp"

namespace starpmc {
namespace {

/// Tells its number and its step in place of a potential.
class NumberedChain final : public Chain {
 public:
  NumberedChain(std::uint32_t number, std::uint64_t fails_at)
      : number_(number), fails_at_(fails_at) {}

  void set_density(const DensityGrid&) override {}
  void set_reference(std::shared_ptr<const ReferenceTables>) override {}
  ReferenceEnergy reference_energy() override { return {}; }
  EnergyTerms evaluate() override { return {}; }
  VirialTerms virial() override { return {}; }
  EnergyTerms reproducible_energies() override { return {}; }
  std::uint64_t run(const ChainSegment& segment, ChainObserver&,
                    const std::function<bool()>& pause) override {
    for (step_ = segment.first_step; step_ < segment.first_step + segment.steps; ++step_) {
      if (pause()) return step_;
      if (step_ == fails_at_) throw std::domain_error("the box is lost");
    }
    return step_;
  }
  using Chain::run;
  QmResult update_density(QmEngine& engine) override {
    const std::array<double, 2> told{static_cast<double>(number_), static_cast<double>(step_)};
    return engine.update(told, {}, {});
  }
  std::vector<Molecule> molecules() override { return {}; }
  StepSizes step_sizes() override { return {}; }
  CertificationReport certification() override { return {}; }
  nlohmann::json state() override { return {}; }
  void restore(const nlohmann::json&) override {}

 private:
  std::uint32_t number_;
  std::uint64_t fails_at_;
  std::uint64_t step_ = 0;
};

using test::NoEngine;

class PreparationChainsTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  static constexpr std::uint64_t kSpacing = 10;

  /// The chains made; the second one fails at a step.
  std::unique_ptr<PreparationChains> make(std::uint64_t second_fails_at = kNever) {
    numbers_.clear();
    return std::make_unique<PreparationChains>(
        [this, second_fails_at](std::uint32_t number) {
          numbers_.push_back(number);
          return std::make_unique<NumberedChain>(number,
                                                 numbers_.size() == 2 ? second_fails_at : kNever);
        },
        interruption_, engine_);
  }

  /// Configuration -> (chain by its place, step), each of which has come once.
  std::map<std::size_t, std::pair<std::size_t, std::uint64_t>> sample(PreparationChains& chains,
                                                                      std::uint64_t count) {
    std::map<std::size_t, std::pair<std::size_t, std::uint64_t>> taken;
    chains.sample(count, kSpacing, Quadrature::fine,
                  [&](std::size_t number, SolventPotential potential) {
                    const auto place = std::ranges::find(numbers_, potential.at_points.at(0));
                    ASSERT_NE(place, numbers_.end());
                    const auto chain = static_cast<std::size_t>(place - numbers_.begin());
                    const auto step = static_cast<std::uint64_t>(potential.at_points.at(1));
                    const bool is_last = chain == PreparationChains::kChains - 1;
                    EXPECT_EQ(potential.quadrature == Quadrature::fine, is_last);
                    EXPECT_TRUE(taken.insert({number, {chain, step}}).second);
                  });
    return taken;
  }

  Interruption interruption_{false};
  NoEngine engine_;
  std::vector<std::uint32_t> numbers_;
};

TEST_F(PreparationChainsTest, LastChainHasTheConfigurationsHeldOut) {
  const auto chains = make();
  EXPECT_EQ(std::set(numbers_.begin(), numbers_.end()).size(), 4U);
  constexpr std::uint64_t kCount = 22;
  EXPECT_EQ(PreparationChains::held_out(kCount), 5U);
  const auto taken = sample(*chains, kCount);
  ASSERT_EQ(taken.size(), kCount);
  std::map<std::size_t, std::uint64_t> last;
  for (const auto& [number, from] : taken) {
    const auto& [chain, step] = from;
    EXPECT_EQ(chain == 3, number >= kCount - 5) << number;
    // The very first is the start; the others are that far from the one before of their chain.
    const std::uint64_t way = number == 0 ? 0 : kSpacing;
    EXPECT_EQ(step, last[chain] + way) << number;
    last[chain] = step;
  }
  EXPECT_EQ(last.size(), 4U);
}

TEST_F(PreparationChainsTest, GoesOnWhereItWas) {
  const auto chains = make();
  chains->relax(100, 0);
  const auto taken = sample(*chains, 1);
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken.begin()->second.second, 100 + kSpacing);
}

TEST_F(PreparationChainsTest, FewConfigurationsAreAllHeldOut) {
  for (std::uint64_t count : {1U, 2U, 3U}) {
    EXPECT_EQ(PreparationChains::held_out(count), std::min<std::uint64_t>(count, 2));
    EXPECT_EQ(sample(*make(), count).size(), count);
  }
}

TEST_F(PreparationChainsTest, FailureOfOneEndsAll) {
  EXPECT_THROW(sample(*make(55), 4000), std::domain_error);
  EXPECT_THROW(make(55)->relax(1'000'000'000'000, 0), std::domain_error);
}

TEST_F(PreparationChainsTest, FailureOfWhoTakesEndsAll) {
  int taken = 0;
  const auto take = [&](std::size_t, const SolventPotential&) {
    if (++taken == 20) throw std::out_of_range("no room");
  };
  EXPECT_THROW(make()->sample(4000, kSpacing, Quadrature::coarse, take), std::out_of_range);
}

TEST_F(PreparationChainsTest, InterruptionIsCancelled) {
  const auto chains = make();
  interruption_.request();
  EXPECT_THROW(chains->relax(100, 0), Cancelled);
  EXPECT_THROW(sample(*make(), 10), Cancelled);
}

}  // namespace
}  // namespace starpmc
