#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

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

/// Steps of a window for `--sampling.window auto`. Where there is a GPU, many: it has a long
/// latency. Else the pair table and the decisions, which grow with the square, weigh more: the
/// shortest window that costs hardly more a step than the best one, by the performance models.
/// While these have not seen windows of all lengths, long ones for a solute, whose field energies
/// hide the rest.
/// @param operations what a window of so many steps has to do
std::uint32_t automatic_window(
    std::size_t molecules, bool has_solute,
    const std::function<std::vector<Workload>(std::uint32_t)>& operations);

/// How often a window may visit a molecule where some are moved in turn. A third visit takes four
/// candidates: a GPU takes hardly longer for them, a core does.
std::uint32_t visits_in_turn();

/// Windows to make in one task of sample_windows; 0: a window's terms are tasks of their own.
/// @param chains that share the workers; 0: one for each worker
std::size_t windows_per_task(TaskSize size, const Workload& window, unsigned chains);

/// The worker whose device makes a window's terms alone as fast as all workers together, by the
/// performance models; codelets::kAnyWorker: none, or one of the workers has yet to be measured.
/// @param operations what a window has to do
int device_alone(const std::vector<Workload>& operations);

/// Number of tasks to split an operation into: about a millisecond each on the fastest worker, and
/// no more than a chain's share of the workers of about its speed can take. The performance model
/// knows how fast they are; where it has not seen the operation on all of them, a guess has to do.
/// @param chains that share the workers; 0: one for each worker
std::size_t task_parts(const Workload& whole, unsigned chains);

}  // namespace starpmc
