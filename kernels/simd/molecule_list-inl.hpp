// Molecules side by side, a molecule per lane, and the displacements between them: shared by
// mm_pair and mm_pair_table. Included once per instruction set.
#if defined(STARPMC_MOLECULE_LIST_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STARPMC_MOLECULE_LIST_INL
#undef STARPMC_MOLECULE_LIST_INL
#else
#define STARPMC_MOLECULE_LIST_INL
#endif

#include <hwy/aligned_allocator.h>

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

/// Every stored value's bits are kept in a word, so that one loop moves them all.
template <class Real>
using WordOf = hwy::MakeSigned<PairReal<Real>>;

/// A molecule's words: its centre, then its sites.
inline constexpr std::size_t kFirstSiteWord = 3;

/// Words of a 128-bit block. Squares of this side are turned inside each block of a vector, which
/// is what processors do best.
template <class Word>
inline constexpr std::size_t kSide = 16 / sizeof(Word);

inline std::size_t round_up(std::size_t x, std::size_t multiple) {
  return (x + multiple - 1) / multiple * multiple;
}

/// A vector with each of its blocks from another place: block b from rows[b * kSide] + at.
template <class D, class Word>
HWY_INLINE VecOf<D> load_blocks(D d, const Word* const* rows, std::size_t at) {
  if constexpr (hn::MaxLanes(d) <= kSide<Word>) {
    return hn::LoadU(d, rows[0] + at);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_blocks(half, rows + hn::MaxLanes(half), at),
                       load_blocks(half, rows, at));
  }
}
/// The reverse.
template <class D, class Word>
HWY_INLINE void store_blocks(D d, VecOf<D> v, Word* const* rows, std::size_t at) {
  if constexpr (hn::MaxLanes(d) <= kSide<Word>) {
    hn::StoreU(v, d, rows[0] + at);
  } else {
    const hn::Half<D> half;
    store_blocks(half, hn::LowerHalf(half, v), rows, at);
    store_blocks(half, hn::UpperHalf(half, v), rows + hn::MaxLanes(half), at);
  }
}

/// Turns the squares made of one block of each vector.
template <class D>
HWY_INLINE void transpose(D d, VecOf<D> (&v)[kSide<hn::TFromD<D>>]) {
  if constexpr (kSide<hn::TFromD<D>> == 4) {
    const auto even_lower = hn::InterleaveLower(d, v[0], v[2]);
    const auto odd_lower = hn::InterleaveLower(d, v[1], v[3]);
    const auto even_upper = hn::InterleaveUpper(d, v[0], v[2]);
    const auto odd_upper = hn::InterleaveUpper(d, v[1], v[3]);
    v[0] = hn::InterleaveLower(d, even_lower, odd_lower);
    v[1] = hn::InterleaveUpper(d, even_lower, odd_lower);
    v[2] = hn::InterleaveLower(d, even_upper, odd_upper);
    v[3] = hn::InterleaveUpper(d, even_upper, odd_upper);
  } else {
    const auto lower = hn::InterleaveLower(d, v[0], v[1]);
    v[1] = hn::InterleaveUpper(d, v[0], v[1]);
    v[0] = lower;
  }
}

/// Molecules to search among: their centres side by side, and a record of each.
template <class Real>
class MoleculeSet {
 public:
  using Word = WordOf<Real>;

  /// @param sites  most sites of a molecule
  void reset(std::size_t count, std::size_t sites) {
    count_ = count;
    stride_ = count + hn::Lanes(hn::ScalableTag<Word>());
    record_words_ = round_up(kFirstSiteWord + 3 * sites, kSide<Word>);
    grow(centres_, 3 * stride_);
    grow(records_, record_words_ * count);
  }
  std::size_t count() const { return count_; }
  std::size_t record_words() const { return record_words_; }

  Word* centre(std::size_t k) { return centres_.data() + k * stride_; }
  const Word* centre(std::size_t k) const { return centres_.data() + k * stride_; }
  Word* record(std::size_t i) { return records_.data() + i * record_words_; }
  const Word* record(std::size_t i) const { return records_.data() + i * record_words_; }

 private:
  static void grow(std::vector<Word>& words, std::size_t size) {
    if (words.size() < size) words.resize(size);
  }

  std::size_t count_ = 0;
  std::size_t stride_ = 0;
  std::size_t record_words_ = 0;
  std::vector<Word> centres_;
  std::vector<Word> records_;
};

/// Memory that starts where a vector may: rows of whole vectors are read twice as fast there.
template <class T>
class VectorMemory {
 public:
  /// What was there is lost where it grows.
  void grow(std::size_t size) {
    if (size_ >= size) return;
    memory_ = hwy::AllocateAligned<T>(size);
    size_ = size;
    std::fill_n(memory_.get(), size, T{0});
  }
  T* data() { return memory_.get(); }
  const T* data() const { return memory_.get(); }

