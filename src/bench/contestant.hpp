#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/bench_case.hpp"
#include "bench/bench_system.hpp"
#include "runtime/starpu_runtime.hpp"

namespace starpmc {

/// Where the pair energies of a case come from.
enum class Functions { built_in, expressions };
std::string_view functions_name(Functions functions);

/// The same system with its built-in pair functions (shifted-force Coulomb, truncated Lennard-Jones
/// with geometric means) written as expressions of [potential].
BenchSystem with_expressions(BenchSystem bench);

/// A system with its pair functions. Contestants take turns in one process, on one worker:
/// codelets, performance models and OpenCL kernels are kept for each potential
/// (codelets::PotentialCodelet, StarpuRuntime::add_potential). So a disturbance of the machine
/// meets all of them alike, which it would not in processes of their own or after a new start of
/// StarPU; and a process for each potential would not do, as expressions contain the cutoff, and
/// each system has its own.
struct Contestant {
  Functions functions = Functions::built_in;
  BenchSystem bench;
  std::string potential;  ///< as StarpuRuntime::use_potential() knows it

  /// The tasks submitted from now on are this one's.
  void use() const { StarpuRuntime::use_potential(potential); }
};

/// Builds the kernels of the expressions.
/// @throws RunError where a device's compiler fails
std::vector<Contestant> make_contestants(const BenchSystem& bench,
                                         std::span<const Functions> functions,
                                         const StarpuRuntime& runtime);

/// Adds time_over_built_in and kernel_time_over_built_in to the cases of expressions, where there
/// is one of built-in functions among them.
/// @param rivals cases of one operation, implementation, precision and device
void add_ratios(std::span<BenchCase> rivals);

/// Largest difference of energies, in units of the greater of 1 kJ/mol and the energy itself:
/// candidates that overlap have energies of any size.
/// @throws RunError when it is beyond what the precision explains: wrong kernels would be timed
double energy_difference(std::span<const double> energies, std::span<const double> built_in,
                         Precision precision);

}  // namespace starpmc
