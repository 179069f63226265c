// Energies of one molecule with a list of others, a molecule per lane: shared by mm_pair and
// mm_pair_table. Included once per instruction set.
#if defined(STARPMC_MOLECULE_ROW_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STARPMC_MOLECULE_ROW_INL
#undef STARPMC_MOLECULE_ROW_INL
#else
#define STARPMC_MOLECULE_ROW_INL
#endif

#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <span>
#include <vector>

#include "kernels/simd/molecule_places-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {

/// The pairs of a site of one molecule type with one of another that have energy, in an order, and
/// two by two, such that a sum over them has the same bits whichever molecule is the target.
/// @tparam T type of the lanes, of which there are kLanes
template <class T>
class SitePairs {
 public:
  struct Pair {
    std::size_t a;  ///< where the coordinates of the target's site are, a vector each
    std::size_t b;  ///< and those of the other's
    T charge;       ///< Coulomb constant times both charges
    T c12, c6, shift, slope;
  };
  struct Pairs {
    std::vector<Pair> single;
    std::vector<Pair> both;  ///< the sites' places may be exchanged, and that pair follows as one
  };

  SitePairs(const Topology& topology, int type_a, int type_b)
      : sites_a(static_cast<std::size_t>(topology.site_count(type_a))),
        sites_b(static_cast<std::size_t>(topology.site_count(type_b))) {
    const std::size_t site = 3 * hn::Lanes(hn::ScalableTag<T>());
    if (type_a == type_b && sites_a == 3) make_triangle(topology, type_a);
    const int first = std::min(type_a, type_b);
    const int second = std::max(type_a, type_b);
    for (int i = 0; i < topology.site_count(first); ++i) {
      const int last = type_a == type_b ? i + 1 : topology.site_count(second);
      for (int j = 0; j < last; ++j) {
        const double* const c =
            topology.pair(topology.site_type(first, i), topology.site_type(second, j));
        const double charges = topology.site(first, i)[3] * topology.site(second, j)[3];
        const bool has_vdw = c[0] != 0 || c[1] != 0;
        if (charges == 0 && !has_vdw) continue;
        Pairs& pairs = has_vdw ? with_vdw : coulomb;
        (type_a == type_b && i != j ? pairs.both : pairs.single)
            .push_back({site * static_cast<std::size_t>(type_a == first ? i : j),
                        site * static_cast<std::size_t>(type_a == first ? j : i),
                        static_cast<T>(STARPMC_COULOMB_CONSTANT * charges), static_cast<T>(c[0]),
                        static_cast<T>(c[1]), static_cast<T>(c[2]), static_cast<T>(c[3])});
      }
    }
  }

  std::size_t sites_a;
  std::size_t sites_b;
  Pairs with_vdw;
  Pairs coulomb;  ///< alone
  /// The same of a type of three sites, all of them charged, with itself, (i, j <= i) at
  /// i (i + 1)/2 + j; else empty.
  struct Side : Pair {
    bool has_vdw;
  };
  std::vector<Side> triangle;

 private:
  void make_triangle(const Topology& topology, int type) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j <= i; ++j) {
        const double* const c =
            topology.pair(topology.site_type(type, i), topology.site_type(type, j));
        const double charges = topology.site(type, i)[3] * topology.site(type, j)[3];
        if (charges == 0) return triangle.clear();
        triangle.push_back(
            {{0, 0, static_cast<T>(STARPMC_COULOMB_CONSTANT * charges), static_cast<T>(c[0]),
              static_cast<T>(c[1]), static_cast<T>(c[2]), static_cast<T>(c[3])},
             c[0] != 0 || c[1] != 0});
      }
    }
  }
};

