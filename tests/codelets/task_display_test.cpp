#include "runtime/task_display.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "runtime/task_label.hpp"

namespace starpmc::codelets {
namespace {

TEST(TaskDisplay, IsOfTheOperationInEveryPrecisionAndPotential) {
  EXPECT_EQ(task_display("starpmc_mm_pair_mixed").name, "MM pairs");
  EXPECT_EQ(task_display("starpmc_mm_pair_fp64_0123abcd").name, "MM pairs");
  EXPECT_EQ(task_display("starpmc_mm_pair_reduce_fixed").name, "MM sums");
  EXPECT_EQ(task_display("starpmc_qm_update").name, "QM update");
  EXPECT_EQ(task_display("starpmc_qm_update_on_gpu").name, "QM update on a GPU");
}

TEST(TaskDisplay, KeepsANameItDoesNotKnow) {
  for (const char* name : {"starpmc_mm_pair_other", "mm_pair_fp64", "starpmc_new_fp64", ""}) {
    EXPECT_EQ(task_display(name).name, name);
  }
}

TEST(TaskDisplay, TellsOperationsApart) {
  std::set<std::string> names;
  std::set<unsigned> colours;
  const auto operations = {"propose_moves",       "qmmm_coulomb_grid", "qmmm_coulomb_grid_reduce",
                           "qmmm_nuclei_vdw",     "mm_pair",           "mm_pair_table",
                           "mm_pair_reduce",      "metropolis_decide", "sample_windows",
                           "grid_potential",      "pair_virial",       "pose_energies",
                           "pose_energies_reduce"};
  for (const std::string operation : operations) {
    const TaskDisplay display = task_display("starpmc_" + operation + "_fp64");
    names.insert(display.name);
    colours.insert(display.colour);
  }
  EXPECT_EQ(names.size(), operations.size());
  EXPECT_EQ(colours.size(), operations.size());
}

TEST(TaskLabel, IsOfAThreadAndEndsWithItsScope) {
  EXPECT_EQ(LabelledTasks::current().chain, TaskLabel::kNone);
  const LabelledTasks chain({3});
  {
    const LabelledTasks window({3, 8});
    EXPECT_EQ(LabelledTasks::current().window, 8);
    std::thread([] { EXPECT_EQ(LabelledTasks::current().chain, TaskLabel::kNone); }).join();
  }
  EXPECT_EQ(LabelledTasks::current().chain, 3);
  EXPECT_EQ(LabelledTasks::current().window, TaskLabel::kNone);
}

}  // namespace
}  // namespace starpmc::codelets
