#include "app/idle_processors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/processors.hpp"

namespace starpmc {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Optional;

TEST(IdleProcessors, OfAHostWhoseRanksAreBoundToFew) {
  const RankProcessors on_core{"node1", {0, 8}, 16};
  EXPECT_THAT(idle_processors_warning(std::vector{on_core}),
              Optional(AllOf(HasSubstr("one process may use 2 of the 16 processors of node1"),
                             HasSubstr("--bind-to none"), HasSubstr("--map-by slot:PE=N"))));
  // Of several hosts one is enough, and together they count what each has.
  const RankProcessors on_next{"node1", {1, 9, 8}, 16};
  const RankProcessors free{"node2", {0, 1, 2, 3}, 4};
  EXPECT_THAT(idle_processors_warning(std::vector{free, on_core, on_next}),
              Optional(HasSubstr("2 processes together may use 4 of the 16 processors of node1")));
}

TEST(IdleProcessors, NothingIsSaidWhereMostAreUsed) {
  const auto none = std::nullopt;
  EXPECT_EQ(idle_processors_warning(std::vector<RankProcessors>{{"a", {0, 1, 2, 3}, 4}}), none);
  EXPECT_EQ(idle_processors_warning(
                std::vector<RankProcessors>{{"a", {0}, 3}, {"a", {2}, 3}, {"b", {1, 2}, 3}}),
            none);
  // All that a batch job leaves.
  EXPECT_EQ(idle_processors_warning(std::vector<RankProcessors>{{"a", {7}, 1}}), none);
  // Not known.
  EXPECT_EQ(idle_processors_warning(std::vector<RankProcessors>{{"a", {7}, 0}, {"b", {}, 0}}),
            none);
}

TEST(Processors, HaveTheSystemsNumbers) {
  const std::vector<int> numbers{0, 3, 64, 130};
  EXPECT_EQ(Processors(numbers).numbers(), numbers);
  EXPECT_EQ(Processors::of_process(getpid()).numbers(), Processors::of_this_thread().numbers());
  EXPECT_FALSE(Processors::of_this_thread().numbers().empty());
  EXPECT_TRUE(Processors::of_process(-1).numbers().empty());
}

}  // namespace
}  // namespace starpmc
