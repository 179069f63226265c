#include "app/team_products.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "qm/errors.hpp"
#include "tests/app/no_engine.hpp"
#include "tests/codelets/two_cpu_workers.hpp"

namespace starpmc {
namespace {

using namespace std::chrono_literals;

/// Multiplies by what it was told; fails after so many products.
class Helper : public test::NoEngine {
 public:
  explicit Helper(int products_until_failure) : left_(products_until_failure) {}
  void take_equations(std::span<const double> equations) override { factor_ = equations[0]; }
  std::vector<double> multiply(std::span<const double> vector) override {
    if (left_-- == 0) throw RunError("no memory");
    std::vector<double> product(vector.begin(), vector.end());
    for (double& number : product) number *= factor_;
    ++made;
    return product;
  }
  std::atomic<int> made = 0;

 private:
  double factor_ = 0;
  int left_;
};

using TeamProductsTest = test::StartedWorkers;

TEST_F(TeamProductsTest, AreThoseOfWhoeverIsThere) {
  auto all = std::async(std::launch::async, [] {
    EngineTeam team;
    test::NoEngine own;
    Helper lasting(-1);
    Helper failing(3);
    const EngineTeam::Loan one(team, lasting);
    const EngineTeam::Loan other(team, failing);
    TeamProducts products(team, own);
    for (const double factor : {2.0, 3.0}) {
      products.take_equations({factor});
      EXPECT_EQ(products.multiply(3, {1, 2, 3, 4, 5, 6}),
                (std::vector{factor, 2 * factor, 3 * factor, 4 * factor, 5 * factor, 6 * factor}));
      EXPECT_EQ(products.multiply(1, {7, 8}), (std::vector{7 * factor, 8 * factor}));
    }
  });
  ASSERT_EQ(all.wait_for(100s), std::future_status::ready);
  all.get();
}

/// Not even by an engine that comes later.
TEST_F(TeamProductsTest, ThatNobodyIsLeftForAreMadeByNobody) {
  EngineTeam team;
  test::NoEngine own;
  TeamProducts products(team, own);
  EXPECT_EQ(products.multiply(1, {1, 2}), std::nullopt) << "of no equations";
  Helper failing(1);
  Helper late(-1);
  {
    const EngineTeam::Loan loan(team, failing);
    products.take_equations({2});
    EXPECT_EQ(products.multiply(3, {1, 2, 3}), std::nullopt);
  }
  const EngineTeam::Loan loan(team, late);
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(products.multiply(1, {4}), std::nullopt) << "asked for again";
  EXPECT_EQ(late.made, 0);
  products.take_equations({3});
  EXPECT_EQ(products.multiply(1, {4}), std::vector{12.0}) << "of a worker that begins anew";
  EXPECT_EQ(products.engines(), 1U);
}

}  // namespace
}  // namespace starpmc
