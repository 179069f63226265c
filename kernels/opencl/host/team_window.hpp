#pragma once

#include "kernels/opencl/host/operations.hpp"

/// One device's part in the windows of a chain that several devices share: each has the chain's
/// whole state, evaluates the density's energies with its own blocks, and decides every step by the
/// sums of what all of them found.
namespace starpmc::opencl {

/// What a member works on.
struct TeamWindow {
  Window window;
  Certification certification;  ///< its density is the whole one
  /// decide.grid_energies: sums over all members; blocks: its own.
  WholeWindow whole;
  int first_block = 0;  ///< of its own in certification's
  Buffer scratch;       ///< team_scratch_bytes: from the first decisions to the settlement
};

/// @param layout of the windows
std::size_t team_scratch_bytes(const Program& program, const WindowLayout& layout);

/// Proposes a window and evaluates it, with its own part of the density.
/// @param own_energies layout.candidates: grid energies with that part
void team_evaluate(Program& program, cl_command_queue queue, const TeamWindow& member,
                   const StepRange& range, Buffer own_energies);

/// Decides a window that all have evaluated, without telling others of doubts.
/// @param own_energies of all members
void team_decide(Program& program, cl_command_queue queue, const TeamWindow& member,
                 const StepTuning& tuning, std::span<const Buffer> own_energies);

/// The same up to steps in doubt, which it evaluates exactly with its own part of the density.
/// @param own_shares grid_shares (kernels/common/layout.h)
void team_find_doubts(Program& program, cl_command_queue queue, const TeamWindow& member,
                      const StepTuning& tuning, std::span<const Buffer> own_energies,
                      Buffer own_shares);

/// Then decides for good.
/// @param own_shares of all members
void team_settle(Program& program, cl_command_queue queue, const TeamWindow& member,
                 const StepTuning& tuning, std::span<const Buffer> own_shares);

}  // namespace starpmc::opencl
