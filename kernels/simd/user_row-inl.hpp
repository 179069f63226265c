// Energies of one molecule with a list of others under functions of the user's: the sibling of
// MoleculeRow. Included once per instruction set.
#if defined(STARPMC_USER_ROW_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STARPMC_USER_ROW_INL
#undef STARPMC_USER_ROW_INL
#else
#define STARPMC_USER_ROW_INL
#endif

#include <vector>

#include "kernels/prepared_potential.hpp"
#include "kernels/simd/molecule_row-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {

/// What a row needs memory for, worth keeping between calls.
template <class Real, class T>
struct UserRowMemory {
  VectorMemory<typename MoleculeTarget<Real, T>::Site> targets;
  VectorMemory<T> sources;
  VectorMemory<T> energies[2];
};

/// The sites of the target and of the list's molecules are laid out as seen from amid their centres
/// (MoleculePlaces::place), or in fixed precision where they are, and MoleculePairs does the rest:
/// all of it where it takes the sites as they are in lists.
/// @tparam T type of the lanes
template <class Real, class T>
class UserRow : private MoleculePlaces<Real, T> {
 public:
  using Places = MoleculePlaces<Real, T>;
  using typename Places::D;
  using typename Places::List;
  using typename Places::Target;
  using typename Places::V;

  UserRow(const Potential& potential, const Topology& topology, const Interaction& interaction,
          UserRowMemory<Real, T>& memory)
      : Places(topology, interaction),
        interaction_(interaction),
        function_(potential, PairsWith::molecules),
        memory_(memory) {
    sites_.reserve(static_cast<std::size_t>(topology.shape.molecule_types) *
                   topology.shape.molecule_types);
    const int types = topology.shape.molecule_types;
    for (int type = 0; type < types; ++type) {
      for (int other = 0; other < types; ++other) {
        sites_.push_back(terms_of_molecules<T>(function_.terms(), topology,
                                               interaction.coulomb_cutoff, type, other));
      }
    }
    const auto squared = [](double cutoff) { return static_cast<T>(cutoff * cutoff); };
    arguments_.squared_cutoffs[0] = squared(interaction.coulomb_cutoff);
    arguments_.squared_cutoffs[1] = squared(interaction.vdw_cutoff);
    for (std::size_t k = 0; k < 2; ++k) {
      memory_.energies[k].grow(kListedTogether);
      arguments_.energies[k] = memory_.energies[k].data();
    }
    for (std::size_t k = 0; k < 3; ++k) {
      arguments_.units[k] = static_cast<T>(fixed_unit(interaction.box[k]));
    }
  }