 private:
  std::size_t size_ = 0;
  hwy::AlignedFreeUniquePtr<T[]> memory_;
};

/// Molecules of one type, a molecule per lane: an array of every word of their records.
template <class Real>
class MoleculeList {
 public:
  using Word = WordOf<Real>;
  using Lanes = hn::ScalableTag<PairReal<Real>>;

  void reset(std::size_t capacity) {
    count_ = 0;
    if (ids_.size() < capacity + 2 * hn::Lanes(Lanes()))
      ids_.resize(capacity + 2 * hn::Lanes(Lanes()));
  }
  std::size_t count() const { return count_; }
  const Word* centre(std::size_t k) const { return arrays_.data() + k * stride_; }
  /// k: 3 * site + axis
  const Word* site(std::size_t k) const { return arrays_.data() + (kFirstSiteWord + k) * stride_; }
  /// Where the molecules are in the set they were taken from.
  const Word* ids() const { return ids_.data(); }

  /// Memory for the ids of chosen molecules, and their number.
  Word* ids() { return ids_.data(); }
  void set_count(std::size_t count) { count_ = certain_ = count; }
  /// The same with more ids behind those of which it is certain that they belong here.
  void set_count_with_doubtful(std::size_t count) { count_ = count; }
  std::size_t certain() const { return certain_; }

  /// Takes the chosen molecules' words.
  HWY_INLINE void take(const MoleculeSet<Real>& set, std::size_t sites) {
    const hn::ScalableTag<Word> d;
    constexpr std::size_t kBlock = kSide<Word>;
    const std::size_t words = round_up(kFirstSiteWord + 3 * sites, kBlock);
    constexpr std::size_t kLargestVector = 64 / sizeof(Word);
    stride_ = std::max(stride_, round_up(count_, kLargestVector));
    arrays_.grow(words * stride_);
    if (count_ == 0) return;
    hn::StoreU(hn::Set(d, ids_[count_ - 1]), d, &ids_[count_]);
    for (std::size_t i = 0; i < count_; i += hn::Lanes(d)) {
      const Word* rows[hn::MaxLanes(d)];
      for (std::size_t k = 0; k < hn::Lanes(d); ++k) {
        rows[k] = set.record(static_cast<std::size_t>(ids_[i + k]));
      }
      Word* to = arrays_.data() + i;
      for (std::size_t word = 0; word < words; word += kBlock) {
        VecOf<decltype(d)> v[kBlock];
        for (std::size_t k = 0; k < kBlock; ++k) v[k] = load_blocks(d, &rows[k], word);
        transpose(d, v);
        for (std::size_t k = 0; k < kBlock; ++k, to += stride_) hn::StoreU(v[k], d, to);
      }
    }
  }

 private:
  std::size_t count_ = 0;
  std::size_t certain_ = 0;
  std::size_t stride_ = 0;
  std::vector<Word> ids_;
  VectorMemory<Word> arrays_;
};

/// A run of molecules in a set.
struct MoleculeRun {
  std::size_t first;
  std::size_t last;
};

/// Squared distances of a list's centres from another.
template <class D, class Real, class Centre>
HWY_INLINE VecOf<D> distance_squared(D d, const Displacements<D>& displacements,
                                     const MoleculeList<Real>& list, std::size_t first,
                                     const Centre* centre) {
  const Point<VecOf<D>> r{displacements.between(list.centre(0) + first, centre[0], 0),
                          displacements.between(list.centre(1) + first, centre[1], 1),
                          displacements.between(list.centre(2) + first, centre[2], 2)};
  return length_squared(d, r);
}

/// Memory of a neighbour search, worth keeping between calls.
template <class Real>
struct NeighbourMemory {
  MoleculeList<Real> far;
  MoleculeList<Real> near;
};

/// The molecules within reach of a centre: the near ones, which mixed and fixed precision evaluate
/// in fp64 (STARPMC_NEAR_DISTANCE), and the others. Where positions that share them may find a
/// molecule on either side, both lists have it, that of the far behind the certain ones.
template <class Real>
class Neighbours {
 public:
  using Centre = typename Stored<Real>::Centre;
  using D = typename MoleculeList<Real>::Lanes;
  using V = VecOf<D>;
  static constexpr bool kHasNear = sizeof(PairReal<Real>) < sizeof(double);
  /// The far neighbours are at least this far from any position that meets them as such.
  static constexpr double kFarthestNear = kHasNear ? STARPMC_NEAR_DISTANCE : 0.0;

