#include "bench/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace starpmc {
namespace {

std::vector<BenchCase> example() {
  return {{"qmmm_coulomb_grid",
           "bench-A",
           "simd",
           "mixed",
           "1 core",
           {{"microseconds_per_step", 760.77}, {"pairs_per_second", 6.8e9}}},
          {"errors",
           "bench-A",
           "opencl",
           "mixed",
           "OpenCL 0 (a, b)",
           {{"grid_mean_error_kj_per_mol", 6.4e-6}, {"grid_max_error_kj_per_mol", 2.9e-3}}}};
}

TEST(BenchReport, TableIsAlignedAndHasUnits) {
  EXPECT_EQ(
      case_table("Title", example()),
      "Title\n"
      "                     implementation  precision  device     step      rate  grid mean  "
      "grid max\n"
      "                                                             us  Gpairs/s     kJ/mol    "
      "kJ/mol\n"
      "  qmmm_coulomb_grid  simd            mixed      1 core    760.8     6.800\n"
      "  errors             opencl          mixed      OpenCL 0                    6.40e-06    "
      "0.0029\n");
}

TEST(BenchReport, CsvHasAColumnForEveryQuantity) {
  EXPECT_EQ(cases_csv(example()),
            "system,term,implementation,precision,device,functions,microseconds_per_step,"
            "pairs_per_second,"
            "grid_mean_error_kj_per_mol,grid_max_error_kj_per_mol\n"
            "bench-A,qmmm_coulomb_grid,simd,mixed,1 core,,760.77,6800000000,,\n"
            "bench-A,errors,opencl,mixed,\"OpenCL 0 (a, b)\",,,,6.4e-06,0.0029\n");
}

std::vector<BenchCase> rivals() {
  const auto entry = [](const char* functions, double task, double kernel) {
    return BenchCase{
        "mm_pair", "quick",
        "simd",    "fp64",
        "1 core",  {{"kernel_microseconds_per_task", kernel}, {"microseconds_per_step", task}},
        functions};
  };
  return {entry("built-in", 4, 3), entry("expressions", 5, 3.3)};
}

TEST(BenchReport, FunctionsAreTold) {
  EXPECT_EQ(cases_csv(rivals()),
            "system,term,implementation,precision,device,functions,kernel_microseconds_per_task,"
            "microseconds_per_step\n"
            "quick,mm_pair,simd,fp64,1 core,built-in,3,4\n"
            "quick,mm_pair,simd,fp64,1 core,expressions,3.3,5\n");
  EXPECT_EQ(case_table("Title", rivals()),
            "Title\n"
            "           implementation  precision  device  functions    kernel  step\n"
            "                                                               us    us\n"
            "  mm_pair  simd            fp64       1 core  built-in          3     4\n"
            "  mm_pair  simd            fp64       1 core  expressions   3.300     5\n");
}

TEST(BenchReport, NoCasesNoTable) { EXPECT_EQ(case_table("Title", {}), ""); }

}  // namespace
}  // namespace starpmc
