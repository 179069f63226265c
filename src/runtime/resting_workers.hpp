#pragma once

#include <starpu.h>

/// Workers that rest while there is nothing for them to do. StarPU's own ask for tasks without a
/// pause, each on its core: where cores share an execution unit, the memory's bandwidth or a clock
/// frequency, that slows those that work, such as a QM program's (src/app/README.md, "Several
/// chains"). Where every core has such a worker, by several processes of a node or beside a device
/// made of the cores themselves, some kernels (Linux 6.18) let nothing else run for minutes, not
/// even what writes to the disk that the process waits for.
namespace starpmc {

/// starpu_init() by the scheduler that STARPU_SCHED names, whose idle workers rest: after the first
/// milliseconds for a share of the time that they have been idle, and never long. Those of devices
/// do not while a task is there, which they look after. One StarPU at a time. Under SimGrid, and
/// where the name is not one of StarPU's, it is plain starpu_init().
/// @return starpu_init()'s
int start_starpu(starpu_conf& conf);

/// While it lives all workers sleep, those of devices, too, so that a QM program has the machine's
/// cores.
class PausedWorkers {
 public:
  PausedWorkers() { starpu_pause(); }
  ~PausedWorkers() { starpu_resume(); }
  PausedWorkers(const PausedWorkers&) = delete;
  PausedWorkers& operator=(const PausedWorkers&) = delete;
};

}  // namespace starpmc
