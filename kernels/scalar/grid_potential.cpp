#include "kernels/exact_blocks.hpp"
#include "kernels/operations.hpp"
#include "kernels/scalar/user_terms.hpp"

namespace starpmc::scalar {

namespace {

template <class Coulomb>
void sum_potential(const GridPotentialArguments& a, const ExactBox& box, const Coulomb& coulomb) {
  const auto add = [&](const double* points, std::size_t i, const double* site) {
    double d[3];
    for (std::size_t k = 0; k < 3; ++k) {
      d[k] = exact_image(site[k] - points[k * STARPMC_BLOCK_POINTS + i], box.length[k],
                         box.inverse[k]);
    }
    return exact_units(
        coulomb(exact_distance_squared(d[0], d[1], d[2]), STARPMC_COULOMB_CONSTANT * site[3]));
  };
  const std::vector<double> sites = lattice_charges(a);
  for_each_block_and_its_sites(
      a, sites, [&](const double* points, std::span<const double> near, double* potential) {
        for (std::size_t i = 0; i < STARPMC_BLOCK_POINTS; ++i) {
          std::uint64_t units = 0;
          for (std::size_t s = 0; s < near.size(); s += 4) units += add(points, i, &near[s]);
          potential[i] = energy_of_units(units);
        }
      });
}

}  // namespace

void grid_potential(const GridPotentialArguments& a) {
  const ExactBox box(a.interaction);
  if (const auto* const potential = potential_of(a.functions, &Potential::in_grid)) {
    sum_potential(a, box, UserCoulomb(*potential, box));
  } else {
    sum_potential(a, box, [&](double r2, double charge) {
      return exact_coulomb(r2, charge, box.cutoff_squared, box.inverse_cutoff);
    });
  }
}

}  // namespace starpmc::scalar
