// The one shape of every pair sum: targets held in registers, sources streaming through lanes.
// Included once per instruction set, inside foreach_target.
#if defined(STARPMC_PAIR_SUM_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STARPMC_PAIR_SUM_INL
#undef STARPMC_PAIR_SUM_INL
#else
#define STARPMC_PAIR_SUM_INL
#endif

#include <hwy/highway.h>

#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/arguments.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
using VecOf = hn::Vec<D>;

/// Calls function(lane) for each lane that `mask` selects, in order.
template <class D, class M, class Function>
HWY_INLINE void for_each_selected(D d, M mask, Function&& function) {
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(d, mask, bytes);
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes, sizeof(bits));
  for (; bits != 0; bits &= bits - 1) function(static_cast<std::size_t>(std::countr_zero(bits)));
}

/// r and 1/r.
template <class V>
struct Distance {
  V r;
  V inverse;
};

/// r and 1/r from r^2: the instruction's estimate y (12 to 14 bits) refined with h = 1 - r2 y^2 by
/// y (1 + h/2), or where 12 bits would leave a bias above fp32's own rounding, y (1 + h/2 + 3/8
/// h^2). r is refined beside 1/r: r2 times the rounded 1/r would be biased from binade to binade,
/// which the sums over neutral molecules do not cancel.
template <class D, class V>
requires std::same_as < hn::TFromD<D>,
float > HWY_INLINE Distance<V> distance(D d, V r2) {
  const V y = hn::ApproximateReciprocalSqrt(r2);
  const V r = hn::Mul(r2, y);
  const V h = hn::NegMulAdd(r, y, hn::Set(d, 1.0f));
#if HWY_TARGET <= HWY_AVX3
  const V correction = hn::Mul(hn::Set(d, 0.5f), h);
#else
  const V correction = hn::Mul(h, hn::MulAdd(hn::Set(d, 0.375f), h, hn::Set(d, 0.5f)));
#endif
  return {hn::MulAdd(r, correction, r), hn::MulAdd(y, correction, y)};
}

template <class D, class V>
requires std::same_as < hn::TFromD<D>,
double > HWY_INLINE Distance<V> distance(D d, V r2) {
  const hn::Rebind<float, D> single;
  V y = hn::PromoteTo(d, hn::ApproximateReciprocalSqrt(hn::DemoteTo(single, r2)));
  V h = hn::NegMulAdd(hn::Mul(r2, y), y, hn::Set(d, 1.0));
  y = hn::MulAdd(y, hn::Mul(h, hn::MulAdd(hn::Set(d, 0.375), h, hn::Set(d, 0.5))), y);
  const V r = hn::Mul(r2, y);
  h = hn::NegMulAdd(r, y, hn::Set(d, 1.0));
  const V correction = hn::Mul(hn::Set(d, 0.5), h);
  return {hn::MulAdd(r, correction, r), hn::MulAdd(y, correction, y)};
}

/// Box edges in every lane.
template <class D>
struct Periodic {
  using V = VecOf<D>;
  using Real = hn::TFromD<D>;
  V length[3];
  V inverse[3];

  Periodic(D d, const Interaction& interaction) {
    for (int k = 0; k < 3; ++k) {
      length[k] = hn::Set(d, static_cast<Real>(interaction.box[k]));
      inverse[k] = hn::Set(d, static_cast<Real>(1 / interaction.box[k]));
    }
  }
  HWY_INLINE V wrap(V x, int k) const {
    return hn::NegMulAdd(length[k], hn::Round(hn::Mul(x, inverse[k])), x);
  }
};

/// Three coordinates.
template <class V>
struct Point {
  V x;
  V y;
  V z;
};

/// How careful a pair sum must be.
enum class Care {
  inside,  ///< every pair lies inside the cutoff and away from r = 0
  cut,     ///< pairs may lie beyond the cutoff
  full     ///< and need the minimum image and the minimum distance
};

/// For each target in registers: squared distance to the sources in the lanes, handed to
/// `pair(target, r2)`.
template <std::size_t kTargets, Care kCare, class D, class V, class Pair>
HWY_INLINE void pair_step(D d, const Point<V> (&targets)[kTargets], const Point<V>& source,
                          const Periodic<D>& periodic, Pair&& pair) {
#pragma GCC unroll 4
  for (std::size_t k = 0; k < kTargets; ++k) {
    V dx = hn::Sub(targets[k].x, source.x);
    V dy = hn::Sub(targets[k].y, source.y);
    V dz = hn::Sub(targets[k].z, source.z);
    if constexpr (kCare == Care::full) {
      dx = periodic.wrap(dx, 0);
      dy = periodic.wrap(dy, 1);
      dz = periodic.wrap(dz, 2);
    }
    V r2 = hn::MulAdd(dx, dx, hn::MulAdd(dy, dy, hn::Mul(dz, dz)));
    if constexpr (kCare == Care::full) {
      r2 = hn::Max(r2, hn::Set(d, static_cast<hn::TFromD<D>>(STARPMC_MINIMUM_DISTANCE_SQUARED)));
    }
    pair(k, r2);
  }
}

