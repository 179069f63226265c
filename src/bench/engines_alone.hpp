#pragma once

#include "bench/bench_system.hpp"

namespace starpmc {

/// The control of a weak scaling: QM programs as that many chains would start them, each making its
/// updates in a thread of its own, in the potential of a uniform field that changes from update to
/// update. No StarPU, no sampling: what is slower with several of them is the machine.
/// @return seconds from the first program's readiness to the last one's last update
/// @throws RunError or InputError of an engine
double engines_alone_seconds(const BenchSystem& bench, unsigned engines, unsigned updates);

}  // namespace starpmc
