#include "kernels/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/pose_energies.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

#include "kernels/interaction.hpp"
#include "kernels/operations.hpp"
#include "kernels/pose_coordinates.hpp"
#include "kernels/simd/pair_sum-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {
namespace {

enum class Dielectric { constant, distance };
enum class Vdw { none, sum, product };

/// Newton's steps of fp32: the usual one, or as many as are asked for. A loop for each number would
/// cost compile time, three times for three instruction sets.
enum class Newton { one, any };

/// What a loop over pairs computes, known to the compiler.
template <Dielectric kDielectricValue, Vdw kVdwValue, Newton kNewtonValue>
struct Terms {
  static constexpr Dielectric kDielectric = kDielectricValue;
  static constexpr Vdw kVdw = kVdwValue;
  static constexpr Newton kNewton = kNewtonValue;
};

/// 1/sqrt(r2): the instruction's estimate y, then Newton's steps y (1 + h/2), h = 1 - r2 y^2.
template <class D, class V>
HWY_INLINE V reciprocal_root(D d, V r2, int newton_steps) {
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(double)) {
    return distance(d, r2).inverse;
  } else {
    V y = hn::ApproximateReciprocalSqrt(r2);
    for (int step = 0; step < newton_steps; ++step) {
      const V h = hn::NegMulAdd(hn::Mul(r2, y), y, hn::Set(d, 1.0f));
      y = hn::MulAdd(hn::Mul(hn::Set(d, 0.5f), y), h, y);
    }
    return y;
  }
}

/// fp64 sum of vectors times numbers.
template <class D>
struct WeightedSum {
  using Wide = hn::ScalableTag<double>;
  VecOf<Wide> sum;

  HWY_INLINE WeightedSum() : sum(hn::Zero(Wide())) {}
  HWY_INLINE void add(D d, VecOf<D> values, double weight) {
    WideSum<D> wide;
    wide.add(d, values);
    sum = hn::MulAdd(wide.sum, hn::Set(Wide(), weight), sum);
  }
  HWY_INLINE double total() const { return hn::GetLane(hn::SumOfLanes(Wide(), sum)); }
};

/// Sites of a pose in registers, past which the sites of a block stream through the lanes.
constexpr std::size_t kSites = 4;

template <class Real, class Kind>
class PoseSum {
 public:
  explicit PoseSum(const PoseEnergiesArguments<Real>& a)
      : a_(a),
        coordinates_(d_, kSpan),
        unit_squared_(hn::Set(d_, static_cast<T>(square_of_unit()))),
        least_squared_(hn::Set(d_, static_cast<T>(STARPMC_MINIMUM_DISTANCE_SQUARED))),
        cutoff_squared_(hn::Set(d_, static_cast<T>(square_of_cutoff(a.interaction)))) {}

  void run() {
    for (int pose = 0; pose < a_.poses; ++pose) {
      const TreeSums sums =
          with_all_blocks(&a_.positions[static_cast<std::size_t>(pose) *
                                        static_cast<std::size_t>(pose_size(a_.sites))]);
      energy(POSE_COULOMB, pose) = tree_total(&sums.coulomb);
      energy(POSE_VDW, pose) = tree_total(&sums.vdw);
      energy(POSE_CLOSEST, pose) = static_cast<double>(sums.closest);
    }
  }

 private:
  using T = PairReal<Real>;
  using D = hn::ScalableTag<T>;
  using V = VecOf<D>;
  using Stored = typename Coordinates<D, Real>::Stored;
  static constexpr bool kFixed = kPrecisionOf<Real> == Precision::fixed;
  /// A box wide enough that nothing is seen across its faces.
  static constexpr Interaction kSpan =
      interaction_within({STARPMC_POSE_SPAN, STARPMC_POSE_SPAN, STARPMC_POSE_SPAN}, 0, 0);
  static constexpr bool kHasVdw = Kind::kVdw != Vdw::none;
  static constexpr Newton kNewton = Kind::kNewton;
  static constexpr int kFields = kHasVdw ? 6 : 4;

  struct TreeSums {
    TreeSum coulomb{};
    TreeSum vdw{};
    T closest = static_cast<T>(STARPMC_NOTHING_SEEN);
  };
  /// Of a pose with one block.
  struct BlockSums {
    WeightedSum<D> coulomb;
    WeightedSum<D> vdw;
    V closest;
    HWY_INLINE BlockSums() : closest(hn::Set(D(), static_cast<T>(STARPMC_NOTHING_SEEN))) {}
  };

  double& energy(int term, int pose) {
    return a_.energies[static_cast<std::size_t>(term * a_.poses + pose)];
  }

