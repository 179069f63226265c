#pragma once

#include <span>
#include <string>

namespace starpmc {

/// `starpmc profile FILE.cfg`: the free energy along a path of the QM molecule. Each image is a run
/// in the exact ensemble; images that have been sampled are kept, so that the same command goes on
/// where it was stopped.
/// @return 0, or 130 or 143 where SIGINT or SIGTERM stopped it
/// @throws InputError, RunError
int run_profile(std::span<const std::string> arguments);

}  // namespace starpmc
