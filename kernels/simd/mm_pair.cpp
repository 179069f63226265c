#include "kernels/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/mm_pair.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include "kernels/operations.hpp"
#include "kernels/simd/molecule_row-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {
namespace {

template <class Function>
void for_each_entry(const Window& window, Function function) {
  for (int entry = 0; entry < window.candidates(); ++entry) function(entry);
  for (int slot = 0; slot < window.starts(); ++slot) function(start_entry(window.layout, slot));
}

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

template <class Real>
void pair_energies(const MmPairArguments<Real>& a) {
  const Window& window = a.window;
  using D = hn::ScalableTag<Real>;
  using V = VecOf<D>;
  const D d;
  const MoleculeRow<Real> row(window.topology, window.interaction);
  const auto stride = static_cast<std::size_t>(window.layout.molecules);
  const std::vector<Segment> types = segments(window.topology, a.first_molecule, a.last_molecule);
  MoleculeTarget<Real> target;
  for_each_entry(window, [&](int entry) {
    take_target(window, entry, target);
    WideSum<D> coulomb;
    WideSum<D> vdw;
    for (const Segment& segment : types) {
      const auto first = static_cast<std::size_t>(segment.first);
      const MoleculeSources<Real> sources{
          {&a.lattice[first], &a.lattice[stride + first], &a.lattice[2 * stride + first]},
          &a.lattice_sites[first],
          stride,
          &a.outside[first],
          static_cast<std::size_t>(segment.last - segment.first),
          segment.type};
      row(target, sources,
          [&](std::size_t, hn::Mask<D> lanes, const LaneEnergies<V>& energies) HWY_ATTR {
            coulomb.add(d, hn::IfThenElseZero(lanes, energies.coulomb));
            vdw.add(d, hn::IfThenElseZero(lanes, energies.vdw));
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

template <class Real>
void pair_table(const MmPairTableArguments<Real>& a) {
  const Window& window = a.window;
  using D = hn::ScalableTag<Real>;
  using V = VecOf<D>;
  const D d;
  const MoleculeRow<Real> row(window.topology, window.interaction);
  const auto rows = static_cast<std::size_t>(entry_capacity(window.layout));
  const auto groups = entry_groups<Real>(window, hn::Lanes(d));
  Real* const coulomb = a.table.data();
  Real* const vdw = coulomb + rows * rows;
  MoleculeTarget<Real> target;
  for_each_entry(window, [&](int entry) {
    take_target(window, entry, target);
    const int molecule = window.molecule_of_entry(entry);
    const std::size_t first = static_cast<std::size_t>(entry) * rows;
    std::fill_n(coulomb + first, window.candidates(), Real{0});
    std::fill_n(coulomb + first + window.layout.candidates, window.starts(), Real{0});
    std::fill_n(vdw + first, window.candidates(), Real{0});
    std::fill_n(vdw + first + window.layout.candidates, window.starts(), Real{0});
    for (const EntryGroup<Real>& group : groups) {
      if (group.entries.empty()) continue;
      const MoleculeSources<Real> sources{
          {group.centre[0].data(), group.centre[1].data(), group.centre[2].data()},
          group.sites.data(),
          group.stride,
          nullptr,
          group.entries.size(),
          group.type};
      row(target, sources,
          [&](std::size_t i, hn::Mask<D> lanes, const LaneEnergies<V>& e) HWY_ATTR {
            HWY_ALIGN Real coulomb_lanes[hn::MaxLanes(d)];
            HWY_ALIGN Real vdw_lanes[hn::MaxLanes(d)];
            hn::Store(hn::IfThenElseZero(lanes, e.coulomb), d, coulomb_lanes);
            hn::Store(hn::IfThenElseZero(lanes, e.vdw), d, vdw_lanes);
            const std::size_t count = std::min(hn::Lanes(d), group.entries.size() - i);
            for (std::size_t lane = 0; lane < count; ++lane) {
              const int other = group.entries[i + lane];
              if (window.molecule_of_entry(other) == molecule) continue;
              coulomb[first + static_cast<std::size_t>(other)] = coulomb_lanes[lane];
              vdw[first + static_cast<std::size_t>(other)] = vdw_lanes[lane];
            }
          });
    }
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
