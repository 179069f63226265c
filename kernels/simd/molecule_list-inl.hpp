// Molecules side by side, a molecule per lane, and the displacements between them: shared by
// mm_pair and mm_pair_table. Included once per instruction set.
#if defined(STARPMC_MOLECULE_LIST_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STARPMC_MOLECULE_LIST_INL
#undef STARPMC_MOLECULE_LIST_INL
#else
#define STARPMC_MOLECULE_LIST_INL
#endif

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "kernels/simd/pair_sum-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {

template <class Real>
inline constexpr bool kFixed = kPrecisionOf<Real> == Precision::fixed;

/// What lists keep of a molecule: its centre (below fp64 as fixed_coordinate(), whose differences
/// wrap for nothing and lie within 1e-8 of the edge), and its sites as lattice_sites has them.
template <class Real>
struct Stored {
  using Centre = std::int32_t;
  using Site = Real;
};
template <>
struct Stored<double> {
  using Centre = double;
  using Site = double;
};
template <>
struct Stored<FixedCoordinate> {
  using Centre = std::int32_t;
  using Site = std::int32_t;
};

template <class D>
using IntegersOf = hn::Rebind<std::int32_t, D>;

/// Stored values as lanes of D.
template <class D>
HWY_INLINE VecOf<D> to_lanes(D d, VecOf<IntegersOf<D>> v) {
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(double)) {
    return hn::PromoteTo(d, v);
  } else {
    return hn::ConvertTo(d, v);
  }
}
/// Stored floating-point values as lanes of D; From is their type.
template <class From, class D, class Word>
HWY_INLINE VecOf<D> load_lanes(D d, const Word* from) {
  const hn::Rebind<From, D> stored;
  const auto values = hn::BitCast(stored, hn::LoadU(hn::Rebind<Word, D>(), from));
  if constexpr (sizeof(hn::TFromD<D>) > sizeof(From)) {
    return hn::PromoteTo(d, values);
  } else {
    return values;
  }
}

/// Displacements in a periodic box, of stored coordinates, in lanes of D.
template <class D>
class Displacements {
 public:
  using V = VecOf<D>;
  using Real = hn::TFromD<D>;

  Displacements(D d, const Interaction& interaction) : periodic_(d, interaction) {
    for (int k = 0; k < 3; ++k) {
      unit_[k] = hn::Set(d, static_cast<Real>(fixed_unit(interaction.box[k])));
    }
  }

  /// sources - origin, to the nearest image.
  template <class Word, class Centre>
  HWY_INLINE V between(const Word* sources, Centre origin, int k) const {
    if constexpr (std::is_same_v<Centre, double>) {
      const D d;
      return periodic_.wrap(hn::Sub(load_lanes<double>(d, sources), hn::Set(d, origin)), k);
    } else {
      const IntegersOf<D> integers;
      return scaled(hn::Sub(hn::LoadU(integers, sources), hn::Set(integers, origin)), k);
    }
  }
  HWY_INLINE V scaled(VecOf<IntegersOf<D>> difference, int k) const {
    return hn::Mul(to_lanes(D(), difference), unit_[k]);
  }
  const Periodic<D>& periodic() const { return periodic_; }

 private:
  Periodic<D> periodic_;
  V unit_[3];
};

template <class D, class V>
HWY_INLINE V length_squared(D, const Point<V>& r) {
  return hn::MulAdd(r.x, r.x, hn::MulAdd(r.y, r.y, hn::Mul(r.z, r.z)));
}

/// Molecules of one type side by side: arrays of their coordinates, `stride` apart. Vectors may be
/// loaded and stored anywhere below the capacity.
template <class Real>
class MoleculeList {
 public:
  using Centre = typename Stored<Real>::Centre;
  using Site = typename Stored<Real>::Site;
  using Lanes = hn::ScalableTag<PairReal<Real>>;
  /// Every value's bits are kept in a word, so that one loop copies them all.
  using Word = hwy::MakeSigned<PairReal<Real>>;

  /// Empties the list; values that it held may stay in its memory.
  void reset(std::size_t capacity, std::size_t sites) {
    count_ = 0;
    arrays_ = kFirstSite + 3 * sites;
    stride_ = std::max(stride_, capacity + 2 * hn::Lanes(Lanes()));
    if (words_.size() < arrays_ * stride_) words_.resize(arrays_ * stride_);
  }
  std::size_t count() const { return count_; }
  void set_count(std::size_t count) { count_ = count; }
  std::size_t sites() const { return (arrays_ - kFirstSite) / 3; }

  Word* centre(std::size_t k) { return array(kFirstCentre + k); }
  const Word* centre(std::size_t k) const { return array(kFirstCentre + k); }
  /// k: 3 * site + axis
  Word* site(std::size_t k) { return array(kFirstSite + k); }
  const Word* site(std::size_t k) const { return array(kFirstSite + k); }
  /// Where a molecule came from: whatever the user of the list likes.
  Word* index() { return array(kIndex); }
  const Word* index() const { return array(kIndex); }

