#pragma once

#include "kernels/arguments.hpp"
#include "kernels/simd/evaluate.hpp"

namespace starpmc::simd {

/// The user's exact Coulomb function for a compact block of points.
struct UserBlock {
  explicit UserBlock(const Potential& potential) : function(potential.coulomb, Rounding::exact) {}

  void evaluate() {
    const double* const inputs[] = {squared};
    double* const outputs[] = {values};
    function(inputs, STARPMC_BLOCK_POINTS, outputs);
  }

  double squared[STARPMC_BLOCK_POINTS];
  double values[STARPMC_BLOCK_POINTS];
  BlockEvaluator<double> function;
};

}  // namespace starpmc::simd
