// Energies of an entry of a window with its neighbours, near and far. Included once per instruction
// set.
#if defined(STARPMC_COMPLETE_ROW_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STARPMC_COMPLETE_ROW_INL
#undef STARPMC_COMPLETE_ROW_INL
#else
#define STARPMC_COMPLETE_ROW_INL
#endif

#include <bit>
#include <optional>

#include "kernels/entry_groups.hpp"
#include "kernels/simd/user_row-inl.hpp"
#include "kernels/whole_units.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {

/// A coordinate of an entry's centre, and of a site, as lists have them.
template <class Real>
typename Stored<Real>::Centre stored_centre(double x, double edge) {
  if constexpr (kPrecisionOf<Real> == Precision::fp64) {
    return x;
  } else {
    return fixed_coordinate(x, edge);
  }
}
/// A stored value's bits.
template <class Real, class T>
WordOf<Real> word_of(T value) {
  return std::bit_cast<WordOf<Real>>(value);
}
template <class Real, class T>
auto stored_target_site(double centre, double displacement, double edge) {
  if constexpr (kFixed<Real>) {
    return stored_site<Real>(centre, displacement, edge).value;
  } else {
    return static_cast<T>(static_cast<PairReal<Real>>(displacement));
  }
}

/// Searches the neighbours that a group of entries shares.
template <class Real>
HWY_INLINE void collect(Neighbours<Real>& neighbours, const Window& window, const EntryGroup& group,
                        double reach, const MoleculeSet<Real>& from,
                        std::span<const MoleculeRun> runs, int type) {
  typename Stored<Real>::Centre centre[3];
  for (int k = 0; k < 3; ++k) {
    centre[k] = stored_centre<Real>(group.centre[k], window.interaction.box[k]);
  }
  neighbours.collect(centre, reach, group.spread, from, runs,
                     static_cast<std::size_t>(window.topology.site_count(type)));
}

/// Calls function(part, first lane) with the fp64 vectors of energies of two molecules each, as the
/// table and the sums have them: rounded to PairReal, then to whole units.
template <class Real, class V, class Function>
HWY_INLINE void for_each_wide(V energies, Function&& function) {
  const hn::DFromV<V> d;
  const hn::ScalableTag<double> wide;
  const auto shift = hn::Set(wide, rounding_shift(kPairUnit<Real>));
  const auto whole = [&](VecOf<decltype(wide)> v)
                         HWY_ATTR { return hn::Sub(hn::Add(v, shift), shift); };
  if constexpr (sizeof(hn::TFromV<V>) == sizeof(float)) {
    const hn::Half<decltype(d)> half;
    function(whole(hn::PromoteTo(wide, hn::LowerHalf(half, energies))), 0);
    function(whole(hn::PromoteTo(wide, hn::UpperHalf(half, energies))), hn::Lanes(wide));
  } else if constexpr (sizeof(PairReal<Real>) == sizeof(float)) {
    const hn::Rebind<float, decltype(d)> single;
    function(whole(hn::PromoteTo(wide, hn::DemoteTo(single, energies))), 0);
  } else {
    function(whole(energies), 0);
  }
}

/// Which lanes of a list are near a centre. It depends on the two centres alone, not on which
/// positions share the list, nor on what the lanes' energies are computed in.
template <class Real>
class NearTest {
 public:
  explicit NearTest(const Interaction& interaction)
      : single_(hn::ScalableTag<float>(), interaction), wide_(InWide(), interaction) {}

  template <class D, class Centre>
  HWY_INLINE hn::Mask<D> operator()(D d, const MoleculeList<Real>& list, std::size_t first,
                                    const Centre* centre) const {
    constexpr double kSquared = STARPMC_NEAR_DISTANCE * STARPMC_NEAR_DISTANCE;
    if constexpr (sizeof(hn::TFromD<D>) == sizeof(float)) {
      return hn::Lt(distance_squared(d, single_, list, first, centre),
                    hn::Set(d, static_cast<float>(kSquared)));
    } else {
      const auto squared = distance_squared(InWide(), wide_, list, first, centre);
      return hn::Lt(hn::PromoteTo(d, squared),
                    hn::Set(d, static_cast<double>(static_cast<float>(kSquared))));
    }
  }

 private:
  using InWide = hn::Rebind<float, hn::ScalableTag<double>>;
  Displacements<hn::ScalableTag<float>> single_;
  Displacements<InWide> wide_;
};

/// What an entry's energies need memory for, worth keeping between calls.
template <class Real>
struct CompleteRowMemory {
  UserRowMemory<Real, PairReal<Real>> far;
  UserRowMemory<Real, double> near;
};

