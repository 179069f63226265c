#include "kernels/all_precisions.hpp"
#include "kernels/operations.hpp"
#include "kernels/proposal.hpp"
#include "kernels/scalar/moves.hpp"

namespace starpmc::scalar {
namespace {

/// One move at a time.
class PlainMover {
 public:
  explicit PlainMover(const MoveContext& context) : c_(context) {}

  void draw(std::uint64_t first_step, std::span<int> picks, std::span<double> thresholds) const {
    for (std::size_t i = 0; i < picks.size(); ++i) {
      double pick = 0;
      double acceptance = 0;
      draw_pair(first_step + i, STREAM_PICK, c_.range.chain, c_.range.seed, &pick, &acceptance);
      picks[i] = chosen_molecule(pick, first_step + i, c_.chain_state, c_.topology.shape.molecules);
      thresholds[i] = acceptance_threshold(acceptance, c_.range.thermal_energy);
    }
  }

  void place(std::span<const int> entries) const {
    for (const int entry : entries) {
      double pose[POSE_FIELDS];
      for (int field = 0; field < POSE_FIELDS; ++field) pose[field] = c_.field(field)[entry];
      place_sites(entry, pose);
    }
  }

  void move(std::span<const int> candidates) const {
    for (const int candidate : candidates) {
      double pose[POSE_FIELDS];
      double moved[POSE_FIELDS];
      const int parent = c_.parent_of(candidate);
      for (int field = 0; field < POSE_FIELDS; ++field) pose[field] = c_.field(field)[parent];
      const double* const box = c_.interaction.box;
      move_pose(c_.range.first_step + static_cast<word_t>(c_.step_of(candidate)), c_.range.chain,
                c_.range.seed, c_.maximum_translation, c_.maximum_half_turns, box[0], box[1],
                box[2], pose, moved);
      if (c_.chain_state[STATE_REGION_MOLECULES] > 0) {
        confine_pose(&c_.chain_state[STATE_REGION_CENTRE], c_.chain_state[STATE_REGION_SQUARE], box,
                     pose, moved);
      }
      for (int field = 0; field < POSE_FIELDS; ++field) c_.field(field)[candidate] = moved[field];
      place_sites(candidate, moved);
    }
  }

 private:
  void place_sites(int entry, const double* pose) const {
    const int type = c_.type_of(entry);
    for (int site = 0; site < c_.layout.sites; ++site) {
      double displacement[3];
      rotate_site(pose, c_.topology.site(type, site), displacement);
      for (int k = 0; k < 3; ++k) c_.field(POSE_FIELDS + 3 * site + k)[entry] = displacement[k];
    }
  }

  const MoveContext& c_;
};

}  // namespace

template <class Real>
void propose_moves(const ProposeMovesArguments<Real>& a) {
  const MoveContext context(a);
  const PlainMover mover(context);
  Proposal(a, mover).run();
}

STARPMC_FOR_ALL_PRECISIONS(propose_moves)

}  // namespace starpmc::scalar
