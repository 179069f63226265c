#include "kernels/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/mm_pair.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "kernels/operations.hpp"
#include "kernels/simd/molecule_row-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {
namespace {

template <class Real>
void take_target(const Window& window, int entry, MoleculeTarget<Real>& target) {
  target.type = window.topology.type_of(window.molecule_of_entry(entry));
  for (int k = 0; k < 3; ++k) target.centre[k] = window.field(POSE_X + k, entry);
  target.sites.resize(static_cast<std::size_t>(3 * window.layout.sites));
  for (int k = 0; k < 3 * window.topology.site_count(target.type); ++k) {
    target.sites[static_cast<std::size_t>(k)] =
        static_cast<Real>(window.field(POSE_FIELDS + k, entry));
  }
}

/// The range of a lattice that holds molecules of one type.
struct Segment {
  int type;
  int first;
  int last;
};

std::vector<Segment> segments(const Topology& topology, int first, int last) {
  std::vector<Segment> result;
  for (int molecule = first; molecule < last; ++molecule) {
    const int type = topology.type_of(molecule);
    if (result.empty() || result.back().type != type) {
      result.push_back({type, molecule, molecule + 1});
    } else {
      result.back().last = molecule + 1;
    }
  }
  return result;
}

/// A molecule's energies with many others: in lanes of Real, and the near ones in fp64.
template <class Real>
class CompleteRow {
 public:
  CompleteRow(const Topology& topology, const Interaction& interaction)
      : topology_(topology), row_(topology, interaction), near_row_(topology, interaction) {}

  void set_target(const Window& window, int entry) {
    take_target(window, entry, target_);
    if constexpr (kMixed) take_target(window, entry, near_target_);
  }

  /// store(lanes, energies, index) as in MoleculeRow, index(lane) the source's index.
  template <class Store>
  void operator()(const MoleculeSources<Real>& sources, Store&& store) {
    near_.chosen.clear();
    row_(target_, sources, kMixed ? &near_.chosen : nullptr,
         [&](std::size_t first, auto lanes, const auto& energies) HWY_ATTR {
           store(lanes, energies, [first](std::size_t lane) { return first + lane; });
         });
    if (near_.chosen.empty()) return;
    const auto sites = static_cast<std::size_t>(topology_.site_count(sources.type));
    near_row_(near_target_, near_.gather(sources, sites), nullptr,
              [&](std::size_t first, auto lanes, const auto& energies) HWY_ATTR {
                store(lanes, energies,
                      [&, first](std::size_t lane) { return near_.chosen[first + lane]; });
              });
  }

 private:
  static constexpr bool kMixed = sizeof(Real) < sizeof(double);
  const Topology& topology_;
  MoleculeRow<Real> row_;
  MoleculeRow<double> near_row_;
  MoleculeTarget<Real> target_;
  MoleculeTarget<double> near_target_;
  NearMolecules<Real> near_;
};

/// fp64 sums of vectors of either type.
struct EnergySums {
  WideSum<hn::ScalableTag<float>> single;
  WideSum<hn::ScalableTag<double>> wide;

