#pragma once

#include <span>
#include <vector>

#include "kernels/common/potential_lattice.h"

namespace starpmc {

/// Rounded to half precision, half of the memory that a step has to read; what is smaller than its
/// normal numbers becomes 0.
/// @throws RunError where one is too large, or no number
std::vector<ResponseCoefficient> response_coefficients(std::span<const float> values);

std::vector<float> values_of(std::span<const ResponseCoefficient> coefficients);

}  // namespace starpmc
