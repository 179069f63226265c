// Energies of one molecule with a list of others under functions of the user's: the sibling of
// MoleculeRow. Included once per instruction set.
#if defined(STARPMC_USER_ROW_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STARPMC_USER_ROW_INL
#undef STARPMC_USER_ROW_INL
#else
#define STARPMC_USER_ROW_INL
#endif

#include <memory>
#include <vector>

#include "kernels/prepared_potential.hpp"
#include "kernels/simd/molecule_row-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {

/// The sites of the list's molecules are laid out relative to the target's centre, and
/// MoleculePairs does the rest.
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
        function_(make_molecule_pairs<T>(potential)) {
    const std::vector<PairTerm> terms = molecule_terms(potential);
    const int types = topology.shape.molecule_types;
    for (int type = 0; type < types; ++type) {
      for (int other = 0; other < types; ++other) {
        sites_.emplace_back(terms, topology, interaction.coulomb_cutoff, type, other);
      }
    }
    const auto squared = [](double cutoff) { return static_cast<T>(cutoff * cutoff); };
    arguments_.squared_cutoffs[0] = squared(interaction.coulomb_cutoff);
    arguments_.squared_cutoffs[1] = squared(interaction.vdw_cutoff);
  }

  /// As MoleculeRow's.
  template <class Store>
  HWY_INLINE void operator()(const Target& target, int list_type, const List& list, Store&& store) {
    if (list.count() == 0) return;
    const D d;
    const SitePairTerms<T>& sites = sites_[static_cast<std::size_t>(
        target.type * this->topology_.shape.molecule_types + list_type)];
    arguments_.sites = &sites;
    arguments_.count = round_up(list.count(), kMoleculeGrain<T>);
    arguments_.box = this->reach_.one_image(target.type, list_type) ? nullptr : interaction_.box;
    place_target(target, sites.targets);
    place_sources(target, list, sites.sources);
    for (std::size_t k = 0; k < 2; ++k) {
      energies_[k].resize(arguments_.count);
      arguments_.energies[k] = energies_[k].data();
    }
    (*function_)(arguments_);
    for (std::size_t i = 0; i < list.count(); i += hn::Lanes(d)) {
      store(i, hn::FirstN(d, list.count() - i),
            LaneEnergies<V>{limited(hn::LoadU(d, &energies_[0][i])),
                            limited(hn::LoadU(d, &energies_[1][i]))});
    }
  }

 private:
  void place_target(const Target& target, std::size_t sites) {
    targets_.resize(3 * sites);
    for (std::size_t k = 0; k < targets_.size(); ++k) {
      if constexpr (kFixed<Real>) {
        const std::int32_t from_centre =
            static_cast<std::int32_t>(static_cast<std::uint32_t>(target.sites[k]) -
                                      static_cast<std::uint32_t>(target.centre[k % 3]));
        targets_[k] = static_cast<T>(from_centre * fixed_unit(interaction_.box[k % 3]));
      } else {
        targets_[k] = target.sites[k];
      }
    }
    arguments_.targets = targets_.data();
  }

  void place_sources(const Target& target, const List& list, std::size_t sites) {
    const D d;
    const std::size_t stride = arguments_.count;
    // A list's last vector is full of molecules; beyond it, whatever was here before does.
    static_assert(hn::MaxLanes(d) <= kMoleculeGrain<T>);
    sources_.resize(std::max(sources_.size(), sites * 3 * stride));
    for (std::size_t i = 0; i < list.count(); i += hn::Lanes(d)) {
      const Point<V> offset = this->centre_offset(target, list, i);
      for (std::size_t b = 0; b < sites; ++b) {
        const Point<V> site = relative_site(target, list, b, i, offset);
        T* const to = &sources_[3 * b * stride + i];
        hn::StoreU(site.x, d, to);
        hn::StoreU(site.y, d, to + stride);
        hn::StoreU(site.z, d, to + 2 * stride);
      }
    }
    arguments_.sources = sources_.data();
  }

  /// A site of the list's molecules from the target's centre.
  HWY_INLINE Point<V> relative_site(const Target& target, const List& list, std::size_t site,
                                    std::size_t first, const Point<V>& offset) const {
    if constexpr (kFixed<Real>) {
      const auto from_centre = [&](std::size_t k) HWY_ATTR {
        return this->displacements_.between(list.site(3 * site + k) + first, target.centre[k],
                                            static_cast<int>(k));
      };
      return {from_centre(0), from_centre(1), from_centre(2)};
    } else {
      return this->source_site(list, site, first, offset);
    }
  }

  /// limited_user_energy
  static HWY_INLINE V limited(V energy) {
    const V largest = hn::Set(D(), static_cast<T>(STARPMC_LARGEST_PAIR_ENERGY));
    return hn::Max(hn::IfThenElse(hn::Lt(energy, largest), energy, largest), hn::Neg(largest));
  }

  const Interaction& interaction_;
  std::unique_ptr<MoleculePairs<T>> function_;
  std::vector<SitePairTerms<T>> sites_;  ///< per pair of molecule types
  MoleculePairArguments<T> arguments_;
  std::vector<T> targets_;
  std::vector<T> sources_;
  std::vector<T> energies_[2];
};

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
