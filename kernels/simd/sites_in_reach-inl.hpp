// Which charged sites meet a compact block of grid points, seen from its origin.
// Included once per instruction set, inside foreach_target.
#if defined(STARPMC_SITES_IN_REACH_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STARPMC_SITES_IN_REACH_INL
#undef STARPMC_SITES_IN_REACH_INL
#else
#define STARPMC_SITES_IN_REACH_INL
#endif

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/block_reach.hpp"
#include "kernels/molecule_pairs.hpp"
#include "kernels/simd/charged_sites.hpp"
#include "kernels/simd/pair_sum-inl.hpp"
#include "kernels/whole_units.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {

/// The sites that meet any of a few neighbouring blocks: what each block then chooses from.
class NearbySites {
 public:
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> z;
  std::vector<std::size_t> site;
  std::size_t count = 0;

  explicit NearbySites(std::size_t most) : site(most) {
    for (auto* array : {&x, &y, &z}) array->resize(most + ChargedSites::kPadding);
  }

  void select(const ChargedSites& from, std::span<const double> blocks,
              const Interaction& interaction) {
    const Sphere around = sphere_around(blocks);
    const double reach = BlockReach(interaction.coulomb_cutoff, around.radius).reach;
    const hn::ScalableTag<double> d;
    count = 0;
    for (std::size_t i = 0; i < from.size(); i += hn::Lanes(d)) {
      const auto dx = wrapped_offsets(d, &from.x[i], around.centre[0], interaction.box[0]);
      const auto dy = wrapped_offsets(d, &from.y[i], around.centre[1], interaction.box[1]);
      const auto dz = wrapped_offsets(d, &from.z[i], around.centre[2], interaction.box[2]);
      const auto squared = hn::MulAdd(dx, dx, hn::MulAdd(dy, dy, hn::Mul(dz, dz)));
      const auto within = hn::Lt(squared, hn::Set(d, reach * reach));
      for_each_selected(d, hn::And(hn::FirstN(d, from.size() - i), within), [&](std::size_t lane) {
        x[count] = from.x[i + lane];
        y[count] = from.y[i + lane];
        z[count] = from.z[i + lane];
        site[count++] = i + lane;
      });
    }
  }
};

/// Calls add_block(number) for each compact block, when `nearby` has the sites that may meet it,
/// and end_group() behind each group of them.
template <class AddBlock, class EndGroup>
void for_each_block(std::span<const double> blocks, const ChargedSites& sites, NearbySites& nearby,
                    const Interaction& interaction, const AddBlock& add_block,
                    const EndGroup& end_group) {
  constexpr std::size_t kBlocksTogether = 8;  // they choose from the same nearby sites
  static_assert(kGroupBlocks % kBlocksTogether == 0);
  const std::size_t all = blocks.size() / BLOCK_FIELDS;
  for (std::size_t first = 0; first < all; first += kBlocksTogether) {
    const std::size_t count = std::min(kBlocksTogether, all - first);
    nearby.select(sites, blocks.subspan(first * BLOCK_FIELDS, count * BLOCK_FIELDS), interaction);
    for (std::size_t block = first; block < first + count; ++block) add_block(block);
    if (first + count == all || (first + count) % kGroupBlocks == 0) end_group();
  }
}

/// Sites relative to a block's origin, rounded to the lanes' type.
template <class D>
struct RelativeSites {
  using Real = hn::TFromD<D>;
  using Index = hwy::MakeSigned<Real>;
  Real* x = nullptr;  ///< rows of `stride` values, y and z behind it
  Real* y = nullptr;
  Real* z = nullptr;
  std::size_t stride = 0;
  std::vector<Index> nearby;  ///< index into NearbySites
  std::size_t count = 0;

  void reserve(std::size_t most) {
    if (stride >= most) return;
    stride = most;
    memory_.resize(3 * stride);
    x = memory_.data();
    y = x + stride;
    z = y + stride;
    nearby.resize(most);
  }
  /// Appends the lanes that `mask` selects, without gaps; what lies behind them is overwritten.
  template <class V, class M, class I>
  HWY_INLINE void append(D d, M mask, const Point<V>& position, I index) {
    const hn::RebindToSigned<D> integers;
    // Elsewhere Highway 1.0's Compress copies a large table onto the stack.
    if constexpr (HWY_TARGET <= HWY_AVX3 && sizeof(Real) == sizeof(float)) {
      hn::StoreU(hn::Compress(position.x, mask), d, &x[count]);
      hn::StoreU(hn::Compress(position.y, mask), d, &y[count]);
      hn::StoreU(hn::Compress(position.z, mask), d, &z[count]);
      hn::StoreU(hn::Compress(index, hn::RebindMask(integers, mask)), integers, &nearby[count]);
      count += hn::CountTrue(d, mask);
    } else {
      Real lanes[3][hn::MaxLanes(D())];
      hn::StoreU(position.x, d, lanes[0]);
      hn::StoreU(position.y, d, lanes[1]);
      hn::StoreU(position.z, d, lanes[2]);
      const Index first = hn::GetLane(index);
      for_each_selected(d, mask, [&](std::size_t lane) {
        x[count] = lanes[0][lane];
        y[count] = lanes[1][lane];
        z[count] = lanes[2][lane];
        nearby[count++] = first + static_cast<Index>(lane);
      });
    }
  }
  /// Appends another list of the same block.
  void append(const RelativeSites& other) {
    const std::size_t size = other.count;
    std::copy_n(other.x, size, x + count);
    std::copy_n(other.y, size, y + count);
    std::copy_n(other.z, size, z + count);
    std::copy_n(other.nearby.begin(), size, nearby.begin() + static_cast<std::ptrdiff_t>(count));
    count += size;
  }

