#pragma once

#include <optional>
#include <span>

#include "kernels/pair_derivatives.hpp"

namespace starpmc {

/// The largest of many distances at which a function is finite and its derivative is no number: the
/// virial's term of such a pair would be nonsense. None: there is no such distance among them.
/// @param cutoff A
std::optional<double> undefined_slope(const PairDerivatives::Function& function,
                                      std::span<const double> coefficients, double cutoff);

}  // namespace starpmc
