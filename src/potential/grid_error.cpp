#include "potential/grid_error.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/common/layout.h"
#include "potential/error_cells.hpp"
#include "potential/interval.hpp"

namespace starpmc {
namespace {

/// Of fp32 coordinates from a compact block's origin: points are within some A of it, sites within
/// the cutoff, the lengths of fixed-point units are as exact.
constexpr double kLengthPerCutoff = 2;
/// Far from overflow, also where a point's charge is multiplied in.
constexpr double kLargest = 1e30;
/// Error of a function nearer than kNearestGridPoint, to its value or to 1/r.
constexpr double kLargestRelative = 256 * kSingle;

Program built_in(double cutoff) {
  Program program;
  program.inputs = {"r2"};
  program.constants = {1, 1 / (cutoff * cutoff), -2 / cutoff};
  const auto add = [&](Operation operation, std::uint32_t a, std::uint32_t b = 0) {
    program.instructions.push_back({operation, {a, b, 0}});
    return program.values() - 1;
  };
  const auto inverse = add(Operation::reciprocal_square_root, 0);
  const auto growth = add(Operation::add, 1, add(Operation::multiply, 0, 2));
  program.outputs = {add(Operation::add, add(Operation::multiply, growth, inverse), 3)};
  return program;
}

}  // namespace

double grid_error_in_single(const Program& coulomb, double cutoff) {
  const double displacement = kSingle * kLengthPerCutoff * cutoff;
  const ErrorBound function(coulomb, {}, kSingle);
  const Program reference_program = built_in(cutoff);
  const ErrorBound reference(reference_program, {}, kSingle);
  const double least = std::sqrt(STARPMC_MINIMUM_DISTANCE_SQUARED);
  double largest = 0;
  for (const ErrorCell& cell : error_cells(function, {least, cutoff, displacement})) {
    const BoundedValue& bound = cell.bound;
    const double difference = bound.difference(displacement);
    const double magnitude = bound.value.magnitude();
    if (bound.defined != Defined::always || bound.jumps(displacement) || !(magnitude < kLargest) ||
        !std::isfinite(difference)) {
      return kInfinity;
    }
    if (cell.distances.high <= kNearestGridPoint) {
      // What a displacement does there it does to 1/r, too.
      const double scale = std::max(magnitude, 1 / cell.distances.high);
      if (bound.rounding > kLargestRelative * scale) return kInfinity;
    } else {
      largest =
          std::max(largest, difference / reference.over(cell.distances).difference(displacement));
    }
  }
  return largest;
}

}  // namespace starpmc
