#pragma once

#include <filesystem>
#include <iosfwd>
#include <vector>

namespace starpmc {

/// What `starpmc bench --experiment chains` is asked for.
struct ChainsRequest {
  std::vector<unsigned>
      chains;            ///< numbers of chains; empty: one, and as many as there are workers
  unsigned updates = 8;  ///< QM updates of each chain
};

/// Weak scaling of bench-R with its QM program: n chains, each with as many QM updates, against
/// one. Beside it, in turn, the same number of QM programs without chains (engines_alone_seconds):
/// what the machine loses when so many of its cores work. Writes chains.csv and chains.json, prints
/// a table.
/// @param folder exists
/// @throws RunError or InputError, of a run or an engine
void run_chains_experiment(const ChainsRequest& request, const std::filesystem::path& folder,
                           std::ostream& out);

}  // namespace starpmc
