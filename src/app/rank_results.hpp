#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "analysis/ensemble.hpp"
#include "io/run_summary.hpp"
#include "runtime/worker_times.hpp"

namespace starpmc {

/// What one rank has to tell at the end of a run.
struct RankResults {
  unsigned complete = 0;             ///< chains that came to their end
  std::uint64_t steps = 0;           ///< made by all of its chains
  std::uint64_t restored_steps = 0;  ///< of these, by an earlier process, from checkpoints
  int interrupting_signal = 0;
  std::vector<ChainSummary> chains;         ///< of the complete ones
  std::vector<ChainStatistics> statistics;  ///< of the same
  std::vector<ChainStatistics> pressures;   ///< of the same
  std::vector<CodeletTiming> codelet_timings;
  std::vector<WorkerTasks> worker_tasks;
  Schedule schedule;

  nlohmann::json state() const;
  static RankResults from(const nlohmann::json& state);
};

/// What StarPU's workers of this process have done.
void add_worker_times(RankResults& results, const std::vector<std::pair<int, std::string>>& workers,
                      const codelets::WorkerTimes::Counts& times);

/// Chains in the order of ranks; times of the same implementation added.
RankResults merged(const std::vector<RankResults>& ranks);

}  // namespace starpmc
