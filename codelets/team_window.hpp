#pragma once

#include "codelets/operations.hpp"

/// One member's task in the windows of a chain that several devices share (src/sampling/README.md,
/// "One chain on several devices").
namespace starpmc::codelets {

/// What the task does, in this order.
struct TeamStages {
  bool decide = false;       ///< a window that all members have evaluated
  bool find_doubts = false;  ///< the first half of that, where members share exact energies
  bool settle = false;       ///< the second half
  bool evaluate = false;     ///< propose the next window, and evaluate it
};

/// What a member works on, all of it its own.
struct TeamMemberHandles {
  DecideHandles decide;  ///< grid_energies: the sums
  starpu_data_handle_t outside;
  starpu_data_handle_t mm_partial;
  starpu_data_handle_t block_headers;
  starpu_data_handle_t points;
  starpu_data_handle_t scratch;  ///< team_scratch_size() doubles; null: it needs none
};

/// What members tell each other: read of all where a window is decided, written by each.
struct TeamExchange {
  starpu_data_handle_t own_energies = nullptr;  ///< of the window to evaluate: its blocks' energies
  starpu_data_handle_t own_shares = nullptr;    ///< grid_shares (kernels/common/layout.h)
  std::span<const starpu_data_handle_t> energies{};  ///< of the window to decide
  std::span<const starpu_data_handle_t> shares{};
};

/// Plain data of the task.
struct TeamTask {
  int worker;
  TeamStages stages;
  StepRange range;                       ///< of the window to evaluate
  opencl::WindowExtent next;             ///< the same
  StepTuning tuning;                     ///< behind the window to decide
  CertificationArguments certification;  ///< of the whole density
  int first_block;                       ///< of its own
  int blocks;
};

/// Doubles that a worker keeps between finding and settling doubts.
template <class Real>
std::size_t team_scratch_size(int worker, const WindowLayout& layout);

/// @param arguments of the window to decide
template <class Real>
void team_window(const WindowHandles& window, const WindowArguments& arguments,
                 const TeamTask& task, const TeamMemberHandles& member,
                 const TeamExchange& exchange);

}  // namespace starpmc::codelets