/// Shifted-force Coulomb energy of unit charges (see scalar/pair_functions.hpp), 0 beyond the
/// cutoff, as (1 - r/rc)^2 / r: its rounding error shrinks with the energy, which matters where few
/// pairs of large charges are summed.
template <class D>
class CoulombWithin {
 public:
  using V = VecOf<D>;
  using Real = hn::TFromD<D>;

  CoulombWithin(D d, double cutoff) : inverse_(hn::Set(d, static_cast<Real>(1 / cutoff))) {}

  HWY_INLINE V operator()(V r2) const {
    const D d;
#if HWY_TARGET <= HWY_AVX3
    if constexpr (sizeof(Real) == sizeof(float)) {
      const V one = hn::Set(d, Real{1});
      // With the estimate y of 14 bits, h = 1 - r2 y^2 and u = 1 - r2 y / rc, to first order in h:
      // y u (u + h (3/2 u - 1)). The second order is below 2e-8 of 1/r.
      const V y = hn::ApproximateReciprocalSqrt(r2);
      const V r = hn::Mul(r2, y);
      const V h = hn::NegMulAdd(r, y, one);
      const V u = hn::Max(hn::NegMulAdd(r, inverse_, one), hn::Zero(d));
      const V correction = hn::MulSub(hn::Set(d, 1.5f), u, one);
      return hn::Mul(hn::Mul(y, u), hn::MulAdd(h, correction, u));
    }
#endif
    return of(distance(d, r2));
  }
  HWY_INLINE V of(const Distance<V>& distance) const {
    const D d;
    const V u = hn::Max(hn::NegMulAdd(distance.r, inverse_, hn::Set(d, Real{1})), hn::Zero(d));
    return hn::Mul(hn::Mul(distance.inverse, u), u);
  }

 private:
  V inverse_;
};

/// The same whatever r, kFactor times too large, in as few operations as there are: with the
/// estimate y of 1/r and r = r2 y, Newton's step multiplies y and r/rc^2 by one and the same
/// correction, (3 - r y)/2.
template <class D>
struct UncutCoulomb {
  using V = VecOf<D>;
  using Real = hn::TFromD<D>;
  static constexpr bool kSingle = sizeof(Real) == sizeof(float);
  static constexpr bool kNewton = kSingle && HWY_TARGET <= HWY_AVX3;  ///< from 14 bits
  static constexpr double kFactor = kNewton ? 2 : 1;
  V cutoff_squared;
  V inverse_square;
  V shift;

  UncutCoulomb(D d, double cutoff)
      : cutoff_squared(hn::Set(d, static_cast<Real>(cutoff * cutoff))),
        inverse_square(hn::Set(d, static_cast<Real>(1 / (cutoff * cutoff)))),
        shift(hn::Set(d, static_cast<Real>(kFactor * 2 / cutoff))) {}

  /// kFactor * (1/r + r/rc^2 - 2/rc), whatever r.
  HWY_INLINE V energy(D d, V r2) const {
    if constexpr (kSingle) {
      const V y = hn::ApproximateReciprocalSqrt(r2);
      const V r = hn::Mul(r2, y);
      const V sum = hn::MulAdd(inverse_square, r, y);
      if constexpr (kNewton) {
        return hn::MulSub(sum, hn::NegMulAdd(r, y, hn::Set(d, Real{3})), shift);
      } else {
        const V one = hn::Set(d, Real{1});
        const V h = hn::NegMulAdd(r, y, one);
        const V half = hn::MulAdd(hn::Set(d, Real{0.375}), h, hn::Set(d, Real{0.5}));
        return hn::MulSub(sum, hn::MulAdd(h, half, one), shift);
      }
    } else {
      // (1 + r^2/rc^2)/r needs no r
      const V growth = hn::MulAdd(inverse_square, r2, hn::Set(d, Real{1}));
      return hn::MulSub(growth, distance(d, r2).inverse, shift);
    }
  }
};

