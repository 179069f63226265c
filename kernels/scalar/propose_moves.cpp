#include <algorithm>

#include "kernels/operations.hpp"
#include "kernels/scalar/moves.hpp"
#include "kernels/window_plan.hpp"

namespace starpmc::scalar {
namespace {

struct Fields {
  std::span<double> entries;
  int capacity;
  double& at(int field, int entry) const {
    return entries[static_cast<std::size_t>(field * capacity + entry)];
  }
};

void place_sites(const Topology& topology, int type, const double* pose, const Fields& fields,
                 int entry) {
  for (int site = 0; site < topology.site_count(type); ++site) {
    double displacement[3];
    rotate_site(pose, topology.site(type, site), displacement);
    for (int k = 0; k < 3; ++k) fields.at(POSE_FIELDS + 3 * site + k, entry) = displacement[k];
  }
}

}  // namespace

template <class Real>
void propose_moves(const ProposeMovesArguments<Real>& a) {
  const WindowLayout& l = a.layout;
  WindowPlanner planner(l, a.topology.shape.molecules);
  planner.plan(a.range, a.plan);
  const Fields fields{a.entries, entry_capacity(l)};
  const int molecules = a.topology.shape.molecules;
  std::fill(a.outside.begin(), a.outside.end(), Real{0});
  std::fill_n(a.outside.begin(), molecules, Real{1});

  const int* const start_molecule = &a.plan[plan_start_molecule(l)];
  for (int slot = 0; slot < a.plan[PLAN_STARTS]; ++slot) {
    const int molecule = start_molecule[slot];
    a.outside[static_cast<std::size_t>(molecule)] = Real{0};
    double pose[POSE_FIELDS];
    for (int field = 0; field < POSE_FIELDS; ++field) {
      pose[field] = a.lattice[static_cast<std::size_t>(field * l.molecules + molecule)];
      fields.at(field, start_entry(l, slot)) = pose[field];
    }
    place_sites(a.topology, a.topology.type_of(molecule), pose, fields, start_entry(l, slot));
  }

  const int* const candidate_step = &a.plan[plan_candidate_step(l)];
  const int* const candidate_parent = &a.plan[plan_candidate_parent(l)];
  // A parent always has a lower index than its candidates.
  for (int candidate = 0; candidate < a.plan[PLAN_CANDIDATES]; ++candidate) {
    double pose[POSE_FIELDS];
    double moved[POSE_FIELDS];
    for (int field = 0; field < POSE_FIELDS; ++field) {
      pose[field] = fields.at(field, candidate_parent[candidate]);
    }
    const int step = candidate_step[candidate];
    move_pose(a.range.first_step + static_cast<std::uint64_t>(step), a.range.chain, a.range.seed,
              a.chain_state[STATE_MAXIMUM_TRANSLATION], a.chain_state[STATE_MAXIMUM_HALF_TURNS],
              a.interaction.box[0], a.interaction.box[1], a.interaction.box[2], pose, moved);
    for (int field = 0; field < POSE_FIELDS; ++field) fields.at(field, candidate) = moved[field];
    const int molecule = a.plan[plan_step_molecule(l) + step];
    place_sites(a.topology, a.topology.type_of(molecule), moved, fields, candidate);
  }

  for (int step = 0; step < a.plan[PLAN_STEPS]; ++step) {
    double pick = 0;
    double acceptance = 0;
    draw_pair(a.range.first_step + static_cast<std::uint64_t>(step), STREAM_PICK, a.range.chain,
              a.range.seed, &pick, &acceptance);
    a.entries[static_cast<std::size_t>(entries_threshold(l) + step)] =
        acceptance_threshold(acceptance, a.range.thermal_energy);
  }
}

template void propose_moves(const ProposeMovesArguments<double>&);
template void propose_moves(const ProposeMovesArguments<float>&);

}  // namespace starpmc::scalar
