// Where the sites of one molecule and of a list of others are as seen from between them: what rows
// of built-in and of the user's functions share. Included once per instruction set.
#if defined(STARPMC_MOLECULE_PLACES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STARPMC_MOLECULE_PLACES_INL
#undef STARPMC_MOLECULE_PLACES_INL
#else
#define STARPMC_MOLECULE_PLACES_INL
#endif

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

/// @tparam T type of the lanes
template <class Real, class T>
class MoleculePlaces {
 public:
  using D = hn::ScalableTag<T>;
  using V = VecOf<D>;
  using List = MoleculeList<Real>;
  using Target = MoleculeTarget<Real, T>;
  using SiteLanes = std::conditional_t<kFixed<Real>, IntegersOf<D>, D>;
  using SiteWord = hn::TFromD<SiteLanes>;

  MoleculePlaces(const Topology& topology, const Interaction& interaction)
      : topology_(topology), reach_(topology, interaction), displacements_(D(), interaction) {}

  /// Half of what the centres of the list's molecules are away from the target's.
  HWY_INLINE Point<V> half_offset(const Target& target, const List& list, std::size_t first) const {
    const D d;
    const V half = hn::Set(d, T{0.5});
    const auto along = [&](int k) HWY_ATTR {
      if constexpr (kFixed<Real>) {
        return hn::Zero(d);  // not needed
      } else {
        return hn::Mul(half,
                       displacements_.between(list.centre(static_cast<std::size_t>(k)) + first,
                                              target.centre[k], k));
      }
    };
    return {along(0), along(1), along(2)};
  }

  /// Lays the sites of the target and of the list's molecules out, seen from amid their centres: so
  /// seen, the displacement of two sites is exactly the reverse of what it is where the other
  /// molecule is the target.
  /// @param size  from one coordinate's vector to the next's in `targets` and `sources`
  HWY_INLINE void place(const Target& target, const List& list, std::size_t first,
                        std::size_t sites_a, std::size_t sites_b, SiteWord* targets,
                        SiteWord* sources, std::size_t size) const {
    const D d;
    const SiteLanes lanes;
    const std::size_t stride = static_cast<std::size_t>(list.site(1) - list.site(0));
    const auto* source = list.site(0) + first;
    SiteWord* to = sources;
    if constexpr (kFixed<Real>) {
      for (std::size_t k = 0; k < 3 * sites_b; ++k, source += stride, to += size) {
        hn::Store(hn::LoadU(lanes, source), lanes, to);
      }
      to = targets;
      for (std::size_t k = 0; k < 3 * sites_a; ++k, to += size) {
        hn::Store(hn::Set(lanes, target.sites[k]), lanes, to);
      }
    } else {
      const Point<V> halves = half_offset(target, list, first);
      for (std::size_t b = 0; b < sites_b; ++b, source += 3 * stride, to += 3 * size) {
        hn::Store(hn::Add(load_lanes<Real>(d, source), halves.x), d, to);
        hn::Store(hn::Add(load_lanes<Real>(d, source + stride), halves.y), d, to + size);
        hn::Store(hn::Add(load_lanes<Real>(d, source + 2 * stride), halves.z), d, to + 2 * size);
      }
      const auto* site = target.sites.data();
      to = targets;
      for (std::size_t a = 0; a < sites_a; ++a, site += 3, to += 3 * size) {
        hn::Store(hn::Sub(hn::Set(d, site[0]), halves.x), d, to);
        hn::Store(hn::Sub(hn::Set(d, site[1]), halves.y), d, to + size);
        hn::Store(hn::Sub(hn::Set(d, site[2]), halves.z), d, to + 2 * size);
      }
    }
  }

 protected:
  const Topology& topology_;
  MoleculeReach reach_;
  Displacements<D> displacements_;
};

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
