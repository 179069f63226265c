#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "config/settings.hpp"

/// How much one task does. All of it is a matter of speed: energies and decisions do not depend on
/// it.
namespace starpmc {

/// An operation, in the amount of work that its codelet's performance model is keyed by, and in
/// pair energies.
struct Workload {
  std::string codelet;  ///< name of the performance model
  double work;
  double pairs;
};

/// Steps of a window for `--sampling.window auto`.
std::uint32_t automatic_window(std::size_t molecules, bool has_solute);

/// Windows to make in one task of sample_windows; 0: a window's terms are tasks of their own.
std::size_t windows_per_task(TaskSize size, const Workload& window);

/// Number of tasks to split an operation into: about a millisecond each on the fastest worker, and
/// no more than the workers of about its speed can share. The performance model knows how fast they
/// are; where it has not seen the operation on all of them, a guess has to do.
std::size_t task_parts(const Workload& whole);

}  // namespace starpmc