/// r and 1/r within 2e-11 of their value: for near molecules, whose coordinates are in fp32.
template <class V>
HWY_INLINE Distance<V> distance_of_near(V r2) {
  const hn::DFromV<V> d;
  const hn::Rebind<float, decltype(d)> single;
  const V y = hn::PromoteTo(d, hn::ApproximateReciprocalSqrt(hn::DemoteTo(single, r2)));
  const V r = hn::Mul(r2, y);
  const V h = hn::NegMulAdd(r, y, hn::Set(d, 1.0));
  const V correction = hn::Mul(h, hn::MulAdd(hn::Set(d, 0.375), h, hn::Set(d, 0.5)));
  return {hn::MulAdd(r, correction, r), hn::MulAdd(y, correction, y)};
}

template <class V>
struct LaneEnergies {
  V coulomb;
  V vdw;
};

/// @tparam T type of the lanes
template <class Real, class T>
class MoleculeRow : private MoleculePlaces<Real, T> {
 public:
  using Places = MoleculePlaces<Real, T>;
  using typename Places::D;
  using typename Places::List;
  using typename Places::Target;
  using typename Places::V;

  MoleculeRow(const Topology& topology, const Interaction& interaction)
      : Places(topology, interaction), coulomb_(D(), interaction.coulomb_cutoff) {
    vdw_cutoff_squared_ =
        hn::Set(D(), static_cast<T>(interaction.vdw_cutoff * interaction.vdw_cutoff));
    const int types = topology.shape.molecule_types;
    const auto sites = static_cast<std::size_t>(topology.shape.sites);
    target_sites_ = hwy::AllocateAligned<SiteWord>(3 * sites * hn::MaxLanes(D()));
    source_sites_ = hwy::AllocateAligned<SiteWord>(3 * sites * hn::MaxLanes(D()));
    pairs_.reserve(static_cast<std::size_t>(types * types));
    for (int type = 0; type < types; ++type) {
      for (int other = 0; other < types; ++other) pairs_.emplace_back(topology, type, other);
    }
  }

  /// Calls store(first index, lanes that count, energies) for every vector of the list.
  /// @param apart  least distance of a centre of the list from the target's
  template <class Store>
  HWY_INLINE void operator()(const Target& target, int list_type, const List& list, double apart,
                             Store&& store) const {
    // Fixed-point differences wrap by themselves.
    if (!kFixed<Real> && !reach_.one_image(target.type, list_type)) {
      row<Care::full>(target, list_type, list, store);
    } else if (apart < reach_.contact(target.type, list_type)) {
      row<Care::cut>(target, list_type, list, store);
    } else {
      row<Care::inside>(target, list_type, list, store);
    }
  }

 private:
  using Places::displacements_;
  using Places::half_offset;
  using Places::reach_;
  using Places::topology_;
  using typename Places::SiteLanes;
  using typename Places::SiteWord;
  using SitePoint = std::conditional_t<kFixed<Real>, Point<VecOf<IntegersOf<D>>>, Point<V>>;

  template <Care kCare, class Store>
  HWY_INLINE void row(const Target& target, int list_type, const List& list, Store& store) const {
    const D d;
    const SitePairs<T>& pairs =
        pairs_[static_cast<std::size_t>(target.type * topology_.shape.molecule_types + list_type)];
    // One place that computes, whole vectors or not: it is most of the code, and of its
    // compilation.
    const std::size_t lanes = hn::Lanes(d);
    for (std::size_t i = 0; i < list.count(); i += lanes) {
      store(i, hn::FirstN(d, std::min(lanes, list.count() - i)),
            energies_at<kCare>(target, list, pairs, i));
    }
  }

