// Energies of an entry of a window with its neighbours, near and far. Included once per instruction
// set.
#if defined(STARPMC_COMPLETE_ROW_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STARPMC_COMPLETE_ROW_INL
#undef STARPMC_COMPLETE_ROW_INL
#else
#define STARPMC_COMPLETE_ROW_INL
#endif

#include <bit>
#include <memory>

#include "kernels/entry_groups.hpp"
#include "kernels/simd/user_row-inl.hpp"

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
    return static_cast<T>(displacement);
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

/// An entry's energies with its neighbours: in lanes of PairReal, and the near ones in fp64; all in
/// fp64 where functions of the user's need it (Potential::mm_as_pairs).
template <class Real>
class CompleteRow {
 public:
  explicit CompleteRow(const Window& window)
      : window_(window),
        far_row_(window.topology, window.interaction),
        near_row_(window.topology, window.interaction) {
    if (const auto* const potential = potential_of(window.potential, &Potential::in_mm)) {
      if (kHasNear && potential->mm_as_pairs) {
        user_far_row_ =
            std::make_unique<FarUserRow>(*potential, window.topology, window.interaction);
      }
      user_row_ =
          std::make_unique<UserRow<Real, double>>(*potential, window.topology, window.interaction);
    }
  }

  void set_target(int entry, int type) {
    take(entry, type, far_target_);
    if (kHasNear || user_row_) take(entry, type, near_target_);
  }

  /// Calls store(list, first index, lanes that count, energies) for vectors of both lists.
  template <class Store>
  HWY_INLINE void operator()(int type, const Neighbours<Real>& neighbours, Store&& store) {
    if (user_row_) {
      if (user_far_row_) {
        meet(*user_far_row_, far_target_, type, neighbours.far(), store);
      } else {
        meet(*user_row_, near_target_, type, neighbours.far(), store);
      }
      if constexpr (kHasNear) meet(*user_row_, near_target_, type, neighbours.near(), store);
      return;
    }
    far_row_(far_target_, type, neighbours.far(), Neighbours<Real>::kFarthestNear,
             [&](std::size_t first, auto lanes, const auto& energies)
                 HWY_ATTR { store(neighbours.far(), first, lanes, energies); });
    if constexpr (kHasNear) {
      near_row_(near_target_, type, neighbours.near(), 0.0,
                [&](std::size_t first, auto lanes, const auto& energies)
                    HWY_ATTR { store(neighbours.near(), first, lanes, energies); });
    }
  }

 private:
  static constexpr bool kHasNear = Neighbours<Real>::kHasNear;
  using FarUserRow = UserRow<Real, PairReal<Real>>;

  template <class Row, class T, class Store>
  static void meet(Row& row, const MoleculeTarget<Real, T>& target, int type,
                   const MoleculeList<Real>& list, Store& store) {
    row(target, type, list, [&](std::size_t first, auto lanes, const auto& energies) HWY_ATTR {
      store(list, first, lanes, energies);
    });
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
  MoleculeRow<Real, PairReal<Real>> far_row_;
  MoleculeRow<Real, double> near_row_;
  std::unique_ptr<FarUserRow> user_far_row_;  ///< null: as the near ones
  std::unique_ptr<UserRow<Real, double>> user_row_;
  MoleculeTarget<Real, PairReal<Real>> far_target_;
  MoleculeTarget<Real, double> near_target_;
};

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
