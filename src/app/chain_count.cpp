#include "app/chain_count.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "base/free_memory.hpp"
#include "kernels/base/error.hpp"

namespace starpmc {

double spare_memory_mb() {
  constexpr double kShare = 0.5;
  return kShare * free_memory_mb();
}

unsigned automatic_chains(unsigned cpu_workers, unsigned devices, double worker_memory_mb) {
  return automatic_chains(cpu_workers, devices, worker_memory_mb, free_memory_mb());
}

unsigned automatic_chains(unsigned cpu_workers, unsigned devices, double worker_memory_mb,
                          double free_memory_mb) {
  constexpr unsigned kChainsPerDevice = 4;  // hide each other's launches and copies
  constexpr double kUsableShare = 0.8;
  if (worker_memory_mb <= 0) {
    return std::max(1U, devices > 0 ? kChainsPerDevice * devices : cpu_workers);
  }
  const double more = std::max(0.0, kUsableShare * free_memory_mb / worker_memory_mb);
  const double room = 1 + std::min(more, 1e6);
  return std::max(1U, std::min(cpu_workers, static_cast<unsigned>(room)));
}

unsigned qm_workers(const Settings::QmSection& settings, unsigned chains) {
  if (settings.engine != "pyscf") return chains;  // others have no state to go on from
  if (settings.workers) return std::min(chains, static_cast<unsigned>(*settings.workers));
  unsigned at_a_time = std::max(1U, std::thread::hardware_concurrency() /
                                        static_cast<unsigned>(std::max(1, settings.threads)));
  // More make no more updates there, and each waits for the others' beginning on the device.
  constexpr unsigned kMostOnGpu = 8;
  if (settings.device == "gpu") at_a_time = std::min(at_a_time, kMostOnGpu);
  return std::min(chains, at_a_time);
}

void require_chains_for_all(const Ranks& ranks, unsigned chains) {
  if (chains == 0 || chains >= ranks.size()) return;
  throw InputError("sampling.chains", "there are fewer chains than processes",
                   fmt::format("{} chains, {} processes", chains, ranks.size()),
                   "whole chains are spread over the processes: start fewer with mpirun -np or "
                   "srun -n, or more chains");
}

}  // namespace starpmc