  HWY_INLINE EnergySums() {}
  HWY_INLINE void add(VecOf<hn::ScalableTag<float>> v) { single.add(hn::ScalableTag<float>(), v); }
  HWY_INLINE void add(VecOf<hn::ScalableTag<double>> v) { wide.add(hn::ScalableTag<double>(), v); }
  HWY_INLINE double total() const { return single.total() + wide.total(); }
};

template <class Real>
void pair_energies(const MmPairArguments<Real>& a) {
  const Window& window = a.window;
  CompleteRow<Real> row(window.topology, window.interaction);
  const auto stride = static_cast<std::size_t>(window.layout.molecules);
  const std::vector<Segment> types = segments(window.topology, a.first_molecule, a.last_molecule);
  for_each_entry(window, [&](int entry) {
    row.set_target(window, entry);
    EnergySums coulomb;
    EnergySums vdw;
    for (const Segment& segment : types) {
      const auto first = static_cast<std::size_t>(segment.first);
      const MoleculeSources<Real> sources{
          {&a.lattice[first], &a.lattice[stride + first], &a.lattice[2 * stride + first]},
          &a.lattice_sites[first],
          stride,
          &a.outside[first],
          static_cast<std::size_t>(segment.last - segment.first),
          segment.type};
      row(sources, [&](auto lanes, const auto& energies, auto) HWY_ATTR {
        coulomb.add(hn::IfThenElseZero(lanes, energies.coulomb));
        vdw.add(hn::IfThenElseZero(lanes, energies.vdw));
      });
    }
    a.energies[static_cast<std::size_t>(entry)] = coulomb.total();
    a.energies[static_cast<std::size_t>(entry_capacity(window.layout) + entry)] = vdw.total();
  });
}

/// The window's entries of one molecule type, side by side.
template <class Real>
struct EntryGroup {
  int type = 0;
  std::size_t stride = 0;
  std::vector<int> entries;
  std::vector<double> centre[3];
  std::vector<Real> sites;
};

template <class Real>
std::vector<EntryGroup<Real>> entry_groups(const Window& window, std::size_t lanes) {
  std::vector<EntryGroup<Real>> groups(
      static_cast<std::size_t>(window.topology.shape.molecule_types));
  for_each_entry(window, [&](int entry) {
    const int type = window.topology.type_of(window.molecule_of_entry(entry));
    groups[static_cast<std::size_t>(type)].entries.push_back(entry);
  });
  for (std::size_t type = 0; type < groups.size(); ++type) {
    EntryGroup<Real>& group = groups[type];
    group.type = static_cast<int>(type);
    group.stride = group.entries.size() + lanes;
    const int fields = 3 * window.topology.site_count(group.type);
    group.sites.assign(static_cast<std::size_t>(fields) * group.stride, Real{0});
    for (int k = 0; k < 3; ++k) {
      group.centre[k].assign(group.stride, 0.0);
      for (std::size_t i = 0; i < group.entries.size(); ++i) {
        group.centre[k][i] = window.field(POSE_X + k, group.entries[i]);
      }
    }
    for (int k = 0; k < fields; ++k) {
      for (std::size_t i = 0; i < group.entries.size(); ++i) {
        group.sites[static_cast<std::size_t>(k) * group.stride + i] =
            static_cast<Real>(window.field(POSE_FIELDS + k, group.entries[i]));
      }
    }
  }
  return groups;
}

/// Writes the energies of some lanes into a row of the table, which holds 0 where no lane is taken.
template <class Real, class Energies, class Mask, class Index>
HWY_INLINE void put_lanes(Mask lanes, const Energies& energies, Index index,
                          const std::vector<int>& entries, Real* coulomb, Real* vdw) {
  using V = std::remove_cvref_t<decltype(energies.coulomb)>;
  const hn::DFromV<V> d;
  using T = hn::TFromD<decltype(d)>;
  const std::size_t first = index(0);
  if constexpr (std::is_same_v<T, Real>) {
    const std::size_t last = first + hn::Lanes(d) - 1;
    if (last < entries.size() &&
        entries[last] - entries[first] == static_cast<int>(hn::Lanes(d)) - 1 &&
        index(1) == first + 1) {
      hn::StoreU(hn::IfThenElseZero(lanes, energies.coulomb), d, coulomb + entries[first]);
      hn::StoreU(hn::IfThenElseZero(lanes, energies.vdw), d, vdw + entries[first]);
      return;
    }
  }
  HWY_ALIGN T coulomb_lanes[hn::MaxLanes(d)];
  HWY_ALIGN T vdw_lanes[hn::MaxLanes(d)];
  hn::Store(energies.coulomb, d, coulomb_lanes);
  hn::Store(energies.vdw, d, vdw_lanes);
  std::uint8_t bits[8] = {};
  hn::StoreMaskBits(d, lanes, bits);
  for (std::size_t lane = 0; lane < hn::Lanes(d); ++lane) {
    if ((bits[lane / 8] >> (lane % 8) & 1) == 0) continue;
    const int other = entries[index(lane)];
    coulomb[other] = static_cast<Real>(coulomb_lanes[lane]);
    vdw[other] = static_cast<Real>(vdw_lanes[lane]);
  }
}

template <class Real>
void pair_table(const MmPairTableArguments<Real>& a) {
  const Window& window = a.window;
  CompleteRow<Real> row(window.topology, window.interaction);
  const auto rows = static_cast<std::size_t>(entry_capacity(window.layout));
  const auto groups = entry_groups<Real>(window, hn::Lanes(hn::ScalableTag<Real>()));
  std::vector<int> molecules(rows);
  for_each_entry(window, [&](int entry) {
    molecules[static_cast<std::size_t>(entry)] = window.molecule_of_entry(entry);
  });
  for_each_entry(window, [&](int entry) {
    row.set_target(window, entry);
    const int molecule = molecules[static_cast<std::size_t>(entry)];
    Real* const coulomb = &a.table[static_cast<std::size_t>(entry) * rows];
    Real* const vdw = coulomb + rows * rows;
    for (Real* const term : {coulomb, vdw}) {
      std::fill_n(term, window.candidates(), Real{0});
      std::fill_n(term + window.layout.candidates, window.starts(), Real{0});
    }
    for (const EntryGroup<Real>& group : groups) {
      if (group.entries.empty()) continue;
      const MoleculeSources<Real> sources{
          {group.centre[0].data(), group.centre[1].data(), group.centre[2].data()},
          group.sites.data(),
          group.stride,
          nullptr,
          group.entries.size(),
          group.type};
      row(sources, [&](auto lanes, const auto& energies, auto index) HWY_ATTR {
        put_lanes(lanes, energies, index, group.entries, coulomb, vdw);
      });
    }
    for_each_entry(window, [&](int other) {
      if (molecules[static_cast<std::size_t>(other)] != molecule) return;
      coulomb[other] = vdw[other] = Real{0};
    });
  });
}

}  // namespace

void MmPairFp64(const MmPairArguments<double>& a) { pair_energies(a); }
void MmPairMixed(const MmPairArguments<float>& a) { pair_energies(a); }
void MmPairTableFp64(const MmPairTableArguments<double>& a) { pair_table(a); }
void MmPairTableMixed(const MmPairTableArguments<float>& a) { pair_table(a); }

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace starpmc::simd {
HWY_EXPORT(MmPairFp64);
HWY_EXPORT(MmPairMixed);
HWY_EXPORT(MmPairTableFp64);
HWY_EXPORT(MmPairTableMixed);

template <>
void mm_pair(const MmPairArguments<double>& a) {
  HWY_DYNAMIC_DISPATCH(MmPairFp64)(a);
}
template <>
void mm_pair(const MmPairArguments<float>& a) {
  HWY_DYNAMIC_DISPATCH(MmPairMixed)(a);
}
template <>
void mm_pair_table(const MmPairTableArguments<double>& a) {
  HWY_DYNAMIC_DISPATCH(MmPairTableFp64)(a);
}
template <>
void mm_pair_table(const MmPairTableArguments<float>& a) {
  HWY_DYNAMIC_DISPATCH(MmPairTableMixed)(a);
}
}  // namespace starpmc::simd
#endif
