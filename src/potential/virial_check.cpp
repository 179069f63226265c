#include "potential/virial_check.hpp"

#include <cmath>
#include <vector>

#include "kernels/common/layout.h"
#include "kernels/scalar/evaluate.hpp"

namespace starpmc {

std::optional<double> undefined_slope(const PairDerivatives::Function& function,
                                      std::span<const double> coefficients, double cutoff) {
  constexpr int kSamples = 1024;
  const double least = std::sqrt(STARPMC_MINIMUM_DISTANCE_SQUARED);
  std::vector<double> inputs{0};
  inputs.insert(inputs.end(), coefficients.begin(), coefficients.end());
  for (int i = kSamples; i >= 0; --i) {
    const double r = least * std::pow(cutoff / least, static_cast<double>(i) / kSamples);
    inputs[0] = r * r;
    double values[2];  // V and V'/r
    scalar::evaluate<double>(function.program, inputs, values);
    if (std::isfinite(values[0]) && std::isnan(values[1])) return r;
  }
  return std::nullopt;
}

}  // namespace starpmc
