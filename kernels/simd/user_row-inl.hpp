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

/// The sites of the list's molecules are laid out relative to the target's centre, or in fixed
/// precision where they are, and MoleculePairs does the rest.
/// @tparam T type of the lanes
template <class Real, class T>
class UserRow : private MoleculeRow<Real, T> {
 public:
  using Row = MoleculeRow<Real, T>;
  using typename Row::D;
  using typename Row::List;
  using typename Row::Target;
  using typename Row::V;

  UserRow(const Potential& potential, const Topology& topology, const Interaction& interaction)
      : Row(topology, interaction),
        interaction_(interaction),
        function_(potential, PairsWith::molecules) {
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
    for (std::size_t k = 0; k < 3; ++k) {
      arguments_.units[k] = static_cast<T>(fixed_unit(interaction.box[k]));
    }
  }

  /// As MoleculeRow's.
  template <class Store>
  HWY_INLINE void operator()(const Target& target, int list_type, const List& list, Store&& store) {
    if (list.count() == 0) return;
    const D d;
    const SitePairTerms<T>& sites = sites_[static_cast<std::size_t>(
        target.type * this->topology_.shape.molecule_types + list_type)];
    arguments_.target_count = sites.targets;
    arguments_.source_count = sites.sources;
    arguments_.present = sites.present.data();
    arguments_.coefficients = sites.coefficients.data();
    arguments_.count = whole_grains<T>(list.count());
    const bool one_image = kFixed<Real> || this->reach_.one_image(target.type, list_type);
    arguments_.box = one_image ? nullptr : interaction_.box;
    place_target(target);
    place_sources(target, list, sites.sources);
    for (std::size_t k = 0; k < 2; ++k) {
      energies_[k].resize(arguments_.count);
      arguments_.energies[k] = energies_[k].data();
    }
    function_(arguments_);
    for (std::size_t i = 0; i < list.count(); i += hn::Lanes(d)) {
      store(i, hn::FirstN(d, list.count() - i),
            LaneEnergies<V>{limited(hn::LoadU(d, &energies_[0][i])),
                            limited(hn::LoadU(d, &energies_[1][i]))});
    }
  }

 private:
  /// Axis by axis.
  void place_target(const Target& target) {
    const std::size_t count = arguments_.target_count;
    targets_.resize(3 * count);
    for (std::size_t i = 0; i < 3 * count; ++i) targets_[i % 3 * count + i / 3] = target.sites[i];
    if constexpr (kFixed<Real>) {
      arguments_.fixed_targets = targets_.data();
    } else {
      arguments_.targets = targets_.data();
    }
  }

  void place_sources(const Target& target, const List& list, std::size_t sites) {
    const D d;
    const std::size_t stride = arguments_.count;
    // A list's last vector is full of molecules; beyond it, whatever was here before does.
    static_assert(hn::MaxLanes(d) <= kMoleculeGrain<T>);
    if constexpr (kFixed<Real>) {
      // a list's rows have whole vectors, too
      arguments_.fixed_sources = list.site(0);
      arguments_.stride = static_cast<std::size_t>(list.site(1) - list.site(0));
    } else {
      sources_.resize(std::max(sources_.size(), sites * 3 * stride));
      arguments_.stride = stride;
      for (std::size_t i = 0; i < list.count(); i += hn::Lanes(d)) {
        const Point<V> offset = this->centre_offset(target, list, i);
        for (std::size_t b = 0; b < sites; ++b) {
          const auto at = [&](std::size_t k) { return list.site(3 * b + k) + i; };
          T* const to = &sources_[3 * b * stride + i];
          hn::StoreU(hn::Add(offset.x, load_lanes<Real>(d, at(0))), d, to);
          hn::StoreU(hn::Add(offset.y, load_lanes<Real>(d, at(1))), d, to + stride);
          hn::StoreU(hn::Add(offset.z, load_lanes<Real>(d, at(2))), d, to + 2 * stride);
        }
      }
      arguments_.sources = sources_.data();
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
  std::vector<typename Target::Site> targets_;
  std::vector<T> sources_;
  std::vector<T> energies_[2];
};

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