  TreeSums with_all_blocks(const double* pose) const {
    TreeSums sums;
    const std::size_t blocks = a_.receptor_blocks.size() / RECEPTOR_BLOCK_FIELDS;
    for (std::size_t block = 0; block < blocks; ++block) {
      const double* const header = &a_.receptor_blocks[block * RECEPTOR_BLOCK_FIELDS];
      const double dx = pose[0] - header[0];
      const double dy = pose[1] - header[1];
      const double dz = pose[2] - header[2];
      const int cut = pose_cut(a_.interaction.cutoff, dx * dx + dy * dy + dz * dz,
                               pose[3] + header[BLOCK_RADIUS]);
      BlockSums own;
      // To ask where no pair is beyond the cutoff costs time and changes nothing.
      constexpr bool kAlwaysAsk = kNewton == Newton::any;
      if (cut == 0) add_block<kAlwaysAsk>(pose, block, own);
      if (cut == 1) add_block<true>(pose, block, own);
      // Per block, so that the sum does not depend on how blocks are shared out among tasks.
      tree_add(&sums.coulomb, own.coulomb.total());
      tree_add(&sums.vdw, kHasVdw ? own.vdw.total() : 0.0);
      if (cut != 2) {
        sums.closest = std::min(sums.closest, hn::GetLane(hn::MinOfLanes(d_, own.closest)));
      }
    }
    return sums;
  }

  template <bool kCut>
  HWY_INLINE void add_block(const double* pose, std::size_t block, BlockSums& sums) const {
    int site = 0;
    for (; site + static_cast<int>(kSites) <= a_.sites; site += static_cast<int>(kSites)) {
      add_sites<kSites, kCut>(pose, site, block, sums);
    }
    // At most three: not worth loops that do not ask for the cutoff.
    for (; site < a_.sites; ++site) add_sites<1, true>(pose, site, block, sums);
  }

  /// Some sites of a pose, which stay in registers, with a block, which stays in the first-level
  /// cache.
  template <std::size_t kTargets, bool kCut>
  HWY_INLINE void add_sites(const double* pose, int first, std::size_t block,
                            BlockSums& sums) const {
    const double* const header = &a_.receptor_blocks[block * RECEPTOR_BLOCK_FIELDS];
    const Real* const places = &a_.receptor_sites[block * kFields * STARPMC_BLOCK_POINTS];
    const auto load = [&](int field, int from) HWY_ATTR {
      return coordinates_.load(d_, places + field * STARPMC_BLOCK_POINTS + from);
    };
    const auto value = [&](int field, int from)
                           HWY_ATTR { return hn::BitCast(d_, load(field, from)); };
    Point<Stored> targets[kTargets];
    V radii[kTargets];
    V coulomb[kTargets];
    V vdw[kTargets];
    for (std::size_t k = 0; k < kTargets; ++k) {
      const int site = first + static_cast<int>(k);
      targets[k] = target(pose, site, header);
      radii[k] = hn::Set(d_, static_cast<T>(ligand(LIGAND_RADIUS, site)));
      coulomb[k] = vdw[k] = hn::Zero(d_);
    }
    const int newton_steps = kNewton == Newton::one ? 1 : a_.interaction.newton_steps;
    const int count = static_cast<int>(header[RECEPTOR_BLOCK_SITES]);
    for (int i = 0; i < count; i += static_cast<int>(hn::Lanes(d_))) {
      const Point<Stored> source{load(RECEPTOR_X, i), load(RECEPTOR_Y, i), load(RECEPTOR_Z, i)};
      const V charge = value(RECEPTOR_CHARGE, i);
      pair_step(coordinates_, targets, source, [&](std::size_t k, V r2) HWY_ATTR {
        if constexpr (kFixed) r2 = hn::Mul(r2, unit_squared_);
        sums.closest = hn::Min(sums.closest, r2);
        const auto inside = hn::Lt(r2, cutoff_squared_);
        r2 = hn::Max(r2, least_squared_);
        const V y = reciprocal_root(d_, r2, newton_steps);
        const V potential = Kind::kDielectric == Dielectric::distance ? hn::Mul(y, y) : y;
        const V sum = hn::MulAdd(charge, potential, coulomb[k]);
        coulomb[k] = kCut ? hn::IfThenElse(inside, sum, coulomb[k]) : sum;
        if constexpr (kHasVdw) {
          const V energy = twelve_six(value(RECEPTOR_RADIUS, i), radii[k], y);
          const V sum_vdw = hn::MulAdd(value(RECEPTOR_ROOT, i), energy, vdw[k]);
          vdw[k] = kCut ? hn::IfThenElse(inside, sum_vdw, vdw[k]) : sum_vdw;
        }
      });
    }
    for (std::size_t k = 0; k < kTargets; ++k) {
      const int site = first + static_cast<int>(k);
      sums.coulomb.add(d_, coulomb[k], ligand(LIGAND_CHARGE, site));
      if constexpr (kHasVdw) sums.vdw.add(d_, vdw[k], ligand(LIGAND_ROOT, site));
    }
  }

