// Molecules side by side, a molecule per lane, and the displacements between them: shared by
// mm_pair and mm_pair_table. Included once per instruction set.
#if defined(STARPMC_MOLECULE_LIST_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STARPMC_MOLECULE_LIST_INL
#undef STARPMC_MOLECULE_LIST_INL
#else
#define STARPMC_MOLECULE_LIST_INL
#endif

#include <cstdint>
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
template <class D>
HWY_INLINE VecOf<D> load_lanes(D d, const float* from) {
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(double)) {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), from));
  } else {
    return hn::LoadU(d, from);
  }
}
template <class D>
HWY_INLINE VecOf<D> load_lanes(D d, const double* from) {
  return hn::LoadU(d, from);
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
  HWY_INLINE V between(const std::int32_t* sources, std::int32_t origin, int k) const {
    const IntegersOf<D> integers;
    return scaled(hn::Sub(hn::LoadU(integers, sources), hn::Set(integers, origin)), k);
  }
  HWY_INLINE V between(const double* sources, double origin, int k) const {
    const D d;
    return periodic_.wrap(hn::Sub(hn::LoadU(d, sources), hn::Set(d, origin)), k);
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

/// Molecules of one type side by side, in arrays `stride` apart. Vectors may be loaded and stored
/// anywhere below the capacity.
template <class Real>
class MoleculeList {
 public:
  using Centre = typename Stored<Real>::Centre;
  using Site = typename Stored<Real>::Site;
  using Lanes = hn::ScalableTag<PairReal<Real>>;
  using Index = hwy::MakeSigned<PairReal<Real>>;  ///< as wide as a lane

  /// Empties the list; values that it held may stay in its memory.
  void reset(std::size_t capacity, std::size_t sites) {
    count_ = 0;
    sites_per_molecule_ = sites;
    if (capacity + hn::Lanes(Lanes()) > stride_) {
      stride_ = capacity + 2 * hn::Lanes(Lanes());
      index_.resize(stride_);
      centres_.resize(3 * stride_);
    }
    if (sites_.size() < 3 * sites * stride_) sites_.resize(3 * sites * stride_);
  }
  std::size_t count() const { return count_; }
  void set_count(std::size_t count) { count_ = count; }
  std::size_t sites_per_molecule() const { return sites_per_molecule_; }

  Centre* centre(std::size_t k) { return &centres_[k * stride_]; }
  const Centre* centre(std::size_t k) const { return &centres_[k * stride_]; }
  /// k: 3 * site + axis
  Site* site(std::size_t k) { return &sites_[k * stride_]; }
  const Site* site(std::size_t k) const { return &sites_[k * stride_]; }
  /// Where a molecule came from: whatever the user of the list likes.
  Index* index() { return index_.data(); }
  const Index* index() const { return index_.data(); }

  /// Adds the molecules of `from` in some lanes of the vector at `first`.
  template <bool kIndexed>
  HWY_INLINE void append(const MoleculeList& from, std::size_t first, hn::Mask<Lanes> lanes) {
    if constexpr (kIndexed) pack(from.index() + first, lanes, index() + count_);
    if constexpr (!kFixed<Real>) {
      for (std::size_t k = 0; k < 3; ++k) {
        pack(from.centre(k) + first, lanes, centre(k) + count_);
      }
    }
    for (std::size_t k = 0; k < 3 * sites_per_molecule_; ++k) {
      pack(from.site(k) + first, lanes, site(k) + count_);
    }
    count_ += hn::CountTrue(Lanes(), lanes);
  }

 private:
  template <class T>
  static HWY_INLINE void pack(const T* from, hn::Mask<Lanes> lanes, T* to) {
    const hn::Rebind<T, Lanes> d;
    hn::StoreU(hn::Compress(hn::LoadU(d, from), hn::RebindMask(d, lanes)), d, to);
  }

  std::size_t count_ = 0;
  std::size_t stride_ = 0;
  std::size_t sites_per_molecule_ = 0;
  std::vector<Centre> centres_;
  std::vector<Site> sites_;
  std::vector<Index> index_;
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

  explicit Neighbours(const Interaction& interaction) : displacements_(D(), interaction) {}

  /// @param spread  how far from `centre` the positions may lie that meet the neighbours
  void reset(const Centre* centre, double reach, double spread, std::size_t capacity,
             std::size_t sites) {
    std::copy_n(centre, 3, centre_);
    const auto squared = [](double x) { return hn::Set(D(), static_cast<PairReal<Real>>(x * x)); };
    reach_squared_ = squared(reach + spread);
    near_squared_ = squared(STARPMC_NEAR_DISTANCE + spread);
    far_.reset(capacity, sites);
    if (kHasNear) near_.reset(capacity, sites);
  }

  /// Adds the neighbours among the molecules [first, last) of a list.
  template <bool kIndexed>
  HWY_INLINE void collect(const MoleculeList<Real>& from, std::size_t first, std::size_t last) {
    const D d;
    for (std::size_t i = first; i < last; i += hn::Lanes(d)) {
      const Point<V> r{displacements_.between(from.centre(0) + i, centre_[0], 0),
                       displacements_.between(from.centre(1) + i, centre_[1], 1),
                       displacements_.between(from.centre(2) + i, centre_[2], 2)};
      const V squared = length_squared(d, r);
      auto lanes = hn::And(hn::Lt(squared, reach_squared_), hn::FirstN(d, last - i));
      if (hn::AllFalse(d, lanes)) continue;
      if constexpr (kHasNear) {
        const auto near = hn::And(hn::Lt(squared, near_squared_), lanes);
        if (!hn::AllFalse(d, near)) {
          near_.template append<kIndexed>(from, i, near);
          lanes = hn::AndNot(near, lanes);
        }
      }
      far_.template append<kIndexed>(from, i, lanes);
    }
  }

  const MoleculeList<Real>& far() const { return far_; }
  const MoleculeList<Real>& near() const { return near_; }

 private:
  Displacements<D> displacements_;
  Centre centre_[3] = {};
  V reach_squared_;
  V near_squared_;
  MoleculeList<Real> far_;
  MoleculeList<Real> near_;
};

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
