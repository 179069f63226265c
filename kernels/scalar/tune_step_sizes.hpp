#pragma once

#include <span>

#include "kernels/common/layout.h"

namespace starpmc {
#define TUNING_STATE double*
#include "kernels/common/tuning.h"
#undef TUNING_STATE

inline void tune_step_sizes(const StepTuning& tuning, std::span<double> chain_state) {
  tune_step_sizes_of(tuning, chain_state.data());
}
}  // namespace starpmc
