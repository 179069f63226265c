#include "kernels/exact_blocks.hpp"
#include "kernels/operations.hpp"
#include "kernels/scalar/user_terms.hpp"

namespace starpmc::scalar {

namespace {

/// @param coulomb energy at a squared distance of a charge, a product times the Coulomb constant
template <class Coulomb>
std::uint64_t sum_units(const ExactGridArguments& a, const ExactBox& box, const Coulomb& coulomb) {
  const double pole = coulomb_pole(a.potential);
  std::uint64_t units = 0;
  for_each_block_in_reach(a, [&](std::span<const double> site, const double* points) {
    const double factor = STARPMC_COULOMB_CONSTANT * site[3];
    for (std::size_t i = 0; i < STARPMC_BLOCK_POINTS; ++i) {
      double d[3];
      for (std::size_t k = 0; k < 3; ++k) {
        d[k] = exact_image(site[k] - points[k * STARPMC_BLOCK_POINTS + i], box.length[k],
                           box.inverse[k]);
      }
      const double charge = factor * points[3 * STARPMC_BLOCK_POINTS + i];
      const double r2 = exact_distance_squared(d[0], d[1], d[2]);
      units += exact_units(coulomb(r2, charge));
      const double inverse_square = points[4 * STARPMC_BLOCK_POINTS + i];
      if (!(r2 * inverse_square < 1)) continue;
      units += exact_units(charge * pole * exact_extent(r2, inverse_square));
    }
  });
  return units;
}

}  // namespace

std::uint64_t exact_grid_energy(const ExactGridArguments& a) {
  const ExactBox box(a.interaction);
  if (const auto* const potential = potential_of(a.potential, &Potential::in_grid)) {
    const UserCoulomb coulomb(*potential, box);
    return sum_units(a, box, coulomb);
  }
  return sum_units(a, box, [&](double r2, double charge) {
    return exact_coulomb(r2, charge, box.cutoff_squared, box.inverse_cutoff);
  });
}

}  // namespace starpmc::scalar
