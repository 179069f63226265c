#include "app/idle_processors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace starpmc {

std::optional<std::string> idle_processors_warning(std::span<const RankProcessors> ranks) {
  struct Host {
    std::size_t ranks = 0;
    std::set<int> used;
    std::size_t all = 0;
  };
  std::map<std::string, Host> hosts;
  for (const RankProcessors& rank : ranks) {
    Host& host = hosts[rank.host];
    ++host.ranks;
    host.used.insert(rank.own.begin(), rank.own.end());
    host.all = std::max(host.all, rank.of_launcher);
  }
  for (const auto& [name, host] : hosts) {
    if (host.used.empty() || 2 * host.used.size() > host.all) continue;
    return fmt::format(
        "{} may use {} of the {} processors of {}, the others are idle: mpirun binds processes to "
        "cores; start one process per node (mpirun --map-by ppr:1:node --bind-to none), or give "
        "each its own cores (--map-by slot:PE=N)",
        host.ranks == 1 ? "one process" : fmt::format("{} processes together", host.ranks),
        host.used.size(), host.all, name);
  }
  return std::nullopt;
}

}  // namespace starpmc
