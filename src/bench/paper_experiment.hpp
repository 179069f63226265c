#pragma once

#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "bench/bench_system.hpp"
#include "config/settings.hpp"

namespace starpmc {

/// What `starpmc bench --experiment paper` is asked for.
struct PaperRequest {
  std::vector<std::string> tables;  ///< keys: "table-3", ..., "figure-11"
  std::vector<std::string> cases;   ///< "A", "B", "C", "R"; empty: as time allows
  std::vector<Implementation> implementations{Implementation::simd, Implementation::opencl};
  bool opencl_by_name = false;  ///< with PoCL's CPU device where there is no GPU
  BenchOverrides overrides;     ///< waters or points given: synthetic densities, no QM program
  double seconds = 0;           ///< of a measurement, at most about; 0: as time allows
  std::size_t proposals = 10'000;
  unsigned chains = 0;  ///< of the whole run; 0: one per CPU worker, as memory allows
};

/// Tables 3 to 9 and figures 8 to 11 of S. Miranda et al., "Efficient parallelization of
/// perturbative Monte Carlo QM/MM simulations in heterogeneous platforms" (2016), on this machine,
/// each beside the paper's numbers. Writes paper-table-N.csv, paper-figure-N.csv, paper.json and,
/// where Python has matplotlib, paper-*.svg and .png; prints the tables. What cannot be measured
/// says why. Prints first what will be done and how long that takes, about 15 minutes at most where
/// cases and seconds are left open. Starts and ends StarPU by itself.
/// @param folder exists
/// @throws RunError
void run_paper_experiment(PaperRequest request, const std::filesystem::path& folder,
                          std::ostream& out);

/// Makes inputs (paper_inputs.hpp) with their densities and prints how they compare with the fixed
/// checksums.
/// @return whether all that is known is the same
bool make_paper_inputs(const std::vector<std::string>& cases, std::ostream& out);

}  // namespace starpmc
