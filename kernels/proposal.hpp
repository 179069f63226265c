#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "kernels/arguments.hpp"
#include "kernels/window_plan.hpp"

namespace starpmc {

/// Candidates that can be moved side by side: none starts from another of them.
/// Structure of arrays, so that lanes can run over the moves.
struct MoveBatch {
  std::vector<int> entries;
  std::vector<double> steps;  ///< step minus the window's first, exact in a double
  std::array<std::vector<double>, POSE_FIELDS> pose;  ///< in: where from; out: where to
  std::vector<std::vector<double>> reference;         ///< x, y, z of each site in the body frame
  std::vector<std::vector<double>> displacement;      ///< out: x, y, z of each site from the centre

  void resize(std::size_t count, int sites) {
    entries.resize(count);
    steps.resize(count);
    for (auto& field : pose) field.resize(count);
    reference.resize(static_cast<std::size_t>(3 * sites));
    displacement.resize(static_cast<std::size_t>(3 * sites));
    for (auto& field : reference) field.resize(count);
    for (auto& field : displacement) field.resize(count);
  }
  std::size_t size() const { return entries.size(); }
};

/// Everything of propose_moves but the arithmetic.
/// @tparam Mover has place(MoveBatch&) (sites of given poses), move(MoveBatch&) (new poses and
/// their
///               sites) and thresholds(std::span<double>) for the steps of the window
template <class Real, class Mover>
class Proposal {
 public:
  Proposal(const ProposeMovesArguments<Real>& arguments, Mover mover)
      : a_(arguments), mover_(mover), capacity_(entry_capacity(arguments.layout)) {}

  void run() {
    WindowPlanner(a_.layout, a_.topology.shape.molecules).plan(a_.range, a_.plan);
    std::fill(a_.outside.begin(), a_.outside.end(), PairReal<Real>{0});
    std::fill_n(a_.outside.begin(), a_.topology.shape.molecules, PairReal<Real>{1});
    place_starts();
    for (int visit = 0; visit < STARPMC_MAXIMUM_VISITS; ++visit) move_candidates(visit);
    mover_.thresholds(a_.entries.subspan(static_cast<std::size_t>(entries_threshold(a_.layout)),
                                         static_cast<std::size_t>(a_.plan[PLAN_STEPS])));
  }

 private:
  void place_starts() {
    MoveBatch batch;
    const auto starts = static_cast<std::size_t>(a_.plan[PLAN_STARTS]);
    batch.resize(starts, a_.layout.sites);
    for (std::size_t slot = 0; slot < starts; ++slot) {
      const int molecule = a_.plan[static_cast<std::size_t>(plan_start_molecule(a_.layout)) + slot];
      a_.outside[static_cast<std::size_t>(molecule)] = PairReal<Real>{0};
      batch.entries[slot] = start_entry(a_.layout, static_cast<int>(slot));
      for (std::size_t field = 0; field < POSE_FIELDS; ++field) {
        batch.pose[field][slot] = a_.lattice[field * static_cast<std::size_t>(a_.layout.molecules) +
                                             static_cast<std::size_t>(molecule)];
      }
      take_reference(batch, slot, molecule);
    }
    mover_.place(batch);
    store(batch);
  }

  void move_candidates(int visit) {
    std::vector<int> chosen;
    for (int candidate = 0; candidate < a_.plan[PLAN_CANDIDATES]; ++candidate) {
      const int step = a_.plan[plan_candidate_step(a_.layout) + candidate];
      if (a_.plan[plan_step_visit(a_.layout) + step] == visit) chosen.push_back(candidate);
    }
    if (chosen.empty()) return;
    MoveBatch batch;
    batch.resize(chosen.size(), a_.layout.sites);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const int step = a_.plan[plan_candidate_step(a_.layout) + chosen[i]];
      const int parent = a_.plan[plan_candidate_parent(a_.layout) + chosen[i]];
      batch.entries[i] = chosen[i];
      batch.steps[i] = step;
      for (std::size_t field = 0; field < POSE_FIELDS; ++field) {
        batch.pose[field][i] = a_.entries[field * static_cast<std::size_t>(capacity_) +
                                          static_cast<std::size_t>(parent)];
      }
      take_reference(batch, i, a_.plan[plan_step_molecule(a_.layout) + step]);
    }
    mover_.move(batch);
    store(batch);
  }

  void take_reference(MoveBatch& batch, std::size_t index, int molecule) {
    const int type = a_.topology.type_of(molecule);
    for (int site = 0; site < a_.layout.sites; ++site) {
      for (int k = 0; k < 3; ++k) {
        batch.reference[static_cast<std::size_t>(3 * site + k)][index] =
            site < a_.topology.site_count(type) ? a_.topology.site(type, site)[k] : 0.0;
      }
    }
  }

  void store(const MoveBatch& batch) {
    const auto capacity = static_cast<std::size_t>(capacity_);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto entry = static_cast<std::size_t>(batch.entries[i]);
      for (std::size_t field = 0; field < POSE_FIELDS; ++field) {
        a_.entries[field * capacity + entry] = batch.pose[field][i];
      }
      for (std::size_t k = 0; k < batch.displacement.size(); ++k) {
        a_.entries[(POSE_FIELDS + k) * capacity + entry] = batch.displacement[k][i];
      }
    }
  }

  const ProposeMovesArguments<Real>& a_;
  Mover mover_;
  int capacity_;
};

}  // namespace starpmc
