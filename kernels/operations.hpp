#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/arguments.hpp"

/// The plain reference implementations, readable beside the equations.
namespace starpmc::scalar {
#include "kernels/operations.inc"
}  // namespace starpmc::scalar

/// The same with Google Highway: the best instruction set of the machine is chosen at run time.
namespace starpmc::simd {
#include "kernels/operations.inc"
/// Name of the instruction set in use ("AVX3", "AVX2", ...).
const char* instruction_set();

/// One that the kernels are compiled for and this machine has.
struct InstructionSet {
  std::string name;
  std::int64_t target;  ///< Highway's bit
};
/// Best first.
std::vector<InstructionSet> instruction_sets();
/// All kernels use this instruction set as long as the object lives: for tests and benchmarks,
/// while no other thread computes.
class InstructionSetForced {
 public:
  explicit InstructionSetForced(const InstructionSet& set);
  ~InstructionSetForced();
  InstructionSetForced(const InstructionSetForced&) = delete;
  InstructionSetForced& operator=(const InstructionSetForced&) = delete;
};
}  // namespace starpmc::simd
