#pragma once

#include <span>

#include "io/run_summary.hpp"
#include "system/system.hpp"

namespace starpmc {

/// @param before, after the MM molecules of `system` at two times, in its order
Movement movement_of(const System& system, std::span<const Molecule> before,
                     std::span<const Molecule> after);

}  // namespace starpmc
