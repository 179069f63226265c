// Energies of one molecule with many of one type, a molecule per lane: shared by mm_pair and
// mm_pair_table. Included once per instruction set.
#if defined(STARPMC_MOLECULE_ROW_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STARPMC_MOLECULE_ROW_INL
#undef STARPMC_MOLECULE_ROW_INL
#else
#define STARPMC_MOLECULE_ROW_INL
#endif

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/simd/pair_sum-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {

/// Molecules of one type side by side; loads may run past `count` by a vector less one.
template <class Real>
struct MoleculeSources {
  const double* centre[3];  ///< wide
  const Real* sites;        ///< 3 arrays per site, `stride` apart
  std::size_t stride;
  const Real* take_part;  ///< 0: leave the molecule out; may be null
  std::size_t count;
  int type;
};

/// A molecule whose energies with the sources are wanted.
template <class Real>
struct MoleculeTarget {
  double centre[3];
  std::vector<Real> sites;  ///< x, y, z of each site relative to the centre
  int type;
};

/// Pair coefficients of every site of one molecule type with every site of another.
template <class Real>
class SitePairs {
 public:
  struct Coefficients {
    Real charge;  ///< Coulomb constant times both charges
    Real c12, c6, shift, slope;
    bool has_vdw;
  };

  SitePairs(const Topology& topology, int type_a, int type_b)
      : sites_a(static_cast<std::size_t>(topology.site_count(type_a))),
        sites_b(static_cast<std::size_t>(topology.site_count(type_b))) {
    for (int i = 0; i < topology.site_count(type_a); ++i) {
      for (int j = 0; j < topology.site_count(type_b); ++j) {
        const double* const c =
            topology.pair(topology.site_type(type_a, i), topology.site_type(type_b, j));
        pairs_.push_back({static_cast<Real>(STARPMC_COULOMB_CONSTANT * topology.site(type_a, i)[3] *
                                            topology.site(type_b, j)[3]),
                          static_cast<Real>(c[0]), static_cast<Real>(c[1]), static_cast<Real>(c[2]),
                          static_cast<Real>(c[3]), c[0] != 0 || c[1] != 0});
      }
    }
  }
  const Coefficients& operator()(std::size_t a, std::size_t b) const {
    return pairs_[a * sites_b + b];
  }

  std::size_t sites_a;
  std::size_t sites_b;

 private:
  std::vector<Coefficients> pairs_;
};

template <class V>
struct LaneEnergies {
  V coulomb;
  V vdw;
};

template <class Real>
class MoleculeRow {
 public:
  using D = hn::ScalableTag<Real>;
  using V = VecOf<D>;

  MoleculeRow(const Topology& topology, const Interaction& interaction)
      : topology_(topology),
        interaction_(interaction),
        coulomb_(D(), interaction.coulomb_cutoff),
        periodic_(D(), interaction) {
    vdw_cutoff_squared_ =
        hn::Set(D(), static_cast<Real>(interaction.vdw_cutoff * interaction.vdw_cutoff));
    radius_.assign(static_cast<std::size_t>(topology.shape.molecule_types), 0.0);
    for (int type = 0; type < topology.shape.molecule_types; ++type) {
      for (int site = 0; site < topology.site_count(type); ++site) {
        const double* const r = topology.site(type, site);
        radius_[static_cast<std::size_t>(type)] =
            std::max(radius_[static_cast<std::size_t>(type)],
                     std::sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]));
      }
      for (int other = 0; other < topology.shape.molecule_types; ++other) {
        pairs_.emplace_back(topology, type, other);
      }
    }
  }

  /// Calls store(first lane's index, lanes that count, energies) for each vector of sources that is
  /// not wholly beyond reach.
  /// @param near  receives the sources nearer than STARPMC_NEAR_DISTANCE, which are then left out;
  ///              null: none is
  template <class Store>
  void operator()(const MoleculeTarget<Real>& target, const MoleculeSources<Real>& sources,
                  std::vector<std::size_t>* near, Store&& store) const {
    const D d;
    const SitePairs<Real>& pairs = pairs_[static_cast<std::size_t>(
        target.type * topology_.shape.molecule_types + sources.type)];
    const double cutoff = std::max(interaction_.coulomb_cutoff, interaction_.vdw_cutoff);
    const double reach = cutoff + radius_[static_cast<std::size_t>(target.type)] +
                         radius_[static_cast<std::size_t>(sources.type)] + 1e-3;
    const double shortest =
        std::min({interaction_.box[0], interaction_.box[1], interaction_.box[2]});
    const bool one_image = reach <= shortest / 2;
    const V reach_squared = hn::Set(d, static_cast<Real>(reach * reach));
    const V near_squared =
        hn::Set(d, static_cast<Real>(STARPMC_NEAR_DISTANCE * STARPMC_NEAR_DISTANCE));
    for (std::size_t i = 0; i < sources.count; i += hn::Lanes(d)) {
      Point<V> offset;
      offset.x = wrapped_offsets(d, sources.centre[0] + i, target.centre[0], interaction_.box[0]);
      offset.y = wrapped_offsets(d, sources.centre[1] + i, target.centre[1], interaction_.box[1]);
      offset.z = wrapped_offsets(d, sources.centre[2] + i, target.centre[2], interaction_.box[2]);
      const V d2 = hn::MulAdd(offset.x, offset.x,
                              hn::MulAdd(offset.y, offset.y, hn::Mul(offset.z, offset.z)));
      auto lanes = hn::FirstN(d, sources.count - i);
      if (sources.take_part != nullptr) {
        lanes = hn::And(lanes, hn::Gt(hn::LoadU(d, sources.take_part + i), hn::Zero(d)));
      }
      if (one_image) lanes = hn::And(lanes, hn::Lt(d2, reach_squared));
      if (near != nullptr) {
        const auto close = hn::And(lanes, hn::Lt(d2, near_squared));
        if (!hn::AllFalse(d, close)) {
          append_lanes(close, i, *near);
          lanes = hn::AndNot(close, lanes);
        }
      }
      if (hn::AllFalse(d, lanes)) continue;
      const LaneEnergies<V> energies =
          one_image ? lane_energies<Care::cut>(target, sources, pairs, i, offset)
                    : lane_energies<Care::full>(target, sources, pairs, i, offset);
      store(i, lanes, energies);
    }
  }

 private:
  static void append_lanes(hn::Mask<D> lanes, std::size_t first, std::vector<std::size_t>& list) {
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(D(), lanes, bits);
    for (std::size_t lane = 0; lane < hn::Lanes(D()); ++lane) {
      if ((bits[lane / 8] >> (lane % 8) & 1) != 0) list.push_back(first + lane);
    }
  }

  /// Care::cut still needs the minimum distance: molecules may be proposed on top of each other.
  template <Care kCare>
  HWY_INLINE LaneEnergies<V> lane_energies(const MoleculeTarget<Real>& target,
                                           const MoleculeSources<Real>& sources,
                                           const SitePairs<Real>& pairs, std::size_t first,
                                           const Point<V>& offset) const {
    const D d;
    const V closest = hn::Set(d, static_cast<Real>(STARPMC_MINIMUM_DISTANCE_SQUARED));
    LaneEnergies<V> sum{hn::Zero(d), hn::Zero(d)};
    for (std::size_t b = 0; b < pairs.sites_b; ++b) {
      const Real* const site = sources.sites + 3 * b * sources.stride + first;
      const Point<V> source{hn::Add(offset.x, hn::LoadU(d, site)),
                            hn::Add(offset.y, hn::LoadU(d, site + sources.stride)),
                            hn::Add(offset.z, hn::LoadU(d, site + 2 * sources.stride))};
      for (std::size_t a = 0; a < pairs.sites_a; ++a) {
        const Real* const t = &target.sites[3 * a];
        const Point<V> targets[1] = {{hn::Set(d, t[0]), hn::Set(d, t[1]), hn::Set(d, t[2])}};
        const auto& c = pairs(a, b);
        pair_step<1, kCare>(d, targets, source, periodic_, [&](std::size_t, V r2) HWY_ATTR {
          r2 = hn::Max(r2, closest);
          add_pair(c, r2, sum);
        });
      }
    }
    const V largest = hn::Set(d, static_cast<Real>(STARPMC_LARGEST_PAIR_ENERGY));
    return {hn::Min(sum.coulomb, largest), hn::Min(sum.vdw, largest)};
  }

  HWY_INLINE void add_pair(const typename SitePairs<Real>::Coefficients& c, V r2,
                           LaneEnergies<V>& sum) const {
    const D d;
    if (c.charge == 0 && !c.has_vdw) return;
    const Distance<V> r = distance(d, r2);
    if (c.charge != 0) {
      sum.coulomb = hn::MulAdd(hn::Set(d, c.charge), coulomb_.energy_within(r), sum.coulomb);
    }
    if (c.has_vdw) {
      const V inverse2 = hn::Mul(r.inverse, r.inverse);
      const V inverse6 = hn::Mul(hn::Mul(inverse2, inverse2), inverse2);
      const V lj = hn::Mul(hn::MulSub(hn::Set(d, c.c12), inverse6, hn::Set(d, c.c6)), inverse6);
      const V shift = hn::MulAdd(hn::Set(d, c.slope), r.r, hn::Set(d, c.shift));
      sum.vdw =
          hn::Add(sum.vdw, hn::IfThenElseZero(hn::Lt(r2, vdw_cutoff_squared_), hn::Add(lj, shift)));
    }
  }

  const Topology& topology_;
  const Interaction& interaction_;
  CoulombLanes<D> coulomb_;
  Periodic<D> periodic_;
  V vdw_cutoff_squared_;
  std::vector<double> radius_;
  std::vector<SitePairs<Real>> pairs_;  ///< per pair of molecule types
};

/// The fp64 part of a mixed row: the near molecules of a set of sources, side by side.
template <class Real>
class NearMolecules {
 public:
  std::vector<std::size_t> chosen;

  /// Gathers the chosen molecules of `sources`.
  MoleculeSources<double> gather(const MoleculeSources<Real>& sources, std::size_t sites) {
    const std::size_t stride = chosen.size() + hn::Lanes(hn::ScalableTag<double>());
    for (std::size_t k = 0; k < 3; ++k) {
      centre_[k].resize(stride);
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        centre_[k][i] = sources.centre[k][chosen[i]];
      }
    }
    sites_.resize(3 * sites * stride);
    for (std::size_t k = 0; k < 3 * sites; ++k) {
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        sites_[k * stride + i] = static_cast<double>(sources.sites[k * sources.stride + chosen[i]]);
      }
    }
    return {{centre_[0].data(), centre_[1].data(), centre_[2].data()},
            sites_.data(),
            stride,
            nullptr,
            chosen.size(),
            sources.type};
  }

 private:
  std::vector<double> centre_[3];
  std::vector<double> sites_;
};

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