  double ligand(int field, int site) const {
    return a_.ligand[static_cast<std::size_t>(field * a_.sites + site)];
  }
  HWY_INLINE Point<Stored> target(const double* pose, int site, const double* origin) const {
    const auto relative = [&](int k) HWY_ATTR {
      return coordinates_.set(
          d_, pose_coordinate<Real>(pose[POSE_SPHERE + k * a_.sites + site] - origin[k]));
    };
    return {relative(0), relative(1), relative(2)};
  }
  /// u^12 - 2 u^6 with u = R/r.
  HWY_INLINE V twelve_six(V radius_a, V radius_b, V inverse_r) const {
    const V least =
        Kind::kVdw == Vdw::sum ? hn::Add(radius_a, radius_b) : hn::Mul(radius_a, radius_b);
    const V u = hn::Mul(least, inverse_r);
    const V u2 = hn::Mul(u, u);
    const V u6 = hn::Mul(hn::Mul(u2, u2), u2);
    return hn::Mul(u6, hn::Sub(u6, hn::Set(d_, T{2})));
  }

  const PoseEnergiesArguments<Real>& a_;
  /// Without a cutoff nothing is beyond it.
  static double square_of_cutoff(const PoseInteraction& interaction) {
    return interaction.cutoff == 0 ? STARPMC_NOTHING_SEEN : interaction.cutoff * interaction.cutoff;
  }
  static double square_of_unit() {
    const double unit = Coordinates<D, Real>::unit(kSpan);
    return unit * unit;
  }

  const D d_;
  Coordinates<D, Real> coordinates_;
  V unit_squared_;
  V least_squared_;
  V cutoff_squared_;
};

template <class Real, Dielectric kDielectric, Vdw kVdw>
void with_steps(const PoseEnergiesArguments<Real>& a) {
  if constexpr (std::is_same_v<PairReal<Real>, float>) {
    if (a.interaction.newton_steps != 1) {
      PoseSum<Real, Terms<kDielectric, kVdw, Newton::any>>(a).run();
      return;
    }
  }
  PoseSum<Real, Terms<kDielectric, kVdw, Newton::one>>(a).run();
}

template <class Real, Dielectric kDielectric>
void with_vdw(const PoseEnergiesArguments<Real>& a) {
  if (a.interaction.lennard_jones == 0) {
    with_steps<Real, kDielectric, Vdw::none>(a);
  } else if (a.interaction.combination == COMBINATION_SUM) {
    with_steps<Real, kDielectric, Vdw::sum>(a);
  } else {
    with_steps<Real, kDielectric, Vdw::product>(a);
  }
}

template <class Real>
void energies_of_poses(const PoseEnergiesArguments<Real>& a) {
  if (a.interaction.distance_dependent != 0) {
    with_vdw<Real, Dielectric::distance>(a);
  } else {
    with_vdw<Real, Dielectric::constant>(a);
  }
}

}  // namespace

void PoseEnergiesFp64(const PoseEnergiesArguments<double>& a) { energies_of_poses(a); }
void PoseEnergiesMixed(const PoseEnergiesArguments<float>& a) { energies_of_poses(a); }
void PoseEnergiesFixed(const PoseEnergiesArguments<FixedCoordinate>& a) { energies_of_poses(a); }

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace starpmc::simd {
HWY_EXPORT(PoseEnergiesFp64);
HWY_EXPORT(PoseEnergiesMixed);
HWY_EXPORT(PoseEnergiesFixed);

template <>
void pose_energies(const PoseEnergiesArguments<double>& a) {
  HWY_DYNAMIC_DISPATCH(PoseEnergiesFp64)(a);
}
template <>
void pose_energies(const PoseEnergiesArguments<float>& a) {
  HWY_DYNAMIC_DISPATCH(PoseEnergiesMixed)(a);
}
template <>
void pose_energies(const PoseEnergiesArguments<FixedCoordinate>& a) {
  HWY_DYNAMIC_DISPATCH(PoseEnergiesFixed)(a);
}

// A few additions a pose: nothing for vectors.
void pose_energies_reduce(const PoseEnergiesReduceArguments& a) { scalar::pose_energies_reduce(a); }

std::vector<InstructionSet> instruction_sets() {
  std::vector<InstructionSet> sets;
  const std::int64_t compiled = HWY_TARGETS;
  for (std::int64_t rest = hwy::SupportedTargets() & compiled; rest != 0; rest &= rest - 1) {
    const std::int64_t target = rest & -rest;
    sets.push_back({hwy::TargetName(target), target});
  }
  return sets;
}

InstructionSetForced::InstructionSetForced(const InstructionSet& set) {
  hwy::SetSupportedTargetsForTest(set.target);
  hwy::GetChosenTarget().DeInit();
}
InstructionSetForced::~InstructionSetForced() {
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}
}  // namespace starpmc::simd
#endif