  /// Adds the molecules of `from` in some lanes of the vector at `first`.
  template <bool kIndexed>
  HWY_INLINE void append(const MoleculeList& from, std::size_t first, hn::Mask<Lanes> lanes) {
    const hn::Rebind<Word, Lanes> d;
    const auto chosen = hn::RebindMask(d, lanes);
    if constexpr (kIndexed) pack(d, from.index() + first, chosen, index() + count_);
    constexpr std::size_t kFirst = kFixed<Real> ? kFirstSite : kFirstCentre;
    const Word* source = from.array(kFirst) + first;
    Word* target = array(kFirst) + count_;
    const std::size_t arrays = arrays_;
    const std::size_t source_stride = from.stride_;
    const std::size_t target_stride = stride_;
    for (std::size_t k = kFirst; k < arrays; ++k) {
      pack(d, source, chosen, target);
      source += source_stride;
      target += target_stride;
    }
    count_ += hn::CountTrue(d, chosen);
  }

 private:
  static constexpr std::size_t kIndex = 0;
  static constexpr std::size_t kFirstCentre = 1;
  static constexpr std::size_t kFirstSite = 4;

  Word* array(std::size_t k) { return words_.data() + k * stride_; }
  const Word* array(std::size_t k) const { return words_.data() + k * stride_; }
  template <class DW>
  static HWY_INLINE void pack(DW d, const Word* from, hn::Mask<DW> lanes, Word* to) {
    hn::StoreU(hn::Compress(hn::LoadU(d, from), lanes), d, to);
  }

  std::size_t count_ = 0;
  std::size_t stride_ = 0;
  std::size_t arrays_ = 0;
  std::vector<Word> words_;
};

/// A run of molecules in a list.
struct MoleculeRun {
  std::size_t first;
  std::size_t last;
};

/// Memory of a neighbour search, worth keeping between calls.
template <class Real>
struct NeighbourMemory {
  MoleculeList<Real> far;
  MoleculeList<Real> near;
};

/// The molecules within reach of a centre: the near ones, which mixed and fixed precision evaluate
/// in fp64 (STARPMC_NEAR_DISTANCE), and the others.
template <class Real>
class Neighbours {
 public:
  using Centre = typename Stored<Real>::Centre;
  using D = typename MoleculeList<Real>::Lanes;
  using V = VecOf<D>;
  static constexpr bool kHasNear = sizeof(PairReal<Real>) < sizeof(double);

  Neighbours(const Interaction& interaction, NeighbourMemory<Real>& memory)
      : displacements_(D(), interaction), far_(memory.far), near_(memory.near) {}

  /// Replaces the neighbours by those among some molecules of a list.
  /// @param spread  how far from `centre` the positions may lie that meet the neighbours
  template <bool kIndexed>
  HWY_INLINE void collect(const Centre* centre, double reach, double spread,
                          const MoleculeList<Real>& from, std::span<const MoleculeRun> runs) {
    std::size_t most = 0;
    for (const MoleculeRun& run : runs) most += run.last - run.first;
    reset(centre, reach, spread, most, from.sites());
    collect_runs<kIndexed>(from, runs);
  }

  const MoleculeList<Real>& far() const { return far_; }
  const MoleculeList<Real>& near() const { return near_; }

 private:
  void reset(const Centre* centre, double reach, double spread, std::size_t capacity,
             std::size_t sites) {
    std::copy_n(centre, 3, centre_);
    const auto squared = [](double x) { return static_cast<PairReal<Real>>(x * x); };
    reach_squared_ = squared(reach + spread);
    near_squared_ = squared(STARPMC_NEAR_DISTANCE + spread);
    far_.reset(capacity, sites);
    if (kHasNear) near_.reset(capacity, sites);
  }

  template <bool kIndexed>
  HWY_INLINE void collect_runs(const MoleculeList<Real>& from, std::span<const MoleculeRun> runs) {
    const D d;
    const Displacements<D> displacements = displacements_;
    const V reach_squared = hn::Set(d, reach_squared_);
    const V near_squared = hn::Set(d, near_squared_);
    for (const MoleculeRun& run : runs) {
      for (std::size_t i = run.first; i < run.last; i += hn::Lanes(d)) {
        const Point<V> r{displacements.between(from.centre(0) + i, centre_[0], 0),
                         displacements.between(from.centre(1) + i, centre_[1], 1),
                         displacements.between(from.centre(2) + i, centre_[2], 2)};
        const V squared = length_squared(d, r);
        auto lanes = hn::And(hn::Lt(squared, reach_squared), hn::FirstN(d, run.last - i));
        if (hn::AllFalse(d, lanes)) continue;
        if constexpr (kHasNear) {
          const auto near = hn::And(hn::Lt(squared, near_squared), lanes);
          if (!hn::AllFalse(d, near)) {
            near_.template append<kIndexed>(from, i, near);
            lanes = hn::AndNot(near, lanes);
          }
        }
        far_.template append<kIndexed>(from, i, lanes);
      }
    }
  }

  Displacements<D> displacements_;
  Centre centre_[3] = {};
  PairReal<Real> reach_squared_ = 0;
  PairReal<Real> near_squared_ = 0;
  MoleculeList<Real>& far_;
  MoleculeList<Real>& near_;
};

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
