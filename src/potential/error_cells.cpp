#include "potential/error_cells.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/common/layout.h"

namespace starpmc {
namespace {

constexpr int kFirstCells = 256;
/// A halving that lowers a bound by less shows that the bound is nearly what it can be.
constexpr double kGain = 0.9;
/// Part of a sum that is not worth a halving.
constexpr double kLittle = 1e-4;

double volume(Interval distances) {
  return distances.high * distances.high * (distances.high - distances.low);
}

/// The function in kJ/mol, with the roundings of the factor, of the product and of the sum that it
/// enters.
BoundedValue times(const BoundedValue& bound, double factor, double relative) {
  const Interval exact = Interval::point(factor);
  const Interval product = exact * bound.value;
  const auto margin = [&](double end) { return std::isfinite(end) ? std::abs(end) * relative : 0; };
  const double size = std::abs(factor);
  return {{product.low - margin(product.low), product.high + margin(product.high)},
          exact * bound.slope,
          size * bound.rounding + product.magnitude() * relative,
          size * bound.jump,
          bound.defined};
}

/// A cell and what halving it may bring.
struct Candidate {
  ErrorCell cell;
  double priority = 0;
  bool jumps = false;
  bool nearly_exact = false;
};

class Division {
 public:
  Division(const ErrorBound& function, const ErrorCellOptions& options)
      : function_(function), options_(options) {
    const double ratio = std::pow(options.cutoff / options.least, 1.0 / kFirstCells);
    double low = options.least;
    for (int i = 1; i <= kFirstCells; ++i) {
      const double high = i == kFirstCells ? options.cutoff : low * ratio;
      cells_.push_back(cell({low, high}));
      low = high;
    }
  }

  enum class Goal : unsigned char { least_sum, least_maximum };

  /// @param priority of a cell, from its PairError: its part of what is to become least
  template <class Priority>
  void refine(Goal goal, const Priority& priority) {
    std::vector<Candidate> open;
    for (const ErrorCell& cell : cells_) open.push_back(candidate(cell, priority));
    cells_.clear();
    std::ranges::make_heap(open, {}, &Candidate::priority);
    double total = sum_of(open);
    for (int halvings = 0; halvings < options_.halvings && !open.empty();) {
      std::ranges::pop_heap(open, {}, &Candidate::priority);
      const Candidate top = open.back();
      open.pop_back();
      const auto [low, high] = top.cell.distances;
      const double middle = low + 0.5 * (high - low);
      const bool narrow = high - low <= options_.displacement || !(low < middle && middle < high);
      const bool little = goal == Goal::least_sum && top.priority <= kLittle * total;
      const bool done = top.priority == 0 || little || narrow || top.nearly_exact;
      if (done) {
        cells_.push_back(top.cell);
        if (top.priority == 0 || little) break;
        if (narrow) total = sum_of(open);  // however large: it cannot be divided any further
        if (top.nearly_exact && goal == Goal::least_maximum) break;
        continue;
      }
      ++halvings;
      Candidate halves[] = {candidate(cell({low, middle}), priority),
                            candidate(cell({middle, high}), priority)};
      const double sum = halves[0].priority + halves[1].priority;
      const double rest =
          goal == Goal::least_sum ? sum : std::max(halves[0].priority, halves[1].priority);
      for (Candidate& half : halves) {
        half.nearly_exact = !half.jumps && rest > kGain * top.priority;
        open.push_back(half);
        std::ranges::push_heap(open, {}, &Candidate::priority);
      }
      total += sum - top.priority;
    }
    for (const Candidate& each : open) cells_.push_back(each.cell);
  }

  std::vector<ErrorCell> take() {
    std::ranges::sort(cells_, {}, [](const ErrorCell& cell) { return cell.distances.low; });
    return std::move(cells_);
  }

 private:
  ErrorCell cell(Interval distances) const {
    // nothing is evaluated nearer than the least distance or beyond the cutoff
    const double margin = options_.displacement;
    const Interval reached{std::max(distances.low - margin, options_.least),
                           std::min(distances.high + margin, options_.cutoff)};
    return {distances, function_.over(reached)};
  }

  static double sum_of(const std::vector<Candidate>& open) {
    double sum = 0;
    for (const Candidate& each : open) sum += each.priority;
    return sum;
  }

  template <class Priority>
  Candidate candidate(const ErrorCell& cell, const Priority& priority) const {
    const PairError error = pair_error(cell.bound, options_);
    return {cell, priority(cell, error), error.jumps};
  }

  const ErrorBound& function_;
  const ErrorCellOptions& options_;
  std::vector<ErrorCell> cells_;
};

}  // namespace

PairError pair_error(const BoundedValue& bound, const ErrorCellOptions& options) {
  const BoundedValue scaled = times(bound, options.factor, options.relative_rounding);
  const double displacement = options.displacement;
  const Interval value = scaled.value;
  const bool defined = scaled.defined == Defined::always;
  // A result that is not a number counts as the largest energy.
  if (scaled.defined == Defined::never || value.low > STARPMC_LARGEST_PAIR_ENERGY ||
      (defined && value.high < -STARPMC_LARGEST_PAIR_ENERGY)) {
    return {};
  }
  PairError error{PairError::Kind::small, scaled.difference(displacement, options.evaluators), 0,
                  scaled.jumps(displacement)};
  if (value.low >= options.overlap) {
    error.kind = PairError::Kind::overlap;
  } else if (value.high <= -options.overlap && !error.jumps) {
    error.kind = PairError::Kind::binding;
  }
  if (error.kind != PairError::Kind::small) error.relative = error.difference / value.mignitude();
  return error;
}

std::vector<ErrorCell> error_cells(const ErrorBound& function, const ErrorCellOptions& options) {
  Division division(function, options);
  // Unbounded errors come first, the widest cell before the others.
  const auto limited = [](double error) {
    return std::min(error, 4 * STARPMC_LARGEST_PAIR_ENERGY);
  };
  division.refine(Division::Goal::least_sum, [&](const ErrorCell& cell, const PairError& error) {
    if (error.kind != PairError::Kind::small) return 0.0;
    return volume(cell.distances) * limited(error.difference) * limited(error.difference);
  });
  division.refine(Division::Goal::least_maximum, [&](const ErrorCell&, const PairError& error) {
    return limited(error.relative);
  });
  return division.take();
}

}  // namespace starpmc
