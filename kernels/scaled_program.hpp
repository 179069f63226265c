#pragma once

#include "kernels/program.hpp"

namespace starpmc {

/// A function of r^2 for lengths in another unit, such that few of its operations scale anything:
/// most scales go into constants, or from 1/sqrt(r^2) through products into the result.
///
/// No value but r^2 and r are larger than in angstrom, and none is smaller than by unit^2.
/// @param program r^2 (A^2) -> V (1/A); one input, one output
/// @return (r/u)^2, u (A) -> u V, for every unit u < 1 A
Program in_length_unit(const Program& program);

}  // namespace starpmc
