#pragma once

#include <cstdint>
#include <vector>

namespace starpmc::codelets {

/// What crossed between the memories of the machine.
struct Transfers {
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
};

/// Adds what a task moves by itself, beside StarPU.
void count_transfers(const Transfers& moved);

/// What StarPU counts while it profiles, from the making of this object to the call. One at a time.
class WorkerTimes {
 public:
  WorkerTimes();

  struct Counts {
    /// Of each worker, s: waiting for data, less what was hidden behind its tasks. 0 where StarPU
    /// does not tell (before 1.4).
    std::vector<double> waited_for_data;
    double without_tasks = 0;  ///< s: no task was under way at all
    Transfers transfers;
  };
  Counts take() const;

 private:
  double without_tasks_before_;
};

}  // namespace starpmc::codelets
