#include "potential/radial_coulomb.hpp"

#include <bit>
#include <cstdint>

#include "base/wide_vectors.hpp"

namespace starpmc {
namespace {

/// An estimate from the exponent, true to 3.5 %, and three of Newton's steps: 1.8e-3, 4.8e-6,
/// 4e-11.
double inverse_root(double x) {
  const double half = 0.5 * x;
  double y = std::bit_cast<double>(0x5fe6eb50c7b537a9U - (std::bit_cast<std::uint64_t>(x) >> 1U));
  for (int i = 0; i < 3; ++i) y *= 1.5 - half * y * y;
  return y;
}

STARPMC_WIDE_VECTORS void inverse_roots(std::size_t count, const double* x, double* roots) {
  for (std::size_t i = 0; i < count; ++i) roots[i] = inverse_root(x[i]);
}

/// (1 - r/rc)^2 / r inside the cutoff (eq. 2 of Miranda et al. 2016), r = r^2/r.
STARPMC_WIDE_VECTORS void built_in(std::size_t count, const double* squared_distances,
                                   const double* inverses, const ExactBox& box, double* energies) {
  for (std::size_t i = 0; i < count; ++i) {
    const double remaining = 1 - squared_distances[i] * inverses[i] * box.inverse_cutoff;
    const double energy = STARPMC_COULOMB_CONSTANT * inverses[i] * (remaining * remaining);
    energies[i] = squared_distances[i] < box.cutoff_squared ? energy : 0;
  }
}

void run(simd::BlockEvaluator<double>& evaluator, std::span<const double> squared_distances,
         std::span<double> results) {
  const double* const inputs[] = {squared_distances.data()};
  double* const outputs[] = {results.data()};
  evaluator(inputs, squared_distances.size(), outputs);
}

}  // namespace

RadialCoulomb::RadialCoulomb(const Interaction& interaction, const Potential* functions)
    : box_(interaction), pole_(coulomb_pole(functions)) {
  if (const auto* const potential = potential_of(functions, &Potential::in_grid)) {
    user_.emplace(potential->coulomb, simd::Rounding::exact);
  }
}

void RadialCoulomb::values(std::span<const double> squared_distances,
                           std::span<const double> inverses, std::span<double> energies) {
  if (!user_) {
    built_in(squared_distances.size(), squared_distances.data(), inverses.data(), box_,
             energies.data());
    return;
  }
  run(*user_, squared_distances, energies);
  for (std::size_t i = 0; i < energies.size(); ++i) {
    energies[i] = scalar::exact_user_coulomb(squared_distances[i], STARPMC_COULOMB_CONSTANT,
                                             energies[i], box_.cutoff_squared);
  }
}

void inverse_roots(std::span<const double> x, std::span<double> roots) {
  inverse_roots(x.size(), x.data(), roots.data());
}

}  // namespace starpmc
