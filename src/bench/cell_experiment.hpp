#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <vector>

namespace starpmc {

/// What `starpmc bench --experiment cell` is asked for.
struct CellRequest {
  std::vector<unsigned> workers;  ///< CPU workers to measure with; empty: 1, 2, 4, ... all
  double seconds = 1;             ///< of a measurement
  std::uint64_t seed = 1;
};

/// The three figures of H. Perez-Sanchez and W. Wenzel, "Implementation of an Effective Non-Bonded
/// Interactions Kernel for Biomolecular Simulations on the Cell Processor" (2008), on this machine:
/// speed-up against the number of workers for 128 particles, speed-up of one worker against the
/// granularity (evaluations in a task) for several sizes, and the tasks of each worker against
/// time; besides, the accuracy of the estimated 1/sqrt. Speed-ups are relative to the plain kernel
/// called on one core without StarPU, the part of the PPE. Writes cell-*.csv, cell.json and, where
/// Python has matplotlib, cell-*.svg; prints tables with the paper's statements. Starts and ends
/// StarPU by itself, once for each number of workers.
/// @param folder exists
/// @throws RunError
void run_cell_experiment(const CellRequest& request, const std::filesystem::path& folder,
                         std::ostream& out);

}  // namespace starpmc
