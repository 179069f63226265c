// What is said of a finished run, and how far its molecules moved.
#include "app/run_warnings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/movement.hpp"

namespace starpmc {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class RunWarnings : public testing::Test {
 protected:
  static RunSummary good(unsigned chains) {
    RunSummary summary;
    ChainSummary chain;
    chain.steps = 1000000;
    chain.acceptance = 0.4;
    chain.final_max_translation_angstrom = 0.2;
    chain.final_max_rotation_degrees = 20;
    chain.movement = Movement{4, 1.9, 500, 0};
    summary.chains.assign(chains, chain);
    summary.equilibrations.resize(chains);
    summary.total_energy.chains = chains;
    summary.total_energy.r_hat = 1.01;
    summary.total_energy.agreement = chains > 1 ? 0.5 : std::numeric_limits<double>::quiet_NaN();
    return summary;
  }
};

TEST_F(RunWarnings, NothingIsSaidOfAGoodRun) {
  EXPECT_THAT(run_warnings(good(1)), IsEmpty());
  EXPECT_THAT(run_warnings(good(4)), IsEmpty());
}

TEST_F(RunWarnings, OneChainHasTwoHalvesAndNoOthersToMixWith) {
  RunSummary run = good(1);
  run.total_energy.r_hat = 1.25;
  EXPECT_THAT(run_warnings(run),
              ElementsAre(AllOf(HasSubstr("the chain is too short"),
                                HasSubstr("its first and second half scatter by 75 %"),
                                HasSubstr("sampling.steps"), Not(HasSubstr("mixed")))));
  run = good(2);
  run.total_energy.r_hat = 1.25;
  EXPECT_THAT(run_warnings(run), ElementsAre(HasSubstr("halves of its chains")));
  run.total_energy.agreement = 0.001;
  EXPECT_THAT(run_warnings(run), ElementsAre(HasSubstr("the chains have not mixed")));
}

TEST_F(RunWarnings, EquilibrationThatCameToNoEnd) {
  RunSummary run = good(3);
  run.chains[1].equilibration_end = EquilibrationEnd::not_settled;
  run.chains[2].equilibration_end = EquilibrationEnd::settled;
  EXPECT_THAT(run_warnings(run),
              ElementsAre(AllOf(HasSubstr("in 1 of 3 chains energies and step sizes had not"),
                                HasSubstr("sampling.equilibration-steps"))));
  run = good(1);
  run.equilibrations[0] = {.share = 0.3,
                           .effective_samples_from_there = 200,
                           .effective_samples_of_all = 100,
                           .mean_from_there = 0,
                           .stands_out = true};
  EXPECT_THAT(run_warnings(run), ElementsAre(HasSubstr("up to 30 % of the steps")));
  run.chains[0].blocks.resize(121);
  EXPECT_THAT(run_warnings(run), ElementsAre(HasSubstr("30 % of the blocks that the mean is of")));
}

TEST_F(RunWarnings, AcceptanceThatIsNoUse) {
  RunSummary run = good(2);
  run.chains[1].acceptance = 0.01;
  run.chains[1].final_max_translation_angstrom = 5;
  EXPECT_THAT(run_warnings(run),
              ElementsAre(AllOf(HasSubstr("1.0 % of the steps"), HasSubstr("up to 5 A"),
                                HasSubstr("too long"), HasSubstr("lower sampling.max-trans"))));
  run.chains[1].acceptance = 0.99;
  EXPECT_THAT(run_warnings(run), IsEmpty());  // a gas: longer moves than molecules
  run.chains[1].final_max_translation_angstrom = 0.01;
  EXPECT_THAT(run_warnings(run), ElementsAre(AllOf(HasSubstr("too short"), HasSubstr("raise"))));
}

TEST_F(RunWarnings, BlocksThatDoNotForgetTheirStart) {
  RunSummary run = good(2);
  const auto with_blocks = [](std::size_t tests, std::size_t accepted) {
    std::vector<QmBlock> blocks(tests + 1);
    for (std::size_t i = accepted + 1; i <= tests; ++i) blocks[i].accepted = false;
    return blocks;
  };
  run.chains[0].blocks = run.chains[1].blocks = with_blocks(12, 9);
  EXPECT_THAT(run_warnings(run), IsEmpty());
  run.chains[1].blocks = with_blocks(12, 3);  // two are accepted in eight, three may be left out
  EXPECT_THAT(run_warnings(run),
              ElementsAre(AllOf(HasSubstr("1 of 2 chains"), HasSubstr("down to 25 %"),
                                HasSubstr("sampling.steps")),
                          HasSubstr("50 % of the blocks were accepted")));
  run.chains[1].blocks = with_blocks(120, 30);
  EXPECT_THAT(run_warnings(run), ElementsAre(HasSubstr("30 % of the blocks were accepted")));
  run.chains[0].blocks.clear();
  run.chains[1].blocks = with_blocks(3, 0);
  EXPECT_THAT(run_warnings(run), testing::SizeIs(2));
}

TEST_F(RunWarnings, MoleculesThatStayWhereTheyAre) {
  RunSummary run = good(2);
  run.chains[1].movement = Movement{0.5, 1.9, 500, 0};
  EXPECT_THAT(run_warnings(run),
              ElementsAre(AllOf(HasSubstr("moved by 0.50 A"), HasSubstr("(1.90 A)"),
                                HasSubstr("sampling.steps"), Not(HasSubstr("never")))));
  run.chains[0].movement->never_moved = 3;
  run.chains[1].movement = Movement{9, 1.9, 500, 0};
  EXPECT_THAT(run_warnings(run), ElementsAre(HasSubstr("3 of 500 molecules never moved")));
  run.chains[0].movement = Movement{0.1, 1.9, 500, 7};
  EXPECT_THAT(run_warnings(run), ElementsAre(AllOf(HasSubstr("moved by 0.10 A"),
                                                   HasSubstr("7 of 500 molecules never moved"))));
}

TEST(Movement, IsTheWayByTheNearestImage) {
  System system;
  system.box = {{10, 20, 30}};
  system.molecule_types = {{"AR", {{}}}, {"SOL", {{}, {}}}};
  system.molecule_types[1].sites[1].reference = {0, 1.5, 0};
  system.molecules = {
      {0, {1, 1, 1}, {}}, {1, {9.5, 5, 5}, {}}, {1, {2, 2, 2}, {}}, {1, {3, 3, 3}, {}}};
  std::vector<Molecule> after = system.molecules;
  after[1].centre = {0.5, 5, 29};       // 1 and -6
  after[2].orientation = {0, 1, 0, 0};  // turned on the spot
  const Movement found = movement_of(system, system.molecules, after);
  EXPECT_DOUBLE_EQ(found.displacement_angstrom, std::sqrt(37.0 / 4));
  EXPECT_EQ(found.never_moved, 2U);
  EXPECT_EQ(found.molecules, 4U);
  EXPECT_DOUBLE_EQ(found.size_angstrom, (1 + 3 * 3.0) / 4);
}

}  // namespace
}  // namespace starpmc
