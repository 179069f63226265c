#include "kernels/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/propose_moves.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/operations.hpp"
#include "kernels/proposal.hpp"
#include "kernels/simd/moves-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace starpmc::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

namespace {

/// A vector of moves at a time; the last vector repeats its last move.
struct LaneMover {
  StepRange range;
  Interaction interaction;
  double maximum_translation;
  double maximum_half_turns;

  void place(MoveBatch& batch) const { for_each_vector<false>(batch); }
  void move(MoveBatch& batch) const { for_each_vector<true>(batch); }

  void thresholds(std::span<double> out) const {
    const real_t::D d;
    const std::size_t lanes = hn::Lanes(d);
    for (std::size_t first = 0; first < out.size(); first += lanes) {
      const word_t step{hn::Iota(word_t::D(), range.first_step + first)};
      real_t pick;
      real_t acceptance;
      draw_pair(step, word_constant(STREAM_PICK), word_constant(range.chain),
                word_constant(range.seed), &pick, &acceptance);
      const real_t threshold =
          acceptance_threshold(acceptance, real_constant(range.thermal_energy));
      store(threshold, &out[first], out.size() - first);
    }
  }

 private:
  static void store(real_t value, double* to, std::size_t room) {
    const real_t::D d;
    HWY_ALIGN double values[hn::MaxLanes(d)];
    hn::Store(value.v, d, values);
    for (std::size_t lane = 0; lane < hn::Lanes(d) && lane < room; ++lane) to[lane] = values[lane];
  }

  static real_t load(const double* from, std::size_t room) {
    const real_t::D d;
    if (room >= hn::Lanes(d)) return {hn::LoadU(d, from)};
    HWY_ALIGN double values[hn::MaxLanes(d)];
    for (std::size_t lane = 0; lane < hn::Lanes(d); ++lane) {
      values[lane] = from[lane < room ? lane : room - 1];
    }
    return {hn::Load(d, values)};
  }

  template <bool kMove>
  void for_each_vector(MoveBatch& batch) const {
    for (std::size_t first = 0; first < batch.size(); first += hn::Lanes(real_t::D())) {
      const std::size_t room = batch.size() - first;
      real_t pose[POSE_FIELDS];
      for (std::size_t field = 0; field < POSE_FIELDS; ++field) {
        pose[field] = load(&batch.pose[field][first], room);
      }
      if constexpr (kMove) move_vector(batch, first, room, pose);
      place_vector(batch, first, room, pose);
    }
  }

  void move_vector(MoveBatch& batch, std::size_t first, std::size_t room,
                   real_t (&pose)[POSE_FIELDS]) const {
    const real_t offset = load(&batch.steps[first], room);
    // offset < 2^52: its integer value is the mantissa after adding 2^52
    const word_t steps =
        (r_bits(offset + real_constant(4503599627370496.0)) & word_constant(0x000FFFFFFFFFFFFF)) +
        word_constant(range.first_step);
    real_t moved[POSE_FIELDS];
    move_pose(steps, word_constant(range.chain), word_constant(range.seed),
              real_constant(maximum_translation), real_constant(maximum_half_turns),
              real_constant(interaction.box[0]), real_constant(interaction.box[1]),
              real_constant(interaction.box[2]), pose, moved);
    for (std::size_t field = 0; field < POSE_FIELDS; ++field) {
      pose[field] = moved[field];
      store(moved[field], &batch.pose[field][first], room);
    }
  }

  static void place_vector(MoveBatch& batch, std::size_t first, std::size_t room,
                           const real_t (&pose)[POSE_FIELDS]) {
    for (std::size_t site = 0; 3 * site < batch.reference.size(); ++site) {
      real_t reference[3];
      real_t displacement[3];
      for (std::size_t k = 0; k < 3; ++k) {
        reference[k] = load(&batch.reference[3 * site + k][first], room);
      }
      rotate_site(pose, reference, displacement);
      for (std::size_t k = 0; k < 3; ++k) {
        store(displacement[k], &batch.displacement[3 * site + k][first], room);
      }
    }
  }
};

template <class Real>
void propose(const ProposeMovesArguments<Real>& a) {
  const LaneMover mover{a.range, a.interaction, a.chain_state[STATE_MAXIMUM_TRANSLATION],
                        a.chain_state[STATE_MAXIMUM_HALF_TURNS]};
  Proposal(a, mover).run();
}

}  // namespace

void ProposeMovesFp64(const ProposeMovesArguments<double>& a) { propose(a); }
void ProposeMovesMixed(const ProposeMovesArguments<float>& a) { propose(a); }

}  // namespace starpmc::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace starpmc::simd {
HWY_EXPORT(ProposeMovesFp64);
HWY_EXPORT(ProposeMovesMixed);

template <>
void propose_moves(const ProposeMovesArguments<double>& a) {
  HWY_DYNAMIC_DISPATCH(ProposeMovesFp64)(a);
}
template <>
void propose_moves(const ProposeMovesArguments<float>& a) {
  HWY_DYNAMIC_DISPATCH(ProposeMovesMixed)(a);
}
}  // namespace starpmc::simd
#endif
