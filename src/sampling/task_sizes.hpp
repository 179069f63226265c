#pragma once

#include <cstddef>
#include <cstdint>

#include "config/settings.hpp"

namespace starpmc {

/// Steps of a window for `--sampling.window auto`.
std::uint32_t automatic_window(std::size_t molecules, bool has_solute);

/// Windows to make in one task; 0: a window's terms are tasks of their own.
/// @param pairs pair energies of one window
std::size_t windows_per_task(TaskSize size, double pairs);

/// Number of tasks to split `pairs` pair energies into: about a millisecond each on the workers at
/// hand, one where a GPU is there to take the whole.
std::size_t task_parts(double pairs);

}  // namespace starpmc
