#include "kernels/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/mm_pair.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <vector>

#include "kernels/entry_groups.hpp"
#include "kernels/operations.hpp"
#include "kernels/simd/cell_list-inl.hpp"
#include "kernels/simd/complete_row-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {
namespace {

/// Sum of energies in whole units.
template <class Real>
struct EnergySum {
  using Wide = hn::ScalableTag<double>;
  VecOf<Wide> sum;

  HWY_INLINE EnergySum() : sum(hn::Zero(Wide())) {}
  template <class V>
  HWY_INLINE void add(V energies) {
    for_each_wide<Real>(
        energies, [this](VecOf<Wide> part, std::size_t) HWY_ATTR { sum = hn::Add(sum, part); });
  }
  HWY_INLINE double total() const { return hn::GetLane(hn::SumOfLanes(Wide(), sum)); }
};

/// What a call needs memory for, kept by its thread between calls.
template <class Real>
struct PairMemory {
  CellList<Real> cells;
  NeighbourMemory<Real> neighbours;
  CompleteRowMemory<Real> row;
};

/// mm_pair for one window.
template <class Real>
class PairEnergies {
 public:
  PairEnergies(const MmPairArguments<Real>& arguments, PairMemory<Real>& memory)
      : a_(arguments),
        reach_(a_.window.topology, a_.window.interaction),
        row_(a_.window, memory.row),
        neighbours_(a_.window.interaction, memory.neighbours),
        cells_(memory.cells) {
    cells_.build(a_, reach_.largest());
  }

  void run() {
    const EntryGroups groups(a_.window);
    for (const EntryGroup& group : groups.groups()) {
      for (const int entry : group.entries) {
        for (int term = 0; term < MM_TERMS; ++term) energy(term, entry) = 0;
      }
      for (int type = 0; type < a_.window.topology.shape.molecule_types; ++type) {
        add_energies(group, type);
      }
    }
  }

 private:
  double& energy(int term, int entry) {
    return a_.energies[static_cast<std::size_t>(term * entry_capacity(a_.window.layout) + entry)];
  }

  /// Energies of a group's entries with the molecules of one type.
  void add_energies(const EntryGroup& group, int type) {
    const double reach = reach_(group.type, type);
    collect(neighbours_, a_.window, group, reach, cells_.molecules(),
            cells_.within(type, group.centre, reach + group.spread), type);
    for (const int entry : group.entries) {
      row_.set_target(entry, group.type);
      EnergySum<Real> coulomb;
      EnergySum<Real> vdw;
      row_(type, neighbours_,
           [&](const MoleculeList<Real>&, std::size_t, auto lanes, const auto& energies) HWY_ATTR {
             coulomb.add(hn::IfThenElseZero(lanes, energies.coulomb));
             vdw.add(hn::IfThenElseZero(lanes, energies.vdw));
           });
      energy(TERM_MM_COULOMB, entry) += coulomb.total();
      energy(TERM_MM_VDW, entry) += vdw.total();
    }
  }

  const MmPairArguments<Real>& a_;
  MoleculeReach reach_;
  CompleteRow<Real> row_;
  Neighbours<Real> neighbours_;
  CellList<Real>& cells_;
};

template <class Real>
void pair_energies(const MmPairArguments<Real>& a) {
  static thread_local PairMemory<Real> memory;
  PairEnergies<Real>(a, memory).run();
}

}  // namespace

void MmPairFp64(const MmPairArguments<double>& a) { pair_energies(a); }
void MmPairMixed(const MmPairArguments<float>& a) { pair_energies(a); }
void MmPairFixed(const MmPairArguments<FixedCoordinate>& a) { pair_energies(a); }

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace starpmc::simd {
HWY_EXPORT(MmPairFp64);
HWY_EXPORT(MmPairMixed);
HWY_EXPORT(MmPairFixed);

template <>
void mm_pair(const MmPairArguments<double>& a) {
  HWY_DYNAMIC_DISPATCH(MmPairFp64)(a);
}
template <>
void mm_pair(const MmPairArguments<float>& a) {
  HWY_DYNAMIC_DISPATCH(MmPairMixed)(a);
}
template <>
void mm_pair(const MmPairArguments<FixedCoordinate>& a) {
  HWY_DYNAMIC_DISPATCH(MmPairFixed)(a);
}
}  // namespace starpmc::simd
#endif
