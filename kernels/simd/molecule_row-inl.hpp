// Energies of one molecule with a list of others, a molecule per lane: shared by mm_pair and
// mm_pair_table. Included once per instruction set.
#if defined(STARPMC_MOLECULE_ROW_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STARPMC_MOLECULE_ROW_INL
#undef STARPMC_MOLECULE_ROW_INL
#else
#define STARPMC_MOLECULE_ROW_INL
#endif

#include <algorithm>
#include <vector>

#include "kernels/molecule_reach.hpp"
#include "kernels/simd/molecule_list-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {

/// A molecule whose energies are wanted, in lanes of T.
template <class Real, class T>
struct MoleculeTarget {
  using Site = std::conditional_t<kFixed<Real>, std::int32_t, T>;
  typename Stored<Real>::Centre centre[3];
  std::vector<Site> sites;  ///< x, y, z of each site, as lists have them
  int type;
};

/// Pair coefficients of every site of one molecule type with every site of another.
template <class T>
class SitePairs {
 public:
  struct Coefficients {
    T charge;  ///< Coulomb constant times both charges
    T c12, c6, shift, slope;
    bool has_vdw;
  };

  SitePairs(const Topology& topology, int type_a, int type_b)
      : sites_a(static_cast<std::size_t>(topology.site_count(type_a))),
        sites_b(static_cast<std::size_t>(topology.site_count(type_b))) {
    pairs_.reserve(sites_a * sites_b);
    for (int i = 0; i < topology.site_count(type_a); ++i) {
      for (int j = 0; j < topology.site_count(type_b); ++j) {
        const double* const c =
            topology.pair(topology.site_type(type_a, i), topology.site_type(type_b, j));
        pairs_.push_back({static_cast<T>(STARPMC_COULOMB_CONSTANT * topology.site(type_a, i)[3] *
                                         topology.site(type_b, j)[3]),
                          static_cast<T>(c[0]), static_cast<T>(c[1]), static_cast<T>(c[2]),
                          static_cast<T>(c[3]), c[0] != 0 || c[1] != 0});
      }
    }
  }
  const Coefficients& operator()(std::size_t a, std::size_t b) const {
    return pairs_[a * sites_b + b];
  }

  std::size_t sites_a;
  std::size_t sites_b;

 private:
  std::vector<Coefficients> pairs_;
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
class MoleculeRow {
 public:
  using D = hn::ScalableTag<T>;
  using V = VecOf<D>;
  using List = MoleculeList<Real>;
  using Target = MoleculeTarget<Real, T>;