/// Stored coordinates in the lanes, and their differences in the unit of the x axis.
template <class D, class Real>
struct Coordinates {
  using Stored = VecOf<D>;
  static constexpr bool kWrap = false;  ///< whether differences are minimum images

  Coordinates(D, const Interaction&) {}
  static double unit(const Interaction&) { return 1; }
  HWY_INLINE Stored load(D d, const Real* from) const { return hn::LoadU(d, from); }
  HWY_INLINE Stored set(D d, Real value) const { return hn::Set(d, value); }
  HWY_INLINE VecOf<D> difference(Stored a, Stored b, int) const { return hn::Sub(a, b); }
};

/// Fixed point: integer overflow wraps the differences.
template <class D>
struct Coordinates<D, FixedCoordinate> {
  using Tag = hn::RebindToSigned<D>;
  using Stored = VecOf<Tag>;
  static constexpr bool kWrap = true;
  VecOf<D> ratio[3];

  Coordinates(D d, const Interaction& interaction) {
    for (int k = 0; k < 3; ++k) {
      ratio[k] = hn::Set(d, static_cast<float>(interaction.box[k] / interaction.box[0]));
    }
  }
  static double unit(const Interaction& interaction) { return fixed_unit(interaction.box[0]); }
  HWY_INLINE Stored load(D, const FixedCoordinate* from) const {
    return hn::LoadU(Tag(), &from->value);
  }
  HWY_INLINE Stored set(D, FixedCoordinate value) const { return hn::Set(Tag(), value.value); }
  HWY_INLINE VecOf<D> difference(Stored a, Stored b, int axis) const {
    const VecOf<D> units = hn::ConvertTo(D(), hn::Sub(a, b));
    return axis == 0 ? units : hn::Mul(units, ratio[axis]);
  }
};

/// As pair_step below the minimum image: squared distances, in squared units of the x axis, of
/// targets in registers to the sources in the lanes.
template <std::size_t kTargets, class D, class Real, class Stored, class Pair>
HWY_INLINE void pair_step(const Coordinates<D, Real>& coordinates,
                          const Point<Stored> (&targets)[kTargets], const Point<Stored>& source,
                          Pair&& pair) {
#pragma GCC unroll 8
  for (std::size_t k = 0; k < kTargets; ++k) {
    const auto dx = coordinates.difference(targets[k].x, source.x, 0);
    const auto dy = coordinates.difference(targets[k].y, source.y, 1);
    const auto dz = coordinates.difference(targets[k].z, source.z, 2);
    pair(k, hn::MulAdd(dx, dx, hn::MulAdd(dy, dy, hn::Mul(dz, dz))));
  }
}

/// Displacements source - origin along one edge for a full vector of sources, wrapped in fp64, then
/// rounded to the lanes' type.
template <class D>
requires std::same_as < hn::TFromD<D>,
double >
    HWY_INLINE VecOf<D> wrapped_offsets(D d, const double* sources, double origin, double length) {
  const auto offset = hn::Sub(hn::LoadU(d, sources), hn::Set(d, origin));
  return hn::NegMulAdd(hn::Set(d, length), hn::Round(hn::Mul(offset, hn::Set(d, 1 / length))),
                       offset);
}

template <class D>
requires std::same_as < hn::TFromD<D>,
float >
    HWY_INLINE VecOf<D> wrapped_offsets(D d, const double* sources, double origin, double length) {
  const hn::Half<D> half;
  const hn::Rebind<double, decltype(half)> wide;
  const auto lower = hn::DemoteTo(half, wrapped_offsets(wide, sources, origin, length));
  const auto upper =
      hn::DemoteTo(half, wrapped_offsets(wide, sources + hn::Lanes(half), origin, length));
  return hn::Combine(d, upper, lower);
}

/// Adds a vector of pair energies to fp64 sums.
template <class D>
struct WideSum {
  using Wide = hn::ScalableTag<double>;
  VecOf<Wide> sum;

  HWY_INLINE WideSum() : sum(hn::Zero(Wide())) {}
  HWY_INLINE void add(D d, VecOf<D> values) {
    if constexpr (sizeof(hn::TFromD<D>) == sizeof(double)) {
      sum = hn::Add(sum, values);
    } else {
      const hn::Half<D> half;
      const Wide wide;
      sum = hn::Add(sum, hn::Add(hn::PromoteTo(wide, hn::LowerHalf(half, values)),
                                 hn::PromoteTo(wide, hn::UpperHalf(half, values))));
      (void)d;
    }
  }
  HWY_INLINE double total() const { return hn::GetLane(hn::SumOfLanes(Wide(), sum)); }
};

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
