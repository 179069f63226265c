#include "kernels/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/propose_moves.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/operations.hpp"
#include "kernels/proposal.hpp"
#include "kernels/simd/moves-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

namespace {

/// A vector of moves at a time; the last vector repeats its last move.
class LaneMover {
 public:
  explicit LaneMover(const MoveContext& context) : c_(context) {}

  void draw(std::uint64_t first_step, std::span<int> picks, std::span<double> thresholds) const {
    const D d;
    const auto confined = static_cast<std::uint64_t>(c_.chain_state[STATE_REGION_MOLECULES]);
    const real_t molecules = real_constant(c_.topology.shape.molecules);
    for (std::size_t i = 0; i < picks.size(); i += hn::Lanes(d)) {
      const word_t step{hn::Iota(word_t::D(), first_step + i)};
      real_t pick;
      real_t acceptance;
      draw_pair(step, word_constant(STREAM_PICK), word_constant(c_.range.chain),
                word_constant(c_.range.seed), &pick, &acceptance);
      const real_t threshold =
          acceptance_threshold(acceptance, real_constant(c_.range.thermal_energy));
      HWY_ALIGN double picked[hn::MaxLanes(d)];
      HWY_ALIGN double drawn[hn::MaxLanes(d)];
      hn::Store(hn::Min(r_floor(pick * molecules).v, (molecules - real_constant(1)).v), d, picked);
      hn::Store(threshold.v, d, drawn);
      for (std::size_t lane = 0; lane < std::min(hn::Lanes(d), picks.size() - i); ++lane) {
        picks[i + lane] = static_cast<int>(
            confined > 0 ? c_.chain_state[STATE_REGION_FIRST + (first_step + i + lane) % confined]
                         : picked[lane]);
        thresholds[i + lane] = drawn[lane];
      }
    }
  }

  void place(std::span<const int> entries) const {
    for (std::size_t first = 0; first < entries.size(); first += hn::Lanes(D())) {
      const Lanes at(entries, first, [](int entry) { return entry; });
      real_t pose[POSE_FIELDS];
      for (int field = 0; field < POSE_FIELDS; ++field) pose[field] = gather(c_.field(field), at);
      place_sites(entries, first, at, pose);
    }
  }

  void move(std::span<const int> candidates) const {
    for (std::size_t first = 0; first < candidates.size(); first += hn::Lanes(D())) {
      const Lanes at(candidates, first, [](int candidate) { return candidate; });
      const Lanes from(candidates, first, [&](int candidate) { return c_.parent_of(candidate); });
      const Lanes step(candidates, first, [&](int candidate) { return c_.step_of(candidate); });
      real_t pose[POSE_FIELDS];
      real_t moved[POSE_FIELDS];
      for (int field = 0; field < POSE_FIELDS; ++field) pose[field] = gather(c_.field(field), from);
      move_pose(
          word_t{hn::BitCast(word_t::D(), step.vector())} + word_constant(c_.range.first_step),
          word_constant(c_.range.chain), word_constant(c_.range.seed),
          real_constant(c_.maximum_translation), real_constant(c_.maximum_half_turns),
          real_constant(c_.interaction.box[0]), real_constant(c_.interaction.box[1]),
          real_constant(c_.interaction.box[2]), pose, moved);
      if (c_.chain_state[STATE_REGION_MOLECULES] > 0) confine(pose, moved);
      for (int field = 0; field < POSE_FIELDS; ++field) scatter(moved[field], c_.field(field), at);
      place_sites(candidates, first, at, moved);
    }
  }

 private:
  using D = real_t::D;
  using Integers = hn::RebindToSigned<D>;

  /// An integer per lane.
  struct Lanes {
    HWY_ALIGN std::int64_t values[hn::MaxLanes(D())];

    /// value(entry) of a vector of entries.
    template <class Value>
    Lanes(std::span<const int> entries, std::size_t first, Value value) {
      for (std::size_t lane = 0; lane < hn::Lanes(D()); ++lane) {
        values[lane] = value(entries[std::min(first + lane, entries.size() - 1)]);
      }
    }
    HWY_INLINE hn::Vec<Integers> vector() const { return hn::Load(Integers(), values); }
  };

  void confine(const real_t (&pose)[POSE_FIELDS], real_t (&moved)[POSE_FIELDS]) const {
    real_t centre[3];
    real_t length[3];
    for (std::size_t k = 0; k < 3; ++k) {
      centre[k] = real_constant(c_.chain_state[STATE_REGION_CENTRE + k]);
      length[k] = real_constant(c_.interaction.box[k]);
    }
    confine_pose(centre, real_constant(c_.chain_state[STATE_REGION_SQUARE]), length, pose, moved);
  }

  static HWY_INLINE real_t gather(const double* from, const Lanes& at) {
    return {hn::GatherIndex(D(), from, at.vector())};
  }
  static HWY_INLINE void scatter(real_t value, double* to, const Lanes& at) {
    hn::ScatterIndex(value.v, D(), to, at.vector());
  }

  void place_sites(std::span<const int> entries, std::size_t first, const Lanes& at,
                   const real_t (&pose)[POSE_FIELDS]) const {
    const TopologyShape& shape = c_.topology.shape;
    const Lanes site_of_type(entries, first,
                             [&](int entry) { return topology_site(shape, c_.type_of(entry), 0); });
    for (int site = 0; site < c_.layout.sites; ++site) {
      const double* const references = &c_.topology.reals[topology_site(shape, 0, site)];
      real_t reference[3];
      real_t displacement[3];
      for (int k = 0; k < 3; ++k) reference[k] = gather(references + k, site_of_type);
      rotate_site(pose, reference, displacement);
      for (int k = 0; k < 3; ++k) {
        scatter(displacement[k], c_.field(POSE_FIELDS + 3 * site + k), at);
      }
    }
  }

  const MoveContext& c_;
};

template <class Real>
void propose(const ProposeMovesArguments<Real>& a) {
  const MoveContext context(a);
  const LaneMover mover(context);
  Proposal(a, mover).run();
}

}  // namespace

void ProposeMovesFp64(const ProposeMovesArguments<double>& a) { propose(a); }
void ProposeMovesMixed(const ProposeMovesArguments<float>& a) { propose(a); }
void ProposeMovesFixed(const ProposeMovesArguments<FixedCoordinate>& a) { propose(a); }

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace starpmc::simd {
HWY_EXPORT(ProposeMovesFp64);
HWY_EXPORT(ProposeMovesMixed);
HWY_EXPORT(ProposeMovesFixed);

template <>
void propose_moves(const ProposeMovesArguments<double>& a) {
  HWY_DYNAMIC_DISPATCH(ProposeMovesFp64)(a);
}
template <>
void propose_moves(const ProposeMovesArguments<float>& a) {
  HWY_DYNAMIC_DISPATCH(ProposeMovesMixed)(a);
}
template <>
void propose_moves(const ProposeMovesArguments<FixedCoordinate>& a) {
  HWY_DYNAMIC_DISPATCH(ProposeMovesFixed)(a);
}
}  // namespace starpmc::simd
#endif