  Neighbours(const Interaction& interaction, NeighbourMemory<Real>& memory)
      : displacements_(D(), interaction), far_(memory.far), near_(memory.near) {}

  /// Replaces the neighbours by those among some molecules of a set, all of one type.
  /// @param spread  how far from `centre` the positions may lie that meet the neighbours
  /// @param sites   of a molecule
  HWY_INLINE void collect(const Centre (&centre)[3], double reach, double spread,
                          const MoleculeSet<Real>& from, std::span<const MoleculeRun> runs,
                          std::size_t sites) {
    std::size_t most = 0;
    for (const MoleculeRun& run : runs) most += run.last - run.first;
    far_.reset(most);
    near_.reset(most);
    choose(centre, reach + spread, STARPMC_NEAR_DISTANCE + spread + kRounding, from, runs);
    if constexpr (kHasNear) {
      near_.take(from, sites);
      add_doubtful(centre, STARPMC_NEAR_DISTANCE - spread - kRounding);
    }
    far_.take(from, sites);
  }

  const MoleculeList<Real>& far() const { return far_; }
  const MoleculeList<Real>& near() const { return near_; }

 private:
  static constexpr double kRounding = 1e-3;  ///< more than that of distances

  /// Lists among the far ones the near ones that are beyond a distance, too.
  HWY_INLINE void add_doubtful(const Centre* centre, double distance) {
    const D d;
    const hn::Rebind<WordOf<Real>, D> words;
    const V certain = hn::Set(d, static_cast<PairReal<Real>>(distance * distance));
    std::size_t count = far_.count();
    for (std::size_t i = 0; i < near_.count(); i += hn::Lanes(d)) {
      const V squared = distance_squared(d, displacements_, near_, i, centre);
      const auto doubtful = hn::RebindMask(
          words, hn::AndNot(hn::Lt(squared, certain), hn::FirstN(d, near_.count() - i)));
      hn::StoreU(hn::Compress(hn::LoadU(words, near_.ids() + i), doubtful), words,
                 far_.ids() + count);
      count += hn::CountTrue(words, doubtful);
    }
    far_.set_count_with_doubtful(count);
  }

  /// Lists the molecules of the runs that are far and near. Without branches that depend on where
  /// molecules are: no processor would foresee them.
  HWY_INLINE void choose(const Centre* centre, double reach, double near,
                         const MoleculeSet<Real>& from, std::span<const MoleculeRun> runs) {
    const D d;
    const Displacements<D> displacements = displacements_;
    const V reach_squared = hn::Set(d, static_cast<PairReal<Real>>(reach * reach));
    const V near_squared = hn::Set(d, static_cast<PairReal<Real>>(near * near));
    const Chosen far_ids{far_.ids()};
    const Chosen near_ids{near_.ids()};
    std::size_t far = 0;
    std::size_t near_count = 0;
    std::size_t vectors = 0;
    for (const MoleculeRun& run : runs) {
      vectors += (run.last - run.first + hn::Lanes(d) - 1) / hn::Lanes(d);
    }
    const MoleculeRun* run = runs.data();
    std::size_t i = vectors > 0 ? run->first : 0;
    for (; vectors > 0; --vectors) {
      const Point<V> r{displacements.between(from.centre(0) + i, centre[0], 0),
                       displacements.between(from.centre(1) + i, centre[1], 1),
                       displacements.between(from.centre(2) + i, centre[2], 2)};
      const V squared = length_squared(d, r);
      auto lanes = hn::And(hn::Lt(squared, reach_squared), hn::FirstN(d, run->last - i));
      if constexpr (kHasNear) {
        const auto close = hn::And(hn::Lt(squared, near_squared), lanes);
        near_count = near_ids.put(i, close, near_count);
        lanes = hn::AndNot(close, lanes);
      }
      far = far_ids.put(i, lanes, far);
      i += hn::Lanes(d);
      const bool done = i >= run->last;
      run += done ? 1 : 0;
      if (vectors > 1) i = done ? run->first : i;
    }
    far_.set_count(far);
    near_.set_count(near_count);
  }

  struct Chosen {
    WordOf<Real>* ids;

    HWY_INLINE std::size_t put(std::size_t first, hn::Mask<D> lanes, std::size_t count) const {
      const hn::Rebind<WordOf<Real>, D> words;
      const auto chosen = hn::RebindMask(words, lanes);
      hn::StoreU(hn::Compress(hn::Iota(words, static_cast<WordOf<Real>>(first)), chosen), words,
                 ids + count);
      return count + hn::CountTrue(words, chosen);
    }
  };

  Displacements<D> displacements_;
  MoleculeList<Real>& far_;
  MoleculeList<Real>& near_;
};

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
