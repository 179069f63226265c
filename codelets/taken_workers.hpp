#pragma once

namespace starpmc::codelets {

/// CPU workers whose core a QM engine's process uses, for seconds: other tasks stay away from them
/// while there is another worker. StarPU cannot see to that by itself: how long an update takes,
/// nobody knows beforehand to within a factor of two, and its schedulers by models (1.4.10) take a
/// worker whose task ended sooner than expected for busy until that time.

/// Takes the CPU worker that is taken the fewest times; threads may do so at the same time.
/// @return kAnyWorker where there are no CPU workers
int take_worker();
void release_worker(int worker);
bool is_taken(int worker);
bool all_cpu_workers_taken();

}  // namespace starpmc::codelets
