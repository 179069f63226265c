#include "bench/paper.hpp"

#include <array>
#include <optional>
#include <string>

namespace starpmc {
namespace {

struct PaperTime {
  std::string_view system;
  std::string_view term;
  std::string_view precision;
  std::string_view device;
  double microseconds_per_step;
  enum class Role { serial, gpu, other } role;
};

/// Table 3: 10,000 steps, seconds, less those of the output.
constexpr double table3(double all, double output) { return (all - output) / 10'000 * 1e6; }
/// Tables 5 and 6: 50,000 steps, seconds.
constexpr double table5(double seconds) { return seconds / 50'000 * 1e6; }

using Role = PaperTime::Role;
constexpr std::string_view kSerial = "1 core i7-4770K (serial)";
constexpr std::string_view kFourCores = "4 cores i7-4770K (OpenCL)";
constexpr std::string_view kOneGpu = "GTX 780Ti";
constexpr std::string_view kTwoGpus = "GTX 780Ti + GTX 660Ti";
constexpr std::string_view kAmd = "R9 290X + GTX 560Ti";

constexpr std::array<PaperTime, 33> kTimes{{
    {"bench-A", "steps", "fp64", kSerial, table3(769.96, 0.23), Role::serial},
    {"bench-A", "steps", "mixed", kFourCores, table3(137.90, 0.90), Role::other},
    {"bench-A", "steps", "mixed", kOneGpu, table3(6.33, 0.53), Role::gpu},
    {"bench-A", "steps", "mixed", kTwoGpus, table3(5.04, 0.52), Role::other},
    {"bench-A", "steps", "mixed", kAmd, table3(6.90, 0.57), Role::other},
    {"bench-B", "steps", "fp64", kSerial, table3(787.68, 0.76), Role::serial},
    {"bench-B", "steps", "mixed", kFourCores, table3(140.25, 6.75), Role::other},
    {"bench-B", "steps", "mixed", kOneGpu, table3(8.08, 1.70), Role::gpu},
    {"bench-B", "steps", "mixed", kTwoGpus, table3(6.73, 1.66), Role::other},
    {"bench-B", "steps", "mixed", kAmd, table3(8.42, 2.02), Role::other},
    {"bench-C", "steps", "fp64", kSerial, table3(1179.70, 0.76), Role::serial},
    {"bench-C", "steps", "mixed", kFourCores, table3(232.20, 6.87), Role::other},
    {"bench-C", "steps", "mixed", kOneGpu, table3(11.20, 1.72), Role::gpu},
    {"bench-C", "steps", "mixed", kTwoGpus, table3(8.68, 1.66), Role::other},
    {"bench-C", "steps", "mixed", kAmd, table3(11.30, 2.02), Role::other},
    {"bench-R", "steps", "fp64", kSerial, table5(572.7), Role::serial},
    {"bench-R", "steps", "fp64", "1 core E5-2609 (serial)", table5(1883.1), Role::other},
    {"bench-R", "steps", "fp64", "2 x GTX 680", table5(42.9), Role::other},
    {"bench-R", "steps", "mixed", "2 x GTX 680", table5(10.2), Role::gpu},
    // Table 4, and table 9 for q3m_c alone.
    {"bench-A", "qmmm_coulomb_grid", "fp64", kSerial, 76'077, Role::serial},
    {"bench-A", "qmmm_coulomb_grid", "mixed", kOneGpu, 473, Role::gpu},
    {"bench-A", "qmmm_coulomb_grid", "fp64", kFourCores, 13'031, Role::other},
    {"bench-A", "qmmm_coulomb_grid", "mixed", kFourCores, 6'157, Role::other},
    {"bench-A", "qmmm_coulomb_grid", "fixed", kFourCores, 6'143, Role::other},
    {"bench-A", "qmmm_coulomb_grid", "fp64", "K20C", 1'775, Role::other},
    {"bench-A", "qmmm_coulomb_grid", "mixed", "K20C", 670, Role::other},
    {"bench-A", "qmmm_coulomb_grid", "fixed", "K20C", 647, Role::other},
    {"bench-A", "mm_terms", "fp64", kSerial, 791, Role::serial},
    {"bench-A", "mm_terms", "mixed", kOneGpu, 40, Role::gpu},
    {"bench-A", "qmmm_nuclei_vdw", "fp64", kSerial, 4, Role::serial},
    {"bench-A", "qmmm_nuclei_vdw", "mixed", kOneGpu, 18, Role::gpu},
    {"bench-A", "metropolis_decide", "fp64", kSerial, 94, Role::serial},
    {"bench-A", "metropolis_decide", "mixed", kOneGpu, 20, Role::gpu},
}};

/// Table 8, of bench-A; its energy E is that of the whole system.
struct PaperError {
  std::string_view precision;
  double grid_mean;
  double grid_max;
  double total_mean;
  double total_max;
};
constexpr std::array<PaperError, 2> kErrors{{
    {"mixed", 6.4e-5, 2.9e-3, 4.2e-3, 1.6e-2},
    {"fixed", 1.6e-5, 1.1e-3, 9.0e-4, 1.6e-2},
}};

std::optional<double> paper_time(const BenchCase& ours, Role role) {
  for (const PaperTime& time : kTimes) {
    if (time.system == ours.system && time.term == ours.term && time.role == role) {
      return time.microseconds_per_step;
    }
  }
  return std::nullopt;
}

void add_speedups(BenchCase& ours) {
  const Figure* const time = ours.figure("microseconds_per_step");
  if (time == nullptr) return;
  const double own = time->value;
  if (const auto serial = paper_time(ours, Role::serial)) {
    ours.figures.push_back({"times_faster_than_paper_core", *serial / own});
  }
  if (const auto gpu = paper_time(ours, Role::gpu)) {
    ours.figures.push_back({"times_faster_than_paper_gpu", *gpu / own});
  }
}

void add_error_shares(BenchCase& ours) {
  for (const PaperError& paper : kErrors) {
    if (paper.precision != ours.precision) continue;
    const auto share = [&](const char* quantity, const char* name, double value) {
      ours.figures.push_back({name, ours.figure(quantity)->value / value});
    };
    share("grid_mean_error_kj_per_mol", "grid_mean_error_over_paper", paper.grid_mean);
    share("grid_max_error_kj_per_mol", "grid_max_error_over_paper", paper.grid_max);
  }
}

}  // namespace

std::vector<BenchCase> paper_cases(std::string_view system, std::string_view term) {
  std::vector<BenchCase> cases;
  const auto add = [&](std::string_view precision, std::string_view device,
                       std::vector<Figure> figures) {
    cases.push_back({std::string(term), std::string(system), "paper", std::string(precision),
                     std::string(device), std::move(figures)});
  };
  for (const PaperTime& time : kTimes) {
    if (time.system != system || time.term != term) continue;
    add(time.precision, time.device, {{"microseconds_per_step", time.microseconds_per_step}});
  }
  if (term != "errors" || system != "bench-A") return cases;
  for (const PaperError& error : kErrors) {
    add(error.precision, "",
        {{"grid_mean_error_kj_per_mol", error.grid_mean},
         {"grid_max_error_kj_per_mol", error.grid_max},
         {"total_mean_error_kj_per_mol", error.total_mean},
         {"total_max_error_kj_per_mol", error.total_max}});
  }
  return cases;
}

void compare_with_paper(std::vector<BenchCase>& cases) {
  for (BenchCase& ours : cases) {
    if (ours.implementation == "paper") continue;
    if (ours.term == "errors") {
      if (ours.system == "bench-A") add_error_shares(ours);
    } else {
      add_speedups(ours);
    }
  }
}

}  // namespace starpmc