  MoleculeRow(const Topology& topology, const Interaction& interaction)
      : topology_(topology),
        reach_(topology, interaction),
        coulomb_(D(), interaction.coulomb_cutoff),
        displacements_(D(), interaction) {
    vdw_cutoff_squared_ =
        hn::Set(D(), static_cast<T>(interaction.vdw_cutoff * interaction.vdw_cutoff));
    const int types = topology.shape.molecule_types;
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

 protected:
  using SourceSite = std::conditional_t<kFixed<Real>, Point<VecOf<IntegersOf<D>>>, Point<V>>;

  template <Care kCare, class Store>
  HWY_INLINE void row(const Target& target, int list_type, const List& list, Store& store) const {
    const D d;
    const SitePairs<T>& pairs =
        pairs_[static_cast<std::size_t>(target.type * topology_.shape.molecule_types + list_type)];
    std::size_t i = 0;
    for (; i + hn::Lanes(d) <= list.count(); i += hn::Lanes(d)) {
      store(i, hn::FirstN(d, hn::Lanes(d)), energies_at<kCare>(target, list, pairs, i));
    }
    if (i == list.count()) return;
    store(i, hn::FirstN(d, list.count() - i), energies_at<kCare>(target, list, pairs, i));
  }

  /// Care::full: the minimum image of each pair of sites; Care::cut: the minimum distance, for
  /// molecules may be proposed on top of each other; Care::inside: neither.
  template <Care kCare>
  HWY_INLINE LaneEnergies<V> energies_at(const Target& target, const List& list,
                                         const SitePairs<T>& pairs, std::size_t first) const {
    const D d;
    const V closest = hn::Set(d, static_cast<T>(STARPMC_MINIMUM_DISTANCE_SQUARED));
    LaneEnergies<V> sum{hn::Zero(d), hn::Zero(d)};
    const Point<V> offset = centre_offset(target, list, first);
    for (std::size_t b = 0; b < pairs.sites_b; ++b) {
      const SourceSite source = source_site(list, b, first, offset);
      for (std::size_t a = 0; a < pairs.sites_a; ++a) {
        const auto& c = pairs(a, b);
        if (c.charge == 0 && !c.has_vdw) continue;
        V r2 = length_squared(d, displacement<kCare>(&target.sites[3 * a], source));
        if (kCare != Care::inside) r2 = hn::Max(r2, closest);
        if (c.has_vdw) {
          add_pair(c, r2, sum);
        } else {
          sum.coulomb = hn::MulAdd(hn::Set(d, c.charge), coulomb_energy(r2), sum.coulomb);
        }
      }
    }
    const V largest = hn::Set(d, static_cast<T>(STARPMC_LARGEST_PAIR_ENERGY));
    return {hn::Min(sum.coulomb, largest), hn::Min(sum.vdw, largest)};
  }

  HWY_INLINE Point<V> centre_offset(const Target& target, const List& list,
                                    std::size_t first) const {
    if constexpr (kFixed<Real>) {
      const V zero = hn::Zero(D());
      return {zero, zero, zero};
    } else {
      return {displacements_.between(list.centre(0) + first, target.centre[0], 0),
              displacements_.between(list.centre(1) + first, target.centre[1], 1),
              displacements_.between(list.centre(2) + first, target.centre[2], 2)};
    }
  }

  HWY_INLINE SourceSite source_site(const List& list, std::size_t site, std::size_t first,
                                    const Point<V>& offset) const {
    const auto at = [&](std::size_t k) { return list.site(3 * site + k) + first; };
    if constexpr (kFixed<Real>) {
      const IntegersOf<D> integers;
      return {hn::LoadU(integers, at(0)), hn::LoadU(integers, at(1)), hn::LoadU(integers, at(2))};
    } else {
      const D d;
      return {hn::Add(offset.x, load_lanes<Real>(d, at(0))),
              hn::Add(offset.y, load_lanes<Real>(d, at(1))),
              hn::Add(offset.z, load_lanes<Real>(d, at(2)))};
    }
  }

  template <Care kCare>
  HWY_INLINE Point<V> displacement(const typename Target::Site* site,
                                   const SourceSite& source) const {
    const auto set = [&](std::size_t k) HWY_ATTR {
      return hn::Set(hn::Rebind<typename Target::Site, D>(), site[k]);
    };
    const SourceSite r{hn::Sub(set(0), source.x), hn::Sub(set(1), source.y),
                       hn::Sub(set(2), source.z)};
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

  HWY_INLINE void add_pair(const typename SitePairs<T>::Coefficients& c, V r2,
                           LaneEnergies<V>& sum) const {
    const D d;
    const Distance<V> r = lane_distance(r2);
    sum.coulomb = hn::MulAdd(hn::Set(d, c.charge), coulomb_.of(r), sum.coulomb);
    const V inverse2 = hn::Mul(r.inverse, r.inverse);
    const V inverse6 = hn::Mul(hn::Mul(inverse2, inverse2), inverse2);
    const V lj = hn::Mul(hn::MulSub(hn::Set(d, c.c12), inverse6, hn::Set(d, c.c6)), inverse6);
    const V shift = hn::MulAdd(hn::Set(d, c.slope), r.r, hn::Set(d, c.shift));
    sum.vdw =
        hn::Add(sum.vdw, hn::IfThenElseZero(hn::Lt(r2, vdw_cutoff_squared_), hn::Add(lj, shift)));
  }

  const Topology& topology_;
  MoleculeReach reach_;
  CoulombWithin<D> coulomb_;
  Displacements<D> displacements_;
  V vdw_cutoff_squared_;
  std::vector<SitePairs<T>> pairs_;  ///< per pair of molecule types
};

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
