#include "kernels/operations.hpp"
#include "kernels/proposal.hpp"
#include "kernels/scalar/moves.hpp"

namespace starpmc::scalar {
namespace {

/// One move at a time.
struct PlainMover {
  StepRange range;
  Interaction interaction;
  double maximum_translation;
  double maximum_half_turns;

  void place(MoveBatch& batch) const {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      double pose[POSE_FIELDS];
      for (std::size_t field = 0; field < POSE_FIELDS; ++field) pose[field] = batch.pose[field][i];
      place_sites(batch, i, pose);
    }
  }

  void move(MoveBatch& batch) const {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      double pose[POSE_FIELDS];
      double moved[POSE_FIELDS];
      for (std::size_t field = 0; field < POSE_FIELDS; ++field) pose[field] = batch.pose[field][i];
      move_pose(range.first_step + static_cast<word_t>(batch.steps[i]), range.chain, range.seed,
                maximum_translation, maximum_half_turns, interaction.box[0], interaction.box[1],
                interaction.box[2], pose, moved);
      for (std::size_t field = 0; field < POSE_FIELDS; ++field) batch.pose[field][i] = moved[field];
      place_sites(batch, i, moved);
    }
  }

  void thresholds(std::span<double> out) const {
    for (std::size_t step = 0; step < out.size(); ++step) {
      double pick = 0;
      double acceptance = 0;
      draw_pair(range.first_step + step, STREAM_PICK, range.chain, range.seed, &pick, &acceptance);
      out[step] = acceptance_threshold(acceptance, range.thermal_energy);
    }
  }

  static void place_sites(MoveBatch& batch, std::size_t i, const double* pose) {
    for (std::size_t site = 0; 3 * site < batch.reference.size(); ++site) {
      const double reference[3] = {batch.reference[3 * site][i], batch.reference[3 * site + 1][i],
                                   batch.reference[3 * site + 2][i]};
      double displacement[3];
      rotate_site(pose, reference, displacement);
      for (std::size_t k = 0; k < 3; ++k) batch.displacement[3 * site + k][i] = displacement[k];
    }
  }
};

}  // namespace

template <class Real>
void propose_moves(const ProposeMovesArguments<Real>& a) {
  const PlainMover mover{a.range, a.interaction, a.chain_state[STATE_MAXIMUM_TRANSLATION],
                         a.chain_state[STATE_MAXIMUM_HALF_TURNS]};
  Proposal(a, mover).run();
}

template void propose_moves(const ProposeMovesArguments<double>&);
template void propose_moves(const ProposeMovesArguments<float>&);

}  // namespace starpmc::scalar