/// An entry's energies with its neighbours: in lanes of PairReal, and the near ones in fp64; all in
/// fp64 where functions of the user's need it (Potential::mm_as_pairs).
template <class Real>
class CompleteRow {
 public:
  CompleteRow(const Window& window, CompleteRowMemory<Real>& memory)
      : window_(window), is_near_(window.interaction) {
    const Topology& topology = window.topology;
    if (const auto* const potential = potential_of(window.potential, &Potential::in_mm)) {
      if (kHasNear && potential->mm_as_pairs) {
        user_far_row_.emplace(*potential, topology, window.interaction, memory.far);
      }
      user_row_.emplace(*potential, topology, window.interaction, memory.near);
    } else {
      far_row_.emplace(topology, window.interaction);
      if (kHasNear) near_row_.emplace(topology, window.interaction);
    }
  }

  void set_target(int entry, int type) {
    take(entry, type, far_target_);
    if (kHasNear || user_row_) take(entry, type, near_target_);
  }

  /// Calls store(list, first index, lanes that count, energies) for vectors of both lists.
  template <class Store>
  HWY_INLINE void operator()(int type, const Neighbours<Real>& neighbours, Store&& store) {
    if (user_row_) return with_functions(type, neighbours, store);
    (*far_row_)(far_target_, type, neighbours.far(), Neighbours<Real>::kFarthestNear,
                [&](std::size_t first, auto lanes, const auto& energies)
                    HWY_ATTR { store_far(neighbours, first, lanes, energies, store); });
    if constexpr (kHasNear) {
      (*near_row_)(near_target_, type, neighbours.near(), 0.0,
                   [&](std::size_t first, auto lanes, const auto& energies)
                       HWY_ATTR { store_near(neighbours, first, lanes, energies, store); });
    }
  }

 private:
  static constexpr bool kHasNear = Neighbours<Real>::kHasNear;

  /// Rows of the tables are short: a call counts.
  template <class Store>
  HWY_INLINE void with_functions(int type, const Neighbours<Real>& neighbours, Store& store) {
    const auto far = [&](std::size_t first, auto lanes, const auto& energies)
                         HWY_ATTR { store_far(neighbours, first, lanes, energies, store); };
    if (user_far_row_) {
      (*user_far_row_)(far_target_, type, neighbours.far(), Neighbours<Real>::kFarthestNear, far);
    } else {
      (*user_row_)(near_target_, type, neighbours.far(), 0.0, far);
    }
    if constexpr (kHasNear) {
      (*user_row_)(near_target_, type, neighbours.near(), 0.0,
                   [&](std::size_t first, auto lanes, const auto& energies)
                       HWY_ATTR { store_near(neighbours, first, lanes, energies, store); });
    }
  }

  template <class Lanes, class Energies, class Store>
  HWY_INLINE void store_far(const Neighbours<Real>& neighbours, std::size_t first, Lanes lanes,
                            const Energies& energies, Store& store) const {
    if constexpr (kHasNear) {
      const hn::DFromV<decltype(energies.coulomb)> d;
      if (first + hn::Lanes(d) > neighbours.far().certain()) {
        lanes = hn::AndNot(is_near_(d, neighbours.far(), first, far_target_.centre), lanes);
      }
    }
    store(neighbours.far(), first, lanes, energies);
  }

  template <class Lanes, class Energies, class Store>
  HWY_INLINE void store_near(const Neighbours<Real>& neighbours, std::size_t first, Lanes lanes,
                             const Energies& energies, Store& store) const {
    const hn::DFromV<decltype(energies.coulomb)> d;
    store(neighbours.near(), first,
          hn::And(is_near_(d, neighbours.near(), first, far_target_.centre), lanes), energies);
  }

  template <class T>
  void take(int entry, int type, MoleculeTarget<Real, T>& target) const {
    target.type = type;
    double centre[3];
    for (int k = 0; k < 3; ++k) {
      centre[k] = window_.field(POSE_X + k, entry);
      target.centre[k] = stored_centre<Real>(centre[k], window_.interaction.box[k]);
    }
    const int values = 3 * window_.topology.site_count(type);
    target.sites.resize(static_cast<std::size_t>(values));
    for (int k = 0; k < values; ++k) {
      target.sites[static_cast<std::size_t>(k)] = stored_target_site<Real, T>(
          centre[k % 3], window_.field(POSE_FIELDS + k, entry), window_.interaction.box[k % 3]);
    }
  }

  const Window& window_;
  NearTest<Real> is_near_;
  // Of the built-in functions:
  std::optional<MoleculeRow<Real, PairReal<Real>>> far_row_;
  std::optional<MoleculeRow<Real, double>> near_row_;
  // or of the user's:
  std::optional<UserRow<Real, PairReal<Real>>> user_far_row_;  ///< none: as the near ones
  std::optional<UserRow<Real, double>> user_row_;
  MoleculeTarget<Real, PairReal<Real>> far_target_;
  MoleculeTarget<Real, double> near_target_;
};

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