  /// Care::full: the minimum image of each pair of sites; Care::cut: the minimum distance, for
  /// molecules may be proposed on top of each other; Care::inside: neither.
  template <Care kCare>
  HWY_INLINE LaneEnergies<V> energies_at(const Target& target, const List& list,
                                         const SitePairs<T>& pairs, std::size_t first) const {
    const D d;
    if (!pairs.triangle.empty()) return of_three_sites<kCare>(target, list, pairs, first);
    LaneEnergies<V> sum{hn::Zero(d), hn::Zero(d)};
    SiteWord* const targets = target_sites_.get();
    SiteWord* const sources = source_sites_.get();
    this->place(target, list, first, pairs.sites_a, pairs.sites_b, targets, sources, hn::Lanes(d));
    const auto squared = [&](std::size_t a, std::size_t b) HWY_ATTR {
      return squared_between<kCare>(load_site(targets + a), load_site(sources + b));
    };
    const auto add = [&](const auto& pair, const LaneEnergies<V>& energies) HWY_ATTR {
      sum.coulomb = hn::MulAdd(hn::Set(d, pair.charge), energies.coulomb, sum.coulomb);
      sum.vdw = hn::Add(sum.vdw, energies.vdw);
    };
    for (const auto& pair : pairs.with_vdw.single) {
      add(pair, unit_energies(pair, squared(pair.a, pair.b)));
    }
    for (const auto& pair : pairs.with_vdw.both) {
      const LaneEnergies<V> one = unit_energies(pair, squared(pair.a, pair.b));
      const LaneEnergies<V> other = unit_energies(pair, squared(pair.b, pair.a));
      add(pair, {hn::Add(one.coulomb, other.coulomb), hn::Add(one.vdw, other.vdw)});
    }
    for (const auto& pair : pairs.coulomb.single) {
      sum.coulomb =
          hn::MulAdd(hn::Set(d, pair.charge), coulomb_energy(squared(pair.a, pair.b)), sum.coulomb);
    }
    for (const auto& pair : pairs.coulomb.both) {
      const V both =
          hn::Add(coulomb_energy(squared(pair.a, pair.b)), coulomb_energy(squared(pair.b, pair.a)));
      sum.coulomb = hn::MulAdd(hn::Set(d, pair.charge), both, sum.coulomb);
    }
    return limited(sum);
  }

  static HWY_INLINE LaneEnergies<V> limited(const LaneEnergies<V>& sum) {
    const V largest = hn::Set(D(), static_cast<T>(STARPMC_LARGEST_PAIR_ENERGY));
    return {hn::Min(sum.coulomb, largest), hn::Min(sum.vdw, largest)};
  }

  /// The same where all sites fit into registers.
  template <Care kCare>
  HWY_INLINE LaneEnergies<V> of_three_sites(const Target& target, const List& list,
                                            const SitePairs<T>& pairs, std::size_t first) const {
    const D d;
    LaneEnergies<V> sum{hn::Zero(d), hn::Zero(d)};
    SitePoint a[3];
    SitePoint b[3];
    place_three(target, list, first, a, b);
#pragma GCC unroll 3
    for (std::size_t i = 0; i < 3; ++i) {
#pragma GCC unroll 3
      for (std::size_t j = 0; j <= i; ++j) {
        const auto& pair = pairs.triangle[i * (i + 1) / 2 + j];
        const V r2 = squared_between<kCare>(a[i], b[j]);
        const V other_r2 = i == j ? r2 : squared_between<kCare>(a[j], b[i]);
        V energy;
        if (pair.has_vdw) {
          const LaneEnergies<V> energies = unit_energies(pair, r2);
          energy = energies.coulomb;
          V vdw = energies.vdw;
          if (i != j) {
            const LaneEnergies<V> more = unit_energies(pair, other_r2);
            energy = hn::Add(energy, more.coulomb);
            vdw = hn::Add(vdw, more.vdw);
          }
          sum.vdw = hn::Add(sum.vdw, vdw);
        } else {
          energy = coulomb_energy(r2);
          if (i != j) energy = hn::Add(energy, coulomb_energy(other_r2));
        }
        sum.coulomb = hn::MulAdd(hn::Set(d, pair.charge), energy, sum.coulomb);
      }
    }
    return limited(sum);
  }

