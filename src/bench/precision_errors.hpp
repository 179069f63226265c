#pragma once

#include <cstddef>
#include <vector>

#include "bench/bench_case.hpp"
#include "bench/bench_system.hpp"
#include "bench/target.hpp"

namespace starpmc {

/// Errors of the energy changes of proposals against fp64 (the reference: SIMD, where there is a
/// CPU worker), one case per target and precision.
///
/// The proposals start from several configurations of one chain, an equal number from each. They
/// are those a run would make from there: positions do not depend on the precision, which is
/// checked.
/// @param preparation where the chain runs that makes the configurations
std::vector<BenchCase> measure_errors(BenchSystem bench, std::span<const BenchTarget> targets,
                                      std::span<const Precision> precisions, std::size_t proposals,
                                      const BenchTarget& preparation);

}  // namespace starpmc
