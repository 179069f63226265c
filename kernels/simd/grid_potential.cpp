#include "kernels/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/grid_potential.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/exact_blocks.hpp"
#include "kernels/operations.hpp"
#include "kernels/simd/moves-inl.hpp"
#include "kernels/simd/user_block.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void GridPotential(const GridPotentialArguments& a) {
  const ExactBox box(a.interaction);
  const real_t::D d;
  const auto image = [&](double site, real_t point, int k) HWY_ATTR {
    return exact_image(real_constant(site) - point, real_constant(box.length[k]),
                       real_constant(box.inverse[k]));
  };
  const std::vector<double> sites = lattice_charges(a);
  for_each_block_and_its_sites(
      a, sites,
      [&](const double* points, std::span<const double> near, double* potential) HWY_ATTR {
        std::uint64_t units[STARPMC_BLOCK_POINTS];
        for (std::size_t i = 0; i < STARPMC_BLOCK_POINTS; i += hn::Lanes(d)) {
          const real_t x{hn::LoadU(d, points + i)};
          const real_t y{hn::LoadU(d, points + STARPMC_BLOCK_POINTS + i)};
          const real_t z{hn::LoadU(d, points + 2 * STARPMC_BLOCK_POINTS + i)};
          word_t sum = word_constant(0);
          for (std::size_t s = 0; s < near.size(); s += 4) {
            const real_t r2 = exact_distance_squared(image(near[s], x, 0), image(near[s + 1], y, 1),
                                                     image(near[s + 2], z, 2));
            sum = sum + exact_units(exact_coulomb(
                            r2, real_constant(STARPMC_COULOMB_CONSTANT * near[s + 3]),
                            real_constant(box.cutoff_squared), real_constant(box.inverse_cutoff)));
          }
          hn::StoreU(sum.v, word_t::D(), units + i);
        }
        for (std::size_t i = 0; i < STARPMC_BLOCK_POINTS; ++i) {
          potential[i] = energy_of_units(units[i]);
        }
      });
}

void UserGridPotential(const GridPotentialArguments& a, const Potential& functions) {
  const ExactBox box(a.interaction);
  const real_t::D d;
  UserBlock block(functions);
  const auto image = [&](double site, const double* point, int k) HWY_ATTR {
    return exact_image(real_constant(site) - real_t{hn::LoadU(d, point)},
                       real_constant(box.length[k]), real_constant(box.inverse[k]));
  };
  const std::vector<double> sites = lattice_charges(a);
  for_each_block_and_its_sites(
      a, sites,
      [&](const double* points, std::span<const double> near, double* potential) HWY_ATTR {
        std::uint64_t units[STARPMC_BLOCK_POINTS] = {};
        for (std::size_t s = 0; s < near.size(); s += 4) {
          for (std::size_t i = 0; i < STARPMC_BLOCK_POINTS; i += hn::Lanes(d)) {
            const real_t r2 = exact_distance_squared(
                image(near[s], points + i, 0),
                image(near[s + 1], points + STARPMC_BLOCK_POINTS + i, 1),
                image(near[s + 2], points + 2 * STARPMC_BLOCK_POINTS + i, 2));
            hn::StoreU(r2.v, d, block.squared + i);
          }
          block.evaluate();
          const real_t charge = real_constant(STARPMC_COULOMB_CONSTANT * near[s + 3]);
          for (std::size_t i = 0; i < STARPMC_BLOCK_POINTS; i += hn::Lanes(d)) {
            const word_t more = exact_units(exact_user_coulomb(
                real_t{hn::LoadU(d, block.squared + i)}, charge,
                real_t{hn::LoadU(d, block.values + i)}, real_constant(box.cutoff_squared)));
            const word_t sum{hn::LoadU(word_t::D(), units + i)};
            hn::StoreU((sum + more).v, word_t::D(), units + i);
          }
        }
        for (std::size_t i = 0; i < STARPMC_BLOCK_POINTS; ++i) {
          potential[i] = energy_of_units(units[i]);
        }
      });
}

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace starpmc::simd {
HWY_EXPORT(GridPotential);

HWY_EXPORT(UserGridPotential);

void grid_potential(const GridPotentialArguments& a) {
  if (const auto* const functions = potential_of(a.functions, &Potential::in_grid)) {
    HWY_DYNAMIC_DISPATCH(UserGridPotential)(a, *functions);
  } else {
    HWY_DYNAMIC_DISPATCH(GridPotential)(a);
  }
}
}  // namespace starpmc::simd
#endif
