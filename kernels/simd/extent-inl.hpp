// What the extents of a block's points add to the energies of sites near them.
// Included once per instruction set, inside foreach_target.
#if defined(STARPMC_EXTENT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STARPMC_EXTENT_INL
#undef STARPMC_EXTENT_INL
#else
#define STARPMC_EXTENT_INL
#endif

#include <array>
#include <cstdint>
#include <type_traits>

#include "kernels/arguments.hpp"
#include "kernels/simd/moves-inl.hpp"
#include "kernels/simd/pair_sum-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {

/// Stored numbers as doubles in the lanes.
template <class Real>
struct WideLanes {
  using D = real_t::D;
  const Interaction& interaction;

  HWY_INLINE real_t value(const Real* from) const {
    const D d;
    if constexpr (std::is_same_v<Real, double>) {
      return {hn::LoadU(d, from)};
    } else if constexpr (std::is_same_v<Real, float>) {
      return {hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), from))};
    } else {
      const hn::Rebind<std::int32_t, D> bits;
      const auto stored = hn::LoadU(bits, &from->value);
      return {hn::PromoteTo(d, hn::BitCast(hn::Rebind<float, D>(), stored))};
    }
  }
  /// target - source along one axis, angstrom.
  HWY_INLINE real_t difference(Real target, const Real* source, std::size_t axis) const {
    if constexpr (std::is_same_v<Real, FixedCoordinate>) {
      const D d;
      const hn::Rebind<std::int32_t, D> integers;
      const auto units =
          hn::Sub(hn::Set(integers, target.value), hn::LoadU(integers, &source->value));
      return {hn::Mul(hn::PromoteTo(d, units), hn::Set(d, fixed_unit(interaction.box[axis])))};
    } else {
      return real_constant(static_cast<double>(target)) - value(source);
    }
  }
};

/// Sum over a block's points of charge * exact_extent(r), from the coordinates that the pair terms
/// take and in fp64: phi(r) - 1/r is a difference of two roots.
/// @param columns of the block: x, y, z, charge, 1/R^2
template <class Real>
HWY_INLINE double extent_energy(const std::array<Real, 3>& target,
                                const std::array<const Real*, 5>& columns,
                                const Interaction& interaction) {
  const real_t::D d;
  const WideLanes<Real> lanes{interaction};
  auto sum = hn::Zero(d);
  for (std::size_t i = 0; i < STARPMC_BLOCK_POINTS; i += hn::Lanes(d)) {
    real_t r[3];
    for (std::size_t k = 0; k < 3; ++k) r[k] = lanes.difference(target[k], columns[k] + i, k);
    const real_t r2 = exact_distance_squared(r[0], r[1], r[2]);
    const real_t inverse_square = lanes.value(columns[4] + i);
    if (hn::AllFalse(d, hn::Lt((r2 * inverse_square).v, hn::Set(d, 1.0)))) continue;
    const real_t extent = exact_extent(r2, inverse_square);
    sum = hn::MulAdd(lanes.value(columns[3] + i).v, extent.v, sum);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
