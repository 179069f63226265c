#pragma once

#include <functional>
#include <string>

#include "io/progress.hpp"
#include "mpi/ranks.hpp"

namespace starpmc {

/// Rank 0's progress, for all: as that of a single process, but to the terminal that mpirun was
/// started from, where it is on this host; mpirun gives its ranks a pipe for standard error. The
/// other ranks show nothing.
Progress progress_of_ranks(const Ranks& ranks);

/// While it lives, this rank's log goes line by line to `take`, from `level` on, warnings always.
class ForwardedLog {
 public:
  ForwardedLog(const std::string& level, std::function<void(int level, const std::string&)> take);
  ~ForwardedLog();
  ForwardedLog(const ForwardedLog&) = delete;
  ForwardedLog& operator=(const ForwardedLog&) = delete;
};

}  // namespace starpmc
