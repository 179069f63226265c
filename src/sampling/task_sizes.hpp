#pragma once

#include <cstddef>
#include <cstdint>

#include "config/settings.hpp"

namespace starpmc {

/// Steps of a window for `--sampling.window auto`.
std::uint32_t automatic_window(std::size_t molecules, bool has_solute);

/// Number of tasks to split `pairs` pair energies into: about a millisecond each on the workers at
/// hand, one where a GPU is there to take the whole.
std::size_t task_parts(double pairs);

}  // namespace starpmc
