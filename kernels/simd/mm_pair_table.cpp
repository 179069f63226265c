#include "kernels/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/mm_pair_table.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include "kernels/entry_groups.hpp"
#include "kernels/operations.hpp"
#include "kernels/simd/complete_row-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {
namespace {

/// What a call needs memory for, kept by its thread between calls.
template <class Real>
struct TableMemory {
  MoleculeSet<Real> entries;
  NeighbourMemory<Real> neighbours;
};

/// mm_pair_table for one window. The table is symmetric: every group of entries meets the entries
/// of later slots, and each energy is written twice.
template <class Real>
class PairTable {
 public:
  PairTable(const MmPairTableArguments<Real>& arguments, TableMemory<Real>& memory)
      : a_(arguments),
        rows_(static_cast<std::size_t>(entry_capacity(a_.window.layout))),
        groups_(a_.window),
        reach_(a_.window.topology, a_.window.interaction),
        row_(a_.window),
        neighbours_(a_.window.interaction, memory.neighbours),
        set_(memory.entries) {
    set_.reset(groups_.entries().size(), static_cast<std::size_t>(a_.window.layout.sites));
    entries_.reserve(groups_.entries().size());
    for (int type = 0; type < a_.window.topology.shape.molecule_types; ++type) {
      const std::size_t first = entries_.size();
      for (const EntryGroup& group : groups_.groups()) {
        if (group.type != type) continue;
        for (const int entry : group.entries) add_to_set(entry, type);
      }
      later_.push_back({first, entries_.size()});
    }
  }

  void run() {
    clear();
    const std::span<const EntryGroup> groups = groups_.groups();
    for (std::size_t first = 0; first < groups.size();) {
      std::size_t last = first;
      for (; last < groups.size() && groups[last].slot == groups[first].slot; ++last) {
        later_[static_cast<std::size_t>(groups[last].type)].first += groups[last].entries.size();
      }
      for (; first < last; ++first) {
        for (std::size_t type = 0; type < later_.size(); ++type) {
          if (later_[type].first < later_[type].last) fill(groups[first], static_cast<int>(type));
        }
      }
    }
  }

 private:
  using Word = WordOf<Real>;

  void add_to_set(int entry, int type) {
    const Window& window = a_.window;
    const std::size_t at = entries_.size();
    entries_.push_back(entry);
    double centre[3];
    Word* const record = set_.record(at);
    for (std::size_t k = 0; k < 3; ++k) {
      centre[k] = window.field(POSE_X + static_cast<int>(k), entry);
      const Word word = word_of<Real>(stored_centre<Real>(centre[k], window.interaction.box[k]));
      set_.centre(k)[at] = word;
      if (!kFixed<Real>) record[k] = word;
    }
    for (int k = 0; k < 3 * window.topology.site_count(type); ++k) {
      record[kFirstSiteWord<Real> + static_cast<std::size_t>(k)] =
          word_of<Real>(stored_target_site<Real, PairReal<Real>>(
              centre[k % 3], window.field(POSE_FIELDS + k, entry), window.interaction.box[k % 3]));
    }
  }

  /// Most pairs are of one molecule or beyond reach.
  void clear() {
    for_each_entry(a_.window, [&](int entry) {
      for (std::size_t term = 0; term < MM_TERMS; ++term) {
        PairReal<Real>* const row =
            &a_.table[(term * rows_ + static_cast<std::size_t>(entry)) * rows_];
        std::fill_n(row, a_.window.candidates(), PairReal<Real>{0});
        std::fill_n(row + a_.window.layout.candidates, a_.window.starts(), PairReal<Real>{0});
      }
    });
  }

  /// Energies of a group's entries with the entries of later slots and one type.
  void fill(const EntryGroup& group, int type) {
    collect(neighbours_, a_.window, group, reach_(group.type, type), set_,
            {&later_[static_cast<std::size_t>(type)], 1}, type);
    for (const int entry : group.entries) {
      row_.set_target(entry, group.type);
      row_(
          type, neighbours_,
          [&](const MoleculeList<Real>& from, std::size_t at, auto lanes, const auto& energies)
              HWY_ATTR { put(static_cast<std::size_t>(entry), from.ids() + at, lanes, energies); });
    }
  }

  /// Writes the energies of an entry with others into the table.
  template <class Lanes, class Energies>
  HWY_INLINE void put(std::size_t entry, const Word* others, Lanes lanes,
                      const Energies& energies) {
    const hn::DFromV<decltype(energies.coulomb)> d;
    using T = hn::TFromD<decltype(d)>;
    HWY_ALIGN T coulomb[hn::MaxLanes(d)];
    HWY_ALIGN T vdw[hn::MaxLanes(d)];
    hn::Store(energies.coulomb, d, coulomb);
    hn::Store(energies.vdw, d, vdw);
    const std::size_t count = hn::CountTrue(d, lanes);
    for (std::size_t lane = 0; lane < count; ++lane) {
      const auto other = static_cast<std::size_t>(entries_[static_cast<std::size_t>(others[lane])]);
      a_.put(TERM_MM_COULOMB, entry, other, static_cast<PairReal<Real>>(coulomb[lane]));
      a_.put(TERM_MM_VDW, entry, other, static_cast<PairReal<Real>>(vdw[lane]));
    }
  }

  const MmPairTableArguments<Real>& a_;
  std::size_t rows_;
  EntryGroups groups_;
  MoleculeReach reach_;
  CompleteRow<Real> row_;
  Neighbours<Real> neighbours_;
  MoleculeSet<Real>& set_;          ///< the window's entries by type, then by slot
  std::vector<int> entries_;        ///< of the set
  std::vector<MoleculeRun> later_;  ///< per type, those of later slots
};

template <class Real>
void pair_table(const MmPairTableArguments<Real>& a) {
  static thread_local TableMemory<Real> memory;
  PairTable<Real>(a, memory).run();
}

}  // namespace

void MmPairTableFp64(const MmPairTableArguments<double>& a) { pair_table(a); }
void MmPairTableMixed(const MmPairTableArguments<float>& a) { pair_table(a); }
void MmPairTableFixed(const MmPairTableArguments<FixedCoordinate>& a) { pair_table(a); }

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace starpmc::simd {
HWY_EXPORT(MmPairTableFp64);
HWY_EXPORT(MmPairTableMixed);
HWY_EXPORT(MmPairTableFixed);

template <>
void mm_pair_table(const MmPairTableArguments<double>& a) {
  HWY_DYNAMIC_DISPATCH(MmPairTableFp64)(a);
}
template <>
void mm_pair_table(const MmPairTableArguments<float>& a) {
  HWY_DYNAMIC_DISPATCH(MmPairTableMixed)(a);
}
template <>
void mm_pair_table(const MmPairTableArguments<FixedCoordinate>& a) {
  HWY_DYNAMIC_DISPATCH(MmPairTableFixed)(a);
}
}  // namespace starpmc::simd
#endif
