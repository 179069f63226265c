#pragma once

#include <starpu.h>

#include <array>
#include <cstdint>

namespace starpmc::codelets {

/// CPU workers whose core a QM engine's process uses, for seconds: other tasks stay away from them
/// while there is another worker. StarPU cannot see to that by itself: how long an update takes,
/// nobody knows beforehand to within a factor of two, and its schedulers by models (1.4.10) take a
/// worker whose task ended sooner than expected for busy until that time.

/// Takes a CPU worker, as soon as there is a free one; threads that wait get theirs in the order of
/// their coming.
/// @return kAnyWorker where there are no CPU workers
int take_worker();
/// For the task that has taken it.
void release_worker(int worker);
bool is_taken(int worker);
bool all_cpu_workers_taken();

/// The CPU workers that a task was refused. StarPU asks them one by one, and takes it for an error
/// if none says yes. Between its questions workers are taken and released, so that each may be
/// taken when it is asked though never all of them are: the last one asked does not refuse then.
class Refusals {
 public:
  /// Whether a worker that is taken may refuse the task: another one has not, or not since it last
  /// accepted.
  bool refuse(int worker);
  void accept(int worker);

 private:
  static constexpr int kBits = 64;
  std::array<std::uint64_t, (STARPU_NMAXWORKERS + kBits - 1) / kBits> workers_{};
};

}  // namespace starpmc::codelets
