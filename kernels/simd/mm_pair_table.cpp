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
  CompleteRowMemory<Real> row;
};

/// mm_pair_table for one window. An energy has the same bits whichever of its molecules moves, so
/// every group of entries meets the entries of later slots, and each energy is written twice.
template <class Real>
class PairTable {
 public:
  PairTable(const MmPairTableArguments<Real>& arguments, TableMemory<Real>& memory)
      : a_(arguments),
        rows_(static_cast<std::size_t>(entry_capacity(a_.window.layout))),
        groups_(a_.window),
        reach_(a_.window.topology, a_.window.interaction),
        row_(a_.window, memory.row),
        neighbours_(a_.window.interaction, memory.neighbours),
        set_(memory.entries) {
    set_.reset(groups_.entries().size(), static_cast<std::size_t>(a_.window.layout.sites));
    entry_of_.reserve(groups_.entries().size());
    row_of_.reserve(groups_.entries().size());
    find_slots();
    for (int type = 0; type < a_.window.topology.shape.molecule_types; ++type) {
      met_.emplace_back(members_.size());
      sort_by_slot(type);
    }
  }

  void run() {
    clear();
    for (const EntryGroup& group : groups_.groups()) {
      for (std::size_t type = 0; type < met_.size(); ++type) {
        const MoleculeRun& run = met_[type][at(group.slot)];
        if (run.first < run.last) fill(group, run, static_cast<int>(type));
      }
      clear_own(group);
    }
  }

 private:
  using Word = WordOf<Real>;

  static std::size_t at(int value) { return static_cast<std::size_t>(value); }

  /// Where the entries of a slot are among those of groups_. Where there are no starts, a step has
  /// one entry and is a slot.
  void find_slots() {
    const Window& window = a_.window;
    members_.resize(at(window.starts() > 0 ? window.starts() : window.candidates()), {});
    std::size_t first = 0;
    for (const EntryGroup& group : groups_.groups()) {
      MoleculeRun& run = members_[at(group.slot)];
      if (run.last == 0) run.first = first;
      run.last = first += group.entries.size();
    }
  }

  /// Adds the entries of a type to the set, slot by slot.
  void sort_by_slot(int type) {
    std::vector<MoleculeRun>& met = met_.back();
    for (const EntryGroup& group : groups_.groups()) {
      if (group.type == type) {
        for (const int entry : group.entries) add_to_set(entry, type);
      }
      met[at(group.slot)].first = row_of_.size();
    }
    for (MoleculeRun& run : met) run.last = row_of_.size();
  }

  void add_to_set(int entry, int type) {
    const Window& window = a_.window;
    const std::size_t index = row_of_.size();
    entry_of_.push_back(at(entry));
    row_of_.push_back(at(entry) * rows_);
    double centre[3];
    Word* const record = set_.record(index);
    for (std::size_t k = 0; k < 3; ++k) {
      centre[k] = window.field(POSE_X + static_cast<int>(k), entry);
      const Word word = word_of<Real>(stored_centre<Real>(centre[k], window.interaction.box[k]));
      set_.centre(k)[index] = word;
      record[k] = word;
    }
    for (int k = 0; k < 3 * window.topology.site_count(type); ++k) {
      record[kFirstSiteWord + static_cast<std::size_t>(k)] =
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

  /// A molecule has no energy with itself.
  void clear_own(const EntryGroup& group) {
    const MoleculeRun& own = members_[at(group.slot)];
    for (const int member : groups_.entries().subspan(own.first, own.last - own.first)) {
      for (const int entry : group.entries) {
        for (std::size_t term = 0; term < MM_TERMS; ++term) a_.put(term, at(entry), at(member), 0);
      }
    }
  }

  /// Energies of a group's entries with a run of entries of one type.
  void fill(const EntryGroup& group, const MoleculeRun& run, int type) {
    collect(neighbours_, a_.window, group, reach_(group.type, type), set_, {&run, 1}, type);
    for (const int entry : group.entries) {
      row_.set_target(entry, group.type);
      row_(type, neighbours_,
           [&](const MoleculeList<Real>& from, std::size_t first, auto lanes, const auto& energies)
               HWY_ATTR { put(at(entry), from.ids() + first, lanes, energies); });
    }
  }

  /// Writes the energies of an entry with others into the table.
  template <class Lanes, class Energies>
  HWY_INLINE void put(std::size_t entry, const Word* others, Lanes lanes,
                      const Energies& energies) {
    const hn::DFromV<decltype(energies.coulomb)> d;
    HWY_ALIGN PairReal<Real> coulomb[hn::MaxLanes(d)];
    HWY_ALIGN PairReal<Real> vdw[hn::MaxLanes(d)];
    store(energies.coulomb, coulomb);
    store(energies.vdw, vdw);
    const std::size_t vdw_first = rows_ * rows_;
    static_assert(TERM_MM_COULOMB == 0 && TERM_MM_VDW == 1);
    PairReal<Real>* const column = &a_.table[entry];
    PairReal<Real>* const row = &a_.table[entry * rows_];
    for_each_selected(d, lanes, [&](std::size_t lane) {
      const auto other = static_cast<std::size_t>(others[lane]);
      column[row_of_[other]] = coulomb[lane];
      column[row_of_[other] + vdw_first] = vdw[lane];
      row[entry_of_[other]] = coulomb[lane];
      row[entry_of_[other] + vdw_first] = vdw[lane];
    });
  }

  /// Stores energies in whole units.
  template <class V>
  static HWY_INLINE void store(V energies, PairReal<Real>* to) {
    for_each_wide<Real>(energies,
                        [to](VecOf<hn::ScalableTag<double>> part, std::size_t first) HWY_ATTR {
                          const hn::ScalableTag<double> wide;
                          if constexpr (sizeof(PairReal<Real>) == sizeof(float)) {
                            const hn::Rebind<float, decltype(wide)> single;
                            hn::StoreU(hn::DemoteTo(single, part), single, to + first);
                          } else {
                            hn::StoreU(part, wide, to + first);
                          }
                        });
  }

  const MmPairTableArguments<Real>& a_;
  std::size_t rows_;
  EntryGroups groups_;
  MoleculeReach reach_;
  CompleteRow<Real> row_;
  Neighbours<Real> neighbours_;
  MoleculeSet<Real>& set_;                     ///< the window's entries by type
  std::vector<std::size_t> entry_of_;          ///< of the set
  std::vector<std::size_t> row_of_;            ///< in the table, of each entry of the set
  std::vector<MoleculeRun> members_;           ///< by slot, see find_slots()
  std::vector<std::vector<MoleculeRun>> met_;  ///< by type and slot: what its entries meet
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
