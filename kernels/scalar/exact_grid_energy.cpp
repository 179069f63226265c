#include "kernels/exact_blocks.hpp"
#include "kernels/operations.hpp"
#include "kernels/scalar/moves.hpp"

namespace starpmc::scalar {

std::uint64_t exact_grid_energy(const ExactGridArguments& a) {
  const ExactBox box(a.interaction);
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
      units += exact_units(exact_coulomb(exact_distance_squared(d[0], d[1], d[2]), charge,
                                         box.cutoff_squared, box.inverse_cutoff));
    }
  });
  return units;
}

}  // namespace starpmc::scalar
