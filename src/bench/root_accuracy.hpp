#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace starpmc {

/// Error of Coulomb energies with 1/sqrt from the processor's estimate and Newton steps.
struct RootAccuracy {
  std::string instruction_set;  ///< "plain": the plain kernel with the correctly rounded root
  int newton_steps = 0;
  double rms_relative_error = 0;  ///< rms of the errors over the rms of the energies
  double largest_error = 0;       ///< of an energy, relative to the sum of its pairs' magnitudes
  double nanoseconds_per_pair = 0;
};

/// Of every instruction set this machine has, with 0, 1 and 2 steps, in fp32 with fp64 sums,
/// against the plain kernel in fp64: 400 energies of 500 random charges with 500, no two nearer
/// than 1.6 A. StarPU must not be running.
std::vector<RootAccuracy> measure_root_accuracy(std::uint64_t seed);

/// The fewest steps that keep 1e-6, whatever the instruction set.
int fewest_good_steps(const std::vector<RootAccuracy>& rows);

}  // namespace starpmc
