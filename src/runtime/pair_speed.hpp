#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config/settings.hpp"

/// How fast each kind of worker computes: what is expected of a codelet's tasks before any has run.
namespace starpmc::codelets {

/// The history (TaskHistory) of how long so many pairs of the grid term take, all in registers,
/// with what it costs to start them.
/// @param precision "mixed"
std::string pair_model(std::string_view precision);

/// Measures each kind of worker whose speed the models do not know: some milliseconds. Tasks must
/// not be under way, and OpenCL programs must have been built.
/// @param scalar whether CPU workers use the plain kernels
void measure_pair_speeds(std::span<const Precision> precisions, bool scalar);

}  // namespace starpmc::codelets
