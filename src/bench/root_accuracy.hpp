#pragma once

#include <cstdint>
#include <vector>

#include "bench/bench_case.hpp"

namespace starpmc {

/// Errors of Coulomb energies with 1/sqrt from the processor's estimate and 0, 1 and 2 Newton
/// steps, for every instruction set of this machine (the case's device), and with the plain
/// kernel's correctly rounded root, in fp32 with fp64 sums: rms of the errors over the rms of the
/// energies, and the largest error of an energy relative to the sum of its pairs' magnitudes.
/// Against the plain kernel in fp64: 400 energies of 500 random charges with 500. No task may be
/// under way.
std::vector<BenchCase> measure_root_accuracy(std::uint64_t seed);

}  // namespace starpmc
