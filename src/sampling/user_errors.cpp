#include "sampling/user_errors.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "kernels/scalar/user_terms.hpp"

namespace starpmc {
namespace {

constexpr int kSamples = 400;
constexpr double kOverlap = 50;  ///< kJ/mol
constexpr double kDeviations = 6;

/// Values of a function by the plain and the exact evaluator.
class SampledFunction {
 public:
  SampledFunction(const Program& program, const double* coefficients)
      : program_(program), coefficients_(coefficients) {}

  double plain(double r) const { return value<scalar::Arithmetic::plain>(r); }
  double exact(double r) const { return value<scalar::Arithmetic::exact>(r); }
  double slope(double r) const {
    const double step = 1e-5 * r;
    return (plain(r + step) - plain(r - step)) / (2 * step);
  }

 private:
  template <scalar::Arithmetic kArithmetic>
  double value(double r) const {
    const std::span coefficients(coefficients_, program_.inputs.size() - 1);
    return scalar::user_function<kArithmetic>(program_, r * r, coefficients, inputs_, values_);
  }

  const Program& program_;
  const double* coefficients_;
  mutable std::vector<double> inputs_;
  mutable std::vector<double> values_;
};

/// Sums up the errors of pairs of sites.
class ErrorSum {
 public:
  ErrorSum(Precision precision, const TopologyBuffers& topology)
      : may_jump_(precision != Precision::fp64) {
    const double* const box = topology.interaction.box;
    displacement_ = may_jump_ ? std::ldexp(1 + 2 * topology.shape.largest_radius, -24)
                              : std::ldexp(*std::max_element(box, box + 3), -50);
  }

  /// @param factor  of the function
  /// @param density of the second site, per A^3
  void add(const SampledFunction& function, double factor, double cutoff, double density) {
    const double least = std::sqrt(STARPMC_MINIMUM_DISTANCE_SQUARED);
    const double ratio = std::pow(cutoff / least, 1.0 / kSamples);
    double r = least;
    for (int i = 0; i < kSamples; ++i, r *= ratio) {
      const double value = factor * function.plain(r);
      const double error = std::abs(factor * function.slope(r)) * displacement_ +
                           16 * std::abs(value - factor * function.exact(r)) +
                           std::ldexp(std::abs(value), -49);
      if (!std::isfinite(error) || std::abs(value) > STARPMC_LARGEST_PAIR_ENERGY) continue;
      if (std::abs(value) > kOverlap) {
        relative_ = std::max(relative_, error / std::abs(value));
      } else {
        squares_ += 4 * std::numbers::pi * density * r * r * error * error * r * (ratio - 1);
      }
    }
    if (may_jump_) jump_ = std::max(jump_, std::abs(factor * function.plain(cutoff)));
  }

  double absolute() const { return kDeviations * std::sqrt(2 * squares_) + jump_; }
  double relative() const { return relative_; }

 private:
  bool may_jump_;
  double displacement_ = 0;
  double squares_ = 0;
  double relative_ = 0;
  double jump_ = 0;
};

/// Calls pair(type a, charge a, type b, charge b, density of b) for pairs of sites of MM molecules.
template <class Pair>
void for_each_pair(const TopologyBuffers& topology, Pair pair) {
  const Topology view = topology.view();
  const double* const box = topology.interaction.box;
  std::vector<double> densities(static_cast<std::size_t>(topology.shape.molecule_types));
  for (int m = 0; m < topology.shape.molecules; ++m) {
    densities[static_cast<std::size_t>(view.type_of(m))] += 1 / (box[0] * box[1] * box[2]);
  }
  for (int a = 0; a < topology.shape.molecule_types; ++a) {
    for (int b = 0; b < topology.shape.molecule_types; ++b) {
      for (int i = 0; i < view.site_count(a); ++i) {
        for (int j = 0; j < view.site_count(b); ++j) {
          pair(view.site_type(a, i), view.site(a, i)[3], view.site_type(b, j), view.site(b, j)[3],
               densities[static_cast<std::size_t>(b)]);
        }
      }
    }
  }
}

void add_coulomb(const TopologyBuffers& topology, ErrorSum& sum, UserErrors& errors) {
  const SampledFunction function(topology.functions->coulomb, nullptr);
  const double cutoff = topology.interaction.coulomb_cutoff;
  for_each_pair(topology, [&](int, double charge, int, double other, double density) {
    if (charge * other == 0) return;
    sum.add(function, STARPMC_COULOMB_CONSTANT * charge * other, cutoff, density);
  });
  constexpr double kNearest = 0.5;
  for (int i = 0; i <= kSamples; ++i) {
    const double r = kNearest + (cutoff - kNearest) * i / kSamples;
    errors.coulomb_scale = std::max({errors.coulomb_scale, std::abs(function.plain(r)) * r,
                                     std::abs(function.slope(r)) * r * r});
  }
  errors.coulomb_jump = std::abs(function.plain(cutoff));
}

}  // namespace

UserErrors user_errors(Precision precision, const TopologyBuffers& topology) {
  UserErrors errors;
  if (topology.functions == nullptr) return errors;
  ErrorSum sum(precision, topology);
  if (Potential::exists(topology.functions->coulomb)) add_coulomb(topology, sum, errors);
  if (Potential::exists(topology.functions->mm)) {
    const Topology view = topology.view();
    for_each_pair(topology, [&](int a, double, int b, double, double density) {
      const double* const function = view.pair(a, b) + topology.shape.pairs.mm_function;
      if (function[0] == 0) return;
      sum.add(SampledFunction(topology.functions->mm, function + 1), 1,
              topology.interaction.vdw_cutoff, density);
    });
  }
  errors.absolute = sum.absolute();
  errors.relative = sum.relative();
  return errors;
}

}  // namespace starpmc