  HWY_INLINE void place_three(const Target& target, const List& list, std::size_t first,
                              SitePoint (&a)[3], SitePoint (&b)[3]) const {
    const D d;
    const SiteLanes lanes;
    const std::size_t stride = static_cast<std::size_t>(list.site(1) - list.site(0));
    const auto* source = list.site(0) + first;
    const auto* site = target.sites.data();
    const Point<V> halves = half_offset(target, list, first);
#pragma GCC unroll 3
    for (std::size_t k = 0; k < 3; ++k, source += 3 * stride, site += 3) {
      const SitePoint own{hn::Set(lanes, site[0]), hn::Set(lanes, site[1]),
                          hn::Set(lanes, site[2])};
      if constexpr (kFixed<Real>) {
        a[k] = own;
        b[k] = {hn::LoadU(lanes, source), hn::LoadU(lanes, source + stride),
                hn::LoadU(lanes, source + 2 * stride)};
      } else {
        a[k] = {hn::Sub(own.x, halves.x), hn::Sub(own.y, halves.y), hn::Sub(own.z, halves.z)};
        b[k] = {hn::Add(load_lanes<Real>(d, source), halves.x),
                hn::Add(load_lanes<Real>(d, source + stride), halves.y),
                hn::Add(load_lanes<Real>(d, source + 2 * stride), halves.z)};
      }
    }
  }

  static HWY_INLINE SitePoint load_site(const SiteWord* from) {
    const SiteLanes lanes;
    const std::size_t size = hn::Lanes(lanes);
    return {hn::Load(lanes, from), hn::Load(lanes, from + size), hn::Load(lanes, from + 2 * size)};
  }

  /// Squared distance of a site of the target from one of the others.
  template <Care kCare>
  HWY_INLINE V squared_between(const SitePoint& a, const SitePoint& b) const {
    const D d;
    const V r2 = length_squared(d, displacement<kCare>(a, b));
    if constexpr (kCare == Care::inside) return r2;
    return hn::Max(r2, hn::Set(d, static_cast<T>(STARPMC_MINIMUM_DISTANCE_SQUARED)));
  }

  template <Care kCare>
  HWY_INLINE Point<V> displacement(const SitePoint& a, const SitePoint& b) const {
    const SitePoint r{hn::Sub(a.x, b.x), hn::Sub(a.y, b.y), hn::Sub(a.z, b.z)};
    if constexpr (kFixed<Real>) {
      return {displacements_.scaled(r.x, 0), displacements_.scaled(r.y, 1),
              displacements_.scaled(r.z, 2)};
    } else if constexpr (kCare == Care::full) {
      const Periodic<D>& periodic = displacements_.periodic();
      return {periodic.wrap(r.x, 0), periodic.wrap(r.y, 1), periodic.wrap(r.z, 2)};
    } else {
      return r;
    }
  }

  static constexpr bool kNear = sizeof(PairReal<Real>) < sizeof(T);

  static HWY_INLINE Distance<V> lane_distance(V r2) {
    if constexpr (kNear) {
      return distance_of_near(r2);
    } else {
      return distance(D(), r2);
    }
  }

  HWY_INLINE V coulomb_energy(V r2) const {
    if constexpr (kNear) {
      return coulomb_.of(distance_of_near(r2));
    } else {
      return coulomb_(r2);
    }
  }

  /// Coulomb energy of unit charges, and that of van der Waals.
  HWY_INLINE LaneEnergies<V> unit_energies(const typename SitePairs<T>::Pair& c, V r2) const {
    const D d;
    const Distance<V> r = lane_distance(r2);
    const V inverse2 = hn::Mul(r.inverse, r.inverse);
    const V inverse6 = hn::Mul(hn::Mul(inverse2, inverse2), inverse2);
    const V lj = hn::Mul(hn::MulSub(hn::Set(d, c.c12), inverse6, hn::Set(d, c.c6)), inverse6);
    const V shift = hn::MulAdd(hn::Set(d, c.slope), r.r, hn::Set(d, c.shift));
    return {coulomb_.of(r),
            hn::IfThenElseZero(hn::Lt(r2, vdw_cutoff_squared_), hn::Add(lj, shift))};
  }

  CoulombWithin<D> coulomb_;
  V vdw_cutoff_squared_;
  std::vector<SitePairs<T>> pairs_;  ///< per pair of molecule types
  // A vector for each coordinate.
  hwy::AlignedFreeUniquePtr<SiteWord[]> target_sites_;
  hwy::AlignedFreeUniquePtr<SiteWord[]> source_sites_;
};

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
