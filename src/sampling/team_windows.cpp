#include "sampling/team_windows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "kernels/all_precisions.hpp"
#include "kernels/whole_units.hpp"

namespace starpmc {
namespace {

/// Windows of a try, and tasks: no fewer.
constexpr std::uint64_t kWindowsToTry = 16;
constexpr std::uint64_t kTasksToTry = 2;
/// Of the density's pairs of a window, on the fastest worker: half of less is not worth an
/// exchange.
constexpr double kLeastSeconds = 150e-6;

bool has_device(const std::vector<TeamWorker>& workers) {
  return std::ranges::any_of(workers, [](const TeamWorker& worker) {
    return starpu_worker_get_type(worker.worker) == STARPU_OPENCL_WORKER;
  });
}

}  // namespace

template <class Real>
void TeamWindows<Real>::release_density() {
  if (team_ != nullptr) team_->release_density();
}

template <class Real>
void TeamWindows<Real>::take_density(ChainData<Real>& data, const WindowLayout& layout,
                                     const Conditions& conditions) {
  const bool asked_for = conditions.tasks == TaskSize::team;
  const bool possible = asked_for || (conditions.tasks == TaskSize::automatic && !settled_alone_);
  // A team's tasks wait for each other while they run, so two teams could each wait for a worker
  // that the other one has. And only certified decisions are the same on members that compute
  // differently.
  if (!possible || conditions.chains_here != 1 || !data.certified || data.density == nullptr ||
      data.density->blocks().block_count() <= kGroupBlocks) {
    dissolve();
    return;
  }
  if (team_ != nullptr) {
    team_->take_density();
    return;
  }
  const std::vector<TeamWorker> workers = team_workers(kPrecisionOf<Real>);
  if (workers.size() < 2) return;
  const bool promising = has_device(workers) &&
                         conditions.grid_pairs / workers.front().pairs_per_second > kLeastSeconds;
  if (!asked_for && !promising) return;
  // Together they take a window in less time.
  windows_per_task_ = std::clamp<std::size_t>(conditions.windows_per_task * workers.size(), 1,
                                              codelets::kMostWindowsPerTask);
  team_ = std::make_unique<ChainTeam<Real>>(data, layout, windows_per_task_, workers);
  trial_.emplace(!asked_for,
                 std::max<std::uint64_t>(kWindowsToTry, kTasksToTry * windows_per_task_) *
                     static_cast<std::uint64_t>(layout.steps));
}

template <class Real>
void TeamWindows<Real>::dissolve() {
  team_.reset();
  trial_.reset();
}

template <class Real>
void TeamWindows<Real>::data_changed() {
  if (team_ != nullptr) team_->data_changed();
}

template <class Real>
void TeamWindows<Real>::tell(const StepPace& pace) {
  if (!tries()) return;
  const bool balances = trial_->balances();
  const bool was_alone = way() == WindowWay::alone;
  const bool ended = trial_->tell(pace);
  if (was_alone) team_->data_changed();
  if (!ended) return;
  if (balances) team_->balance();
  if (!trial_->done()) return;
  spdlog::info("{}", outcome());
  if (way() != WindowWay::alone) return;
  settled_alone_ = true;
  dissolve();
}

/// For the log.
template <class Real>
std::string TeamWindows<Real>::outcome() const {
  std::vector<std::string> shares;
  for (const double share : team_->shares()) shares.push_back(fmt::format("{:.1f}", 100 * share));
  const auto pace = [&](WindowWay tried) {
    const double seconds = trial_->of(tried);
    return std::isfinite(seconds) ? fmt::format("{:.4g}", 1e6 * seconds) : std::string("?");
  };
  const bool alone = way() == WindowWay::alone;
  return fmt::format("one chain on {} workers{}: {} % of the density; {} us a step, {} alone",
                     team_->members(), alone ? ", which is not worth it" : "",
                     fmt::join(shares, ", "), pace(WindowWay::team), pace(WindowWay::alone));
}

STARPMC_CLASS_FOR_ALL_PRECISIONS(class TeamWindows)

}  // namespace starpmc
