#include "kernels/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/exact_grid_energy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/exact_blocks.hpp"
#include "kernels/operations.hpp"
#include "kernels/simd/moves-inl.hpp"
#include "kernels/simd/user_block.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Squared distances of a site from a block's points.
/// @param take (i, r2) for every vector
template <class Take>
HWY_INLINE void measure(const ExactBox& box, std::span<const double> site, const double* points,
                        Take&& take) {
  const real_t::D d;
  const real_t x = real_constant(site[0]);
  const real_t y = real_constant(site[1]);
  const real_t z = real_constant(site[2]);
  const auto image = [&](real_t position, const double* from, int k) HWY_ATTR {
    return exact_image(position - real_t{hn::LoadU(d, from)}, real_constant(box.length[k]),
                       real_constant(box.inverse[k]));
  };
  for (std::size_t i = 0; i < STARPMC_BLOCK_POINTS; i += hn::Lanes(d)) {
    take(i, exact_distance_squared(image(x, points + i, 0),
                                   image(y, points + STARPMC_BLOCK_POINTS + i, 1),
                                   image(z, points + 2 * STARPMC_BLOCK_POINTS + i, 2)));
  }
}

/// Units of what the points' extents add.
HWY_INLINE word_t extent_units(real_t r2, real_t charge, real_t pole, const double* points,
                               std::size_t i) {
  const real_t::D d;
  const real_t inverse_square{hn::LoadU(d, points + 4 * STARPMC_BLOCK_POINTS + i)};
  if (hn::AllFalse(d, hn::Lt((r2 * inverse_square).v, hn::Set(d, 1.0)))) return word_constant(0);
  return exact_units(charge * pole * exact_extent(r2, inverse_square));
}

std::uint64_t ExactGridEnergy(const ExactGridArguments& a) {
  const ExactBox box(a.interaction);
  const real_t::D d;
  word_t sum = word_constant(0);
  const real_t pole = real_constant(1);
  for_each_block_in_reach(a, [&](std::span<const double> site, const double* points) HWY_ATTR {
    const real_t factor = real_constant(STARPMC_COULOMB_CONSTANT * site[3]);
    measure(box, site, points, [&](std::size_t i, real_t r2) HWY_ATTR {
      const real_t charge = factor * real_t{hn::LoadU(d, points + 3 * STARPMC_BLOCK_POINTS + i)};
      sum = sum +
            exact_units(exact_coulomb(r2, charge, real_constant(box.cutoff_squared),
                                      real_constant(box.inverse_cutoff))) +
            extent_units(r2, charge, pole, points, i);
    });
  });
  return hn::GetLane(hn::SumOfLanes(word_t::D(), sum.v));
}

std::uint64_t UserExactGridEnergy(const ExactGridArguments& a, const Potential& potential) {
  const ExactBox box(a.interaction);
  const real_t::D d;
  UserBlock block(potential);
  const real_t pole = real_constant(potential.coulomb_pole);
  word_t sum = word_constant(0);
  for_each_block_in_reach(a, [&](std::span<const double> site, const double* points) HWY_ATTR {
    const real_t factor = real_constant(STARPMC_COULOMB_CONSTANT * site[3]);
    measure(box, site, points,
            [&](std::size_t i, real_t r2) HWY_ATTR { hn::StoreU(r2.v, d, block.squared + i); });
    block.evaluate();
    for (std::size_t i = 0; i < STARPMC_BLOCK_POINTS; i += hn::Lanes(d)) {
      const real_t charge = factor * real_t{hn::LoadU(d, points + 3 * STARPMC_BLOCK_POINTS + i)};
      const real_t r2{hn::LoadU(d, block.squared + i)};
      sum = sum +
            exact_units(exact_user_coulomb(r2, charge, real_t{hn::LoadU(d, block.values + i)},
                                           real_constant(box.cutoff_squared))) +
            extent_units(r2, charge, pole, points, i);
    }
  });
  return hn::GetLane(hn::SumOfLanes(word_t::D(), sum.v));
}

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace starpmc::simd {
HWY_EXPORT(ExactGridEnergy);
HWY_EXPORT(UserExactGridEnergy);

std::uint64_t exact_grid_energy(const ExactGridArguments& a) {
  if (const auto* const potential = potential_of(a.potential, &Potential::in_grid)) {
    return HWY_DYNAMIC_DISPATCH(UserExactGridEnergy)(a, *potential);
  }
  return HWY_DYNAMIC_DISPATCH(ExactGridEnergy)(a);
}
}  // namespace starpmc::simd
#endif
