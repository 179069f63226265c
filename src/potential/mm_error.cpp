#include "potential/mm_error.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "kernels/common/layout.h"
#include "kernels/molecule_pairs.hpp"
#include "potential/error_cells.hpp"
#include "potential/interval.hpp"

namespace starpmc {
namespace {

/// Of an overlap's energy.
constexpr double kLargestRelativeError = 256 * kSingle;
/// Of the range of distances, in the ratio of their ends: narrow enough for bounds that are sharp
/// to some per cent.
constexpr int kCells = 128;

/// Adds up the squares of errors.
class SquaredErrors {
 public:
  explicit SquaredErrors(const MmSpace& space) : least_(space.least()) {
    options_ = ErrorCellOptions::in_single(options_);
    options_.displacement = space.displacement();
  }

  /// @param pairs per volume
  void add(const Program& program, std::span<const double> coefficients, double cutoff,
           double pairs) {
    if (!(least_ < cutoff)) return;
    const ErrorBound function(program, coefficients, kSingle);
    const double ratio = std::pow(cutoff / least_, 1.0 / kCells);
    Interval cell{least_, least_};
    for (int i = 0; i < kCells; ++i) {
      cell = {cell.high, i + 1 == kCells ? cutoff : cell.high * ratio};
      const double shell =
          4 * std::numbers::pi * cell.high * cell.high * (cell.high - cell.low) * pairs;
      add(function.over(cell), shell);
    }
  }
  double sum() const { return sum_; }

 private:
  void add(const BoundedValue& bound, double pairs) {
    const PairError error = pair_error(bound, options_);
    if (error.kind == PairError::Kind::none) return;
    const bool is_small = error.kind == PairError::Kind::small;
    const bool digits_are_lost =
        !is_small && !(bound.rounding <= kLargestRelativeError * bound.value.mignitude());
    if (bound.defined != Defined::always || error.jumps || digits_are_lost) sum_ = kInfinity;
    if (is_small) sum_ += pairs * error.difference * error.difference;
  }

  double least_;
  ErrorCellOptions options_{};
  double sum_ = 0;
};

}  // namespace

double MmSpace::least() const {
  return std::max(STARPMC_NEAR_DISTANCE - 2 * radius - 1e-3,
                  std::sqrt(STARPMC_MINIMUM_DISTANCE_SQUARED));
}

double MmSpace::displacement() const { return kSingle * (1 + 2 * radius); }

double mm_error_in_single(const Potential& potential, std::span<const MmPair> pairs, int function,
                          const MmSpace& space) {
  SquaredErrors errors(space);
  const std::vector<PairTerm> terms = pair_terms(potential, PairsWith::molecules);
  for (const MmPair& pair : pairs) {
    const double density = pair.count / space.volume;
    std::vector<double> charges;
    if (terms[0].coefficients() == 2) charges.push_back(1 / space.coulomb_cutoff);
    charges.push_back(pair.charges);
    if (pair.charges != 0) errors.add(terms[0].program, charges, space.coulomb_cutoff, density);
    const auto add = [&](const PairTerm& term, const double* coefficients) {
      errors.add(term.program, {coefficients, term.coefficients()}, space.vdw_cutoff, density);
    };
    if (pair.coefficients[0] != 0 || pair.coefficients[1] != 0) add(terms[1], pair.coefficients);
    if (terms.size() > 2 && pair.coefficients[function] != 0) {
      add(terms[2], pair.coefficients + function + 1);
    }
  }
  // a molecule meets its neighbours at the old place and at the new one
  return space.molecules == 0 ? 0 : 6 * std::sqrt(2 * errors.sum() / space.molecules);
}

}  // namespace starpmc
