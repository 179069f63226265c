#include "bench/paper_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/paper_published.hpp"

namespace starpmc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr double kMostSeconds = 12 * 60;

/// All tables, cases and seconds left open.
PaperRequest open_request() {
  PaperRequest request;
  for (const std::string_view key : published_keys()) request.tables.emplace_back(key);
  return request;
}

PaperScale gpu_machine(std::vector<std::string> made) {
  return {.cpu_workers = 15,
          .devices = 1,
          .threads = 16,
          .whole_chains = 15,
          .proposals = 10'000,
          .small = false,
          .made = std::move(made)};
}

PaperScale laptop(std::vector<std::string> made) {
  return {.cpu_workers = 2,
          .devices = 0,
          .threads = 2,
          .whole_chains = 2,
          .proposals = 10'000,
          .small = false,
          .made = std::move(made)};
}

double section_estimate(const PaperScale& scale, const PaperRequest& request,
                        std::string_view name) {
  for (const PaperSection& section : paper_sections()) {
    if (section_name(section) == name) return section.estimate(scale, request);
  }
  throw std::invalid_argument("no such section");
}

TEST(PaperPlan, SectionsMakeEveryTableOnce) {
  std::vector<std::string_view> made;
  for (const PaperSection& section : paper_sections()) {
    made.insert(made.end(), section.tables.begin(), section.tables.end());
  }
  EXPECT_THAT(made, testing::UnorderedElementsAreArray(published_keys()));
}

TEST(PaperPlan, AMachineWithAGpuMeasuresAllInTwelveMinutes) {
  for (const auto& made : {std::vector<std::string>{}, {"A", "B", "C", "R"}}) {
    const PaperScale scale = gpu_machine(made);
    PaperRequest request = open_request();
    complete_request(scale, request);
    EXPECT_THAT(request.cases, ElementsAre("A", "B", "C", "R"));
    EXPECT_GE(request.seconds, 1);
    EXPECT_LE(request.seconds, 5);
    EXPECT_LE(estimated_seconds(scale, request), kMostSeconds);
  }
}

TEST(PaperPlan, ASmallMachineLeavesOutWhatItHasNoTimeFor) {
  const PaperScale scale = laptop({});
  PaperRequest request = open_request();
  complete_request(scale, request);
  EXPECT_THAT(request.cases, ElementsAre("A", "R"));
  EXPECT_LE(estimated_seconds(scale, request), kMostSeconds);
  const std::string text = plan_text(scale, request);
  EXPECT_THAT(text, HasSubstr("the density of bench-A has to be made, once: about 2 min"));
  EXPECT_THAT(text, HasSubstr("without bench-C: --cases names it"));
  PaperRequest later = open_request();  // once the densities have been made
  complete_request(laptop({"A", "B", "C", "R"}), later);
  EXPECT_THAT(later.cases, ElementsAre("A", "B", "C", "R"));
}

TEST(PaperPlan, TheLeastIsAAndR) {
  PaperScale scale = laptop({});
  scale.proposals = 1'000'000;  // hours
  PaperRequest request = open_request();
  complete_request(scale, request);
  EXPECT_THAT(request.cases, ElementsAre("A", "R"));
  EXPECT_EQ(request.seconds, 1);
}

TEST(PaperPlan, DensitiesInTheCacheCostNothing) {
  PaperRequest request = open_request();
  request.cases = {"A", "C"};
  const double none = section_estimate(laptop({}), request, "inputs");
  const double one = section_estimate(laptop({"C"}), request, "inputs");
  EXPECT_GT(none, one);
  EXPECT_GT(one, 0);
  EXPECT_EQ(section_estimate(laptop({"A", "C"}), request, "inputs"), 0);
  PaperScale small = laptop({});
  small.small = true;
  EXPECT_EQ(section_estimate(small, request, "inputs"), 0);
  EXPECT_THAT(plan_text(laptop({"A", "C"}), request), Not(HasSubstr("has to be made")));
}

TEST(PaperPlan, WhatIsChosenStays) {
  PaperRequest request = open_request();
  request.cases = {"B"};
  request.seconds = 20;
  request.tables = {"table-3"};
  complete_request(laptop({}), request);
  EXPECT_THAT(request.cases, ElementsAre("B"));
  EXPECT_EQ(request.seconds, 20);
  std::vector<std::string> names;
  for (const PaperSection& section : wanted_sections(request)) {
    names.push_back(section_name(section));
  }
  EXPECT_THAT(names, ElementsAre("inputs", "table-3, figure-8"));
}

TEST(PaperPlan, OnlyTheSecondsAreChosenForGivenCases) {
  PaperRequest request = open_request();
  request.cases = {"R"};
  complete_request(gpu_machine({"R"}), request);
  EXPECT_THAT(request.cases, ElementsAre("R"));
  EXPECT_EQ(request.seconds, 5);  // the most, for one case is little
  EXPECT_EQ(section_estimate(gpu_machine({"R"}), request, "table-4"), 0);
  EXPECT_GT(section_estimate(gpu_machine({"R"}), request, "table-5, table-6"), 10);
}

}  // namespace
}  // namespace starpmc
