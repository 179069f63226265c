#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/common/layout.h"
#include "potential/pair_function.hpp"

namespace starpmc {
namespace {

using expression::Node;

/// Relative to the energies at and next to a distance.
constexpr double kLargestDifference = 1e-9;
constexpr int kSamples = 4096;
/// Of the cutoff: where functions are compared one of which is 0 at all distances.
constexpr double kSomePart = 0.6;

bool differ(double one, double other, double scale) {
  if (std::isnan(one) || std::isnan(other)) return std::isnan(one) != std::isnan(other);
  if (std::isinf(one) || std::isinf(other)) return one != other;
  return std::abs(one - other) > kLargestDifference * scale;
}

double larger_of(double one, double other) {
  const double larger = std::max(std::abs(one), std::abs(other));
  return std::isfinite(larger) ? larger : 0;
}

}  // namespace

/// Parameters of site 1 end in 1, those of site 2 in 2.
bool PairFunction::is_symmetric(Node node) {
  const Node swapped = substitute(pool_, node, [&](std::string_view name) {
    const bool of_site = name.ends_with('1') || name.ends_with('2');
    if (!of_site) return std::optional<Node>();
    std::string other(name);
    other.back() = name.ends_with('1') ? '2' : '1';
    return std::optional(pool_.variable(other));
  });
  return swapped == node;
}

std::optional<double> PairFunction::asymmetric_distance(const BothWays& both) {
  const bool zero = is_zero(both.parameters);
  const bool other_zero = is_zero(both.swapped);
  if (zero && other_zero) return std::nullopt;
  if (zero != other_zero) return kSomePart * cutoff_.distance;
  const std::vector<double> ones = coefficients(both.parameters, both.sites);
  const std::vector<double> others = coefficients(both.swapped, both.swapped_sites);
  const double least = std::sqrt(STARPMC_MINIMUM_DISTANCE_SQUARED);
  struct Sample {
    double distance;
    double one;
    double other;
  };
  std::vector<Sample> samples;
  for (int i = kSamples; i >= 0; --i) {  // where energies are small first
    const double r = least * std::pow(cutoff_.distance / least, static_cast<double>(i) / kSamples);
    samples.push_back({r, value(r, ones), value(r, others)});
  }
  for (std::size_t i = 0; i < samples.size(); ++i) {
    double scale = 0;  // energies pass through 0, where only their neighbours tell what is little
    for (std::size_t k = i == 0 ? 0 : i - 1; k < std::min(i + 2, samples.size()); ++k) {
      scale = std::max(scale, larger_of(samples[k].one, samples[k].other));
    }
    if (differ(samples[i].one, samples[i].other, scale)) return samples[i].distance;
  }
  return std::nullopt;
}

void PairFunction::check_symmetry(const BothWays& both) {
  if (!symmetric_) symmetric_ = is_symmetric(untreated_) || is_symmetric(function_);
  if (*symmetric_) return;
  const std::optional<double> r = asymmetric_distance(both);
  if (!r) return;
  const std::string& place = place_where([&](Node part) {
    const double one = value_of(part, both.parameters, *r);
    const double other = value_of(part, both.swapped, *r);
    return differ(one, other, larger_of(one, other));
  });
  throw InputError(
      place,
      fmt::format("the energy at a distance of {:.4g} A changes when the two sites are swapped",
                  *r),
      both.sites.substr(1),
      "use the parameters of sites 1 and 2 alike, as in sqrt(epsilon1*epsilon2)");
}

}  // namespace starpmc