 private:
  std::vector<Real> memory_;
};

/// The sites that meet one block, each image within reach an entry of its own: no pair of a site
/// and a point needs the minimum image, for at most one image lies inside the cutoff.
template <class D>
class SitesInReach {
 public:
  using V = VecOf<D>;
  RelativeSites<D> inside;  ///< every point lies inside the cutoff
  RelativeSites<D> cut;     ///< points may lie beyond it
  RelativeSites<D>
      close;  ///< points may lie within the minimum distance, or extend to the site, too

  /// @param images false: one entry per site, whose differences to the points wrap by themselves
  void classify(D d, const NearbySites& sites, const double* block, const Interaction& interaction,
                bool images) {
    const BlockReach reach(interaction.coulomb_cutoff, block[BLOCK_RADIUS], block[BLOCK_EXTENT]);
    images = images && reach.meets_images(interaction);
    const std::size_t most = sites.count * (images ? kImages : 1) +
                             std::max(hn::Lanes(d), kMoleculeGrain<hn::TFromD<D>>);
    for (auto* list : {&inside, &cut, &close}) {
      list->reserve(most);
      list->count = 0;
    }
    const hn::RebindToSigned<D> integers;
    for (std::size_t i = 0; i < sites.count; i += hn::Lanes(d)) {
      const Point<V> position{
          wrapped_offsets(d, &sites.x[i], block[BLOCK_ORIGIN], interaction.box[0]),
          wrapped_offsets(d, &sites.y[i], block[BLOCK_ORIGIN + 1], interaction.box[1]),
          wrapped_offsets(d, &sites.z[i], block[BLOCK_ORIGIN + 2], interaction.box[2])};
      const auto index = hn::Iota(integers, static_cast<hn::TFromD<decltype(integers)>>(i));
      const auto valid = hn::FirstN(d, sites.count - i);
      add(d, valid, position, index, reach);
      if (images) add_images(d, valid, position, index, reach, interaction);
    }
  }

 private:
  static constexpr std::size_t kImages = 8;

  template <class M, class I>
  HWY_INLINE void add(D d, M valid, const Point<V>& p, I index, const BlockReach& reach) {
    const auto below = [&](V squared, double distance) HWY_ATTR {
      return hn::Lt(squared, hn::Set(d, static_cast<hn::TFromD<D>>(distance * distance)));
    };
    const V squared = hn::MulAdd(p.x, p.x, hn::MulAdd(p.y, p.y, hn::Mul(p.z, p.z)));
    const auto within = hn::And(valid, below(squared, reach.reach));
    if (hn::AllFalse(d, within)) return;
    const auto touching = hn::And(within, below(squared, reach.close));
    const auto deep = hn::AndNot(touching, hn::And(within, below(squared, reach.inside)));
    inside.append(d, deep, p, index);
    cut.append(d, hn::AndNot(hn::Or(deep, touching), within), p, index);
    if (!hn::AllFalse(d, touching)) close.append(d, touching, p, index);
  }

  /// The images beyond half an edge, along every choice of axes.
  template <class M, class I>
  HWY_INLINE void add_images(D d, M valid, const Point<V>& p, I index, const BlockReach& reach,
                             const Interaction& interaction) {
    const auto other = [&](V x, int axis) HWY_ATTR {
      const auto edge = static_cast<hn::TFromD<D>>(interaction.box[axis]);
      return hn::Sub(x, hn::CopySign(hn::Set(d, edge), x));
    };
    const Point<V> image{other(p.x, 0), other(p.y, 1), other(p.z, 2)};
    for (unsigned axes = 1; axes < kImages; ++axes) {
      add(d, valid,
          Point<V>{axes & 1 ? image.x : p.x, axes & 2 ? image.y : p.y, axes & 4 ? image.z : p.z},
          index, reach);
    }
  }
};

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
