#include "bench/planned_window.hpp"

#include <algorithm>

#include "kernels/window_plan.hpp"

namespace starpmc {
namespace {

constexpr double kThermalEnergy = 2.479;  // kJ/mol, 298 K

int charged_sites_of(const Topology& topology, int molecule) {
  const int type = topology.type_of(molecule);
  int count = 0;
  for (int site = 0; site < topology.site_count(type); ++site) {
    if (topology.site(type, site)[3] != 0) ++count;
  }
  return count;
}

/// Capacities as a chain chooses them.
WindowLayout layout_of(const TopologyShape& topology, int steps) {
  return {steps, 2 * steps + 2, topology.sites, topology.padded_molecules};
}

}  // namespace

double PlannedWindow::charged_sites(const Topology& topology) const {
  const Window window{layout, {}, topology, plan, {}};
  double sites = 0;
  for (int candidate = 0; candidate < extent.candidates; ++candidate) {
    sites += charged_sites_of(topology, window.molecule_of_candidate(candidate));
  }
  return sites;
}

double PlannedWindow::outside_pairs(const TopologyShape& topology) const {
  const double site_pairs = static_cast<double>(topology.sites) * topology.sites;
  return site_pairs * (extent.candidates + extent.starts) * (topology.molecules - extent.starts);
}

double PlannedWindow::table_pairs(const TopologyShape& topology) const {
  std::vector<double> entries_of_molecule(static_cast<std::size_t>(extent.starts), 1);
  for (int candidate = 0; candidate < extent.candidates; ++candidate) {
    const int step = plan[static_cast<std::size_t>(plan_candidate_step(layout) + candidate)];
    const int slot = plan[static_cast<std::size_t>(plan_step_slot(layout) + step)];
    ++entries_of_molecule[static_cast<std::size_t>(slot)];
  }
  const double all = extent.candidates + extent.starts;
  double pairs = all * all / 2;
  for (const double n : entries_of_molecule) pairs -= n * n / 2;
  return pairs * topology.sites * topology.sites;
}

double charged_sites_of_lattice(const Topology& topology) {
  double charges = 0;
  for (int m = 0; m < topology.shape.molecules; ++m) charges += charged_sites_of(topology, m);
  return charges;
}

std::vector<PlannedWindow> plan_windows(const TopologyShape& topology, std::uint64_t seed,
                                        int steps, std::size_t windows) {
  const WindowLayout layout = layout_of(topology, steps);
  WindowPlanner planner(layout, topology.molecules);
  std::vector<PlannedWindow> planned;
  std::uint64_t step = 0;
  for (std::size_t i = 0; i < windows; ++i) {
    std::vector<int> plan(static_cast<std::size_t>(plan_size(layout)));
    StepRange range{seed, step, 0, static_cast<unsigned>(steps), kThermalEnergy};
    const int planned_steps = planner.plan(range, plan);
    range.steps = static_cast<unsigned>(planned_steps);
    step += range.steps;
    planned.push_back({layout,
                       {planned_steps, plan[PLAN_CANDIDATES], plan[PLAN_STARTS]},
                       range,
                       std::move(plan)});
  }
  return planned;
}

std::uint64_t count_windows(const TopologyShape& topology, const StepRange& range,
                            std::uint64_t steps, int window_steps) {
  const WindowLayout layout = layout_of(topology, window_steps);
  WindowPlanner planner(layout, topology.molecules);
  std::vector<int> plan(static_cast<std::size_t>(plan_size(layout)));
  StepRange next = range;
  const std::uint64_t end = range.first_step + steps;
  std::uint64_t windows = 0;
  for (; next.first_step < end; ++windows) {
    next.steps = static_cast<unsigned>(
        std::min<std::uint64_t>(end - next.first_step, static_cast<std::uint64_t>(window_steps)));
    next.first_step += static_cast<std::uint64_t>(planner.plan(next, plan));
  }
  return windows;
}

}  // namespace starpmc