  /// As MoleculeRow's.
  template <class Store>
  HWY_INLINE void operator()(const Target& target, int list_type, const List& list, double apart,
                             Store&& store) {
    if (list.count() == 0) return;
    const D d;
    meet(target.type, list_type, apart);
    const std::size_t together = listed_ ? kListedTogether : kTogether;
    for (std::size_t first = 0; first < list.count(); first += together) {
      const std::size_t count = std::min(together, list.count() - first);
      arguments_.count = whole_grains<T>(count);
      if (listed_) {
        refer_to(target, list, first, count);
      } else {
        place(target, list, first, count);
        if (first == 0) place_rows(pairs_->sites);
      }
      if (!pairs_->parts.empty()) {
        function_(arguments_);
      } else {
        for (T* const energies : arguments_.energies) std::fill_n(energies, together, T{0});
      }
      for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
        store(first + i, hn::FirstN(d, count - i),
              LaneEnergies<V>{limited(hn::Load(d, arguments_.energies[0] + i)),
                              limited(hn::Load(d, arguments_.energies[1] + i))});
      }
    }
  }

 private:
  /// Molecules that are laid out together: few enough to stay in a core's first cache.
  static constexpr std::size_t kTogether = 8 * kMoleculeGrain<T>;
  static constexpr std::size_t kListedTogether = 4 * kTogether;
  static constexpr SitesInLists kSitesInLists = kFixed<Real> ? SitesInLists::fixed_point
                                                : sizeof(PairReal<Real>) < sizeof(T)
                                                    ? SitesInLists::in_single
                                                    : SitesInLists::in_lanes;

  /// What depends on no more than the types. Most rows are as the one before.
  void meet(int target_type, int list_type, double apart) {
    const SitePairTerms<T>* const pairs = &sites_[static_cast<std::size_t>(
        target_type * this->topology_.shape.molecule_types + list_type)];
    if (pairs_ == pairs && apart_ == apart) return;
    pairs_ = pairs;
    apart_ = apart;
    source_sites_ = static_cast<std::size_t>(this->topology_.site_count(list_type));
    arguments_.target_count = static_cast<std::size_t>(this->topology_.site_count(target_type));
    arguments_.parts = pairs->parts;
    arguments_.present = pairs->present.data();
    arguments_.coefficients = pairs->coefficients.data();
    const bool one_image = kFixed<Real> || this->reach_.one_image(target_type, list_type);
    arguments_.apart = apart >= this->reach_.contact(target_type, list_type);
    arguments_.box = one_image ? nullptr : interaction_.box;
    listed_ = pairs->three_sites && function_.takes(kSitesInLists, arguments_.apart, !one_image);
    arguments_.listed = {kSitesInLists};
  }

  /// The list's molecules [first, first + molecules) where they are.
  void refer_to(const Target& target, const List& list, std::size_t first, std::size_t molecules) {
    const D d;
    const auto stride = static_cast<std::size_t>(list.site(1) - list.site(0));
    arguments_.stride = stride;
    arguments_.listed.sources = list.site(0) + first;
    arguments_.listed.targets = target.sites.data();
    if constexpr (!kFixed<Real>) {
      memory_.sources.grow(3 * stride);
      T* const halves = memory_.sources.data();
      arguments_.listed.halves = halves;
      for (std::size_t i = 0; i < molecules; i += hn::Lanes(d)) {
        const Point<V> half = Places::half_offset(target, list, first + i);
        hn::Store(half.x, d, halves + i);
        hn::Store(half.y, d, halves + stride + i);
        hn::Store(half.z, d, halves + 2 * stride + i);
      }
    }
  }

  void place_rows(const std::vector<std::uint32_t>& sites) {
    const std::uint64_t row = 3 * arguments_.stride;
    if (sites_of_rows_ == sites.data() && row_ == row) return;
    sites_of_rows_ = sites.data();
    row_ = row;
    rows_.resize(sites.size());
    for (std::size_t k = 0; k < sites.size(); ++k) {
      rows_[k] = (kFixed<Real> && k % 2 == 0 ? 1 : row) * sites[k];
    }
    arguments_.rows = rows_.data();
  }

  /// The list's molecules [first, first + molecules).
  void place(const Target& target, const List& list, std::size_t first, std::size_t molecules) {
    const D d;
    // A list's last vector is full of molecules; beyond it, whatever was here before does.
    static_assert(hn::MaxLanes(d) <= kMoleculeGrain<T>);
    const std::size_t count = arguments_.target_count;
    if constexpr (kFixed<Real>) {
      memory_.targets.grow(3 * count);
      typename Target::Site* const to = memory_.targets.data();  // axis by axis
      for (std::size_t i = 0; i < 3 * count; ++i) to[i % 3 * count + i / 3] = target.sites[i];
      arguments_.fixed_targets = to;
      // a list's rows have whole vectors, too
      arguments_.fixed_sources = list.site(0) + first;
      arguments_.stride = static_cast<std::size_t>(list.site(1) - list.site(0));
    } else {
      arguments_.stride = kTogether;
      memory_.targets.grow(3 * count * kTogether);
      memory_.sources.grow(3 * source_sites_ * kTogether);
      T* const targets = memory_.targets.data();
      T* const sources = memory_.sources.data();
      arguments_.targets = targets;
      arguments_.sources = sources;
      for (std::size_t i = 0; i < molecules; i += hn::Lanes(d)) {
        Places::place(target, list, first + i, count, source_sites_, targets + i, sources + i,
                      kTogether);
      }
    }
  }

  /// limited_user_energy
  static HWY_INLINE V limited(V energy) {
    const V largest = hn::Set(D(), static_cast<T>(STARPMC_LARGEST_PAIR_ENERGY));
    return hn::Max(hn::IfThenElse(hn::Lt(energy, largest), energy, largest), hn::Neg(largest));
  }

  const Interaction& interaction_;
  MoleculePairs<T> function_;
  std::vector<SitePairTerms<T>> sites_;  ///< per pair of molecule types
  MoleculePairArguments<T> arguments_;
  // Of the types that met last:
  const SitePairTerms<T>* pairs_ = nullptr;
  double apart_ = 0;
  std::size_t source_sites_ = 0;
  bool listed_ = false;
  std::vector<std::uint64_t> rows_;
  const std::uint32_t* sites_of_rows_ = nullptr;  ///< what rows_ is made of, and its stride
  std::uint64_t row_ = 0;
  UserRowMemory<Real, T>& memory_;
};

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
