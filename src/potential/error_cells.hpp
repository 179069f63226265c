#pragma once

#include <vector>

#include "potential/error_bound.hpp"

namespace starpmc {

/// The least distance to the cutoff, divided.
struct ErrorCell {
  Interval distances;
  BoundedValue bound;  ///< over the cell and whatever distances lie within a displacement of it
};

struct ErrorCellOptions {
  double least;         ///< distance, A
  double cutoff;        ///< A
  double displacement;  ///< by which distances may be wrong, A
  double factor = 1;    ///< of the function, to kJ/mol; of several, the largest
  double overlap = 50;  ///< energies above this are overlaps, kJ/mol
  int halvings = 600;   ///< at most, for each of the two aims below
  /// Of the factor, of its product with the function and of the sum that it enters, to the product.
  double relative_rounding = 0x1p-51;
  /// Of the two evaluators that are compared, those with the function's roundings.
  double evaluators = 2;

  /// One in fp32; next to its roundings those of the exact one do not count (2^-29 of them).
  static ErrorCellOptions in_single(ErrorCellOptions options) {
    options.relative_rounding = 0x1p-22;
    options.evaluators = 1 + 0x1p-20;
    return options;
  }
};

/// What a cell's pairs may contribute to the error of a step's energy change.
struct PairError {
  enum class Kind : unsigned char {
    none,     ///< nothing: all evaluators find the largest energy
    small,    ///< below an overlap's energy, or perhaps
    overlap,  ///< certainly above it, or a jump among such energies
    binding   ///< certainly below its negative, no jump
  };
  Kind kind = Kind::none;
  double difference = 0;  ///< kJ/mol
  double relative = 0;    ///< to the least magnitude of the energy
  bool jumps = false;     ///< see BoundedValue
};

/// The roundings of products with the factor are included.
PairError pair_error(const BoundedValue& bound, const ErrorCellOptions& options);

/// Cells in the ratio of their distances, halved where that lowers the bounds most: for the small
/// errors the sum of their squares over space, for the others the largest relative one. A jump ends
/// up in cells no wider than the displacement. At most some 1500 cells.
std::vector<ErrorCell> error_cells(const ErrorBound& function, const ErrorCellOptions& options);

}  // namespace starpmc
