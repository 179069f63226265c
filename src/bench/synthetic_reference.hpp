#pragma once

#include <memory>

#include "bench/bench_system.hpp"
#include "sampling/reference_tables.hpp"

namespace starpmc {

/// Tables of the size and the structure of a real reference's, for benchmarks without a QM program:
/// the potential of charges on the solute's atoms, and of so many components of small charges that
/// add up to 0. What a step costs does not depend on their values.
/// @param bench with a solute
std::shared_ptr<const ReferenceTables> synthetic_reference(const BenchSystem& bench,
                                                           int components);

}  // namespace starpmc
