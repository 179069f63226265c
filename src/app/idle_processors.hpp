#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace starpmc {

/// What a rank of a run may use of its host.
struct RankProcessors {
  std::string host;
  std::vector<int> own;         ///< the system's numbers of its logical processors
  std::size_t of_launcher = 0;  ///< how many the process that has started it may use; 0: not known
};

/// A warning with its remedy where the ranks of a host are bound to at most half of the processors
/// that their launcher may use there, as mpirun binds each to one core by default. What a batch job
/// or container leaves holds for the launcher, too.
std::optional<std::string> idle_processors_warning(std::span<const RankProcessors> ranks);

}  // namespace starpmc
