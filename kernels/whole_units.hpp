#pragma once

#include <cstddef>

#include "kernels/precision.hpp"

namespace starpmc {

/// Energies that are summed in an order, and in parts, that differ from run to run are first
/// rounded to whole units: as long as a sum stays below 2^53 of them, it is exact in fp64, and so
/// has the same bits however it came about.
///
/// Of the grid term, for each charged site and each group of kGroupBlocks compact blocks: exact
/// below 524,288 kJ/mol of a candidate.
inline constexpr double kGridUnit = 0x1p-34;
/// Of an energy of two molecules. Exact as long as those of one molecule with all others together
/// are below 2.1 million kJ/mol in fp64, 8.4 million below it.
template <class Real>
inline constexpr double kPairUnit = kPrecisionOf<Real> == Precision::fp64 ? 0x1p-32 : 0x1p-30;

/// A task of the grid term has whole groups of compact blocks.
inline constexpr std::size_t kGroupBlocks = 32;

/// Added to a number and taken away again, rounds it to whole units.
constexpr double rounding_shift(double unit) { return 1.5 * 0x1p52 * unit; }

inline double whole_units(double energy, double unit) {
  return (energy + rounding_shift(unit)) - rounding_shift(unit);
}

}  // namespace starpmc
