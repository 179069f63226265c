#include "sampling/chain_team.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "codelets/window.hpp"
#include "kernels/all_precisions.hpp"
#include "kernels/base/error.hpp"
#include "kernels/whole_units.hpp"
#include "runtime/device_failure.hpp"
#include "runtime/pair_speed.hpp"

namespace starpmc {
namespace {

/// Slower ones would have less to do than to tell.
constexpr double kLeastSpeed = 1.0 / 16;
constexpr std::size_t kMostMembers = 8;
/// Members whose times differ by less are as good as equal.
constexpr double kEqualTimes = 1.05;

template <class T>
bool same_values(const DataHandle& one, const DataHandle& other) {
  const HostAccess<T> a(one, STARPU_R);
  const HostAccess<T> b(other, STARPU_R);
  return std::ranges::equal(a.data(), b.data());
}

template <class T>
void copy_handle(const DataHandle& from, const DataHandle& to) {
  const HostAccess<T> source(from, STARPU_R);
  const HostAccess<T> target(to, STARPU_W);
  std::ranges::copy(source.data(), target.data().begin());
}

}  // namespace

std::vector<TeamWorker> team_workers(Precision precision) {
#ifdef STARPU_SIMGRID
  return {};  // tasks do not run there, and cannot wait for each other
#endif
  constexpr double kPairs = 1e8;  // enough that what a task costs besides does not count
  constexpr const char* kNames[] = {"fp64", "mixed", "fixed"};
  codelets::TaskHistory& history =
      codelets::TaskHistory::of(codelets::pair_model(kNames[static_cast<int>(precision)]));
  std::vector<TeamWorker> all;
  for (unsigned id = 0; id < starpu_worker_get_count(); ++id) {
    const int worker = static_cast<int>(id);
    const auto implementation = codelets::implementation_on(worker);
    if (!implementation) continue;
    const double microseconds = history.estimate(worker, *implementation, kPairs);
    if (microseconds > 0) all.push_back({worker, kPairs / microseconds * 1e6});
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, &TeamWorker::pairs_per_second);
  const auto slow = std::ranges::find_if(all, [&](const TeamWorker& w) {
    return w.pairs_per_second < kLeastSpeed * all.front().pairs_per_second;
  });
  all.erase(slow, all.end());
  if (all.size() > kMostMembers) all.resize(kMostMembers);
  return all;
}

std::vector<std::size_t> shares_of(std::size_t groups, const std::vector<double>& weights) {
  const double whole = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<std::size_t> firsts{0};
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    sum += weights[i];
    const auto end =
        static_cast<std::size_t>(std::lround(static_cast<double>(groups) * sum / whole));
    const std::size_t left = weights.size() - 1 - i;  // members that want one, too
    firsts.push_back(std::clamp(end, firsts.back() + 1, groups - left));
  }
  return firsts;
}

template <class Real>
ChainTeam<Real>::ChainTeam(ChainData<Real>& data, const WindowLayout& layout, std::size_t windows,
                           const std::vector<TeamWorker>& workers)
    : data_(data), layout_(layout) {
  const std::size_t stride = data.stride();
  for (const TeamWorker& worker : workers) {
    Member member{worker.worker,          WindowBuffers<Real>(layout, 1), {}, {}, {}, {}, {}, {},
                  worker.pairs_per_second};
    if (!members_.empty()) {
      member.lattice = DataHandle::temporary<double>(POSE_FIELDS * stride);
      member.lattice_sites =
          DataHandle::temporary<Real>(3 * static_cast<std::size_t>(layout.sites) * stride);
      member.chain_state = DataHandle::temporary<double>(data_.chain_state_host.size());
      member.field_cache = DataHandle::temporary<double>(FIELDS * stride);
      member.record = DataHandle::temporary<double>(
          RECORD_FIELDS * static_cast<std::size_t>(layout.steps) * windows);
    }
    members_.push_back(std::move(member));
  }
  take_density();
}

template <class Real>
void ChainTeam<Real>::release_density() {
  for (Member& member : members_) member.blocks.reset();
  if (!stale_) expect_same_states();
}

template <class Real>
void ChainTeam<Real>::expect_same_states() const {
  for (const Member& member : members_) {
    if (is_first(member) || same_values<double>(data_.lattice, member.lattice)) continue;
    throw RunError("one chain on several devices: " + codelets::worker_name(member.worker) +
                   " has decided otherwise than " + codelets::worker_name(members_.front().worker) +
                   ": a device is at fault (run.tasks = windows uses one alone)");
  }
}

template <class Real>
void ChainTeam<Real>::take_density() {
  cut_density();
  stale_ = true;
}

template <class Real>
void ChainTeam<Real>::cut_density() {
  release_density();
  BlockedPoints<Real>& density = *data_.density;
  const std::size_t blocks = density.blocks().block_count();
  const std::size_t groups = (blocks + kGroupBlocks - 1) / kGroupBlocks;
  while (members_.size() > groups) members_.pop_back();
  exchange_ = std::make_unique<EnergyExchange>(members_.size(),
                                               static_cast<std::size_t>(layout_.candidates));
  std::vector<double> weights;
  for (const Member& member : members_) weights.push_back(member.weight);
  const std::vector<std::size_t> firsts = shares_of(groups, weights);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const std::size_t first = firsts[i] * kGroupBlocks;
    const std::size_t end = std::min(firsts[i + 1] * kGroupBlocks, blocks);
    members_[i].blocks.emplace(density.part_of(first, end - first));
  }
}

template <class Real>
void ChainTeam<Real>::copy_state() {
  for (Member& member : members_) {
    if (is_first(member)) continue;
    copy_handle<double>(data_.lattice, member.lattice);
    copy_handle<Real>(data_.lattice_sites, member.lattice_sites);
    copy_handle<double>(data_.chain_state, member.chain_state);
    copy_handle<double>(data_.field_cache, member.field_cache);
  }
  stale_ = false;
}

template <class Real>
codelets::SampleHandles ChainTeam<Real>::handles_of(const Member& member,
                                                    starpu_data_handle_t record) const {
  const bool first = is_first(member);
  const auto own = [&](const DataHandle& of_chain, const DataHandle& copy) {
    return first ? of_chain.get() : copy.get();
  };
  return {{member.window.mm_energies.get(),
           member.window.table.get(),
           own(data_.chain_state, member.chain_state),
           own(data_.lattice, member.lattice),
           own(data_.lattice_sites, member.lattice_sites),
           own(data_.field_cache, member.field_cache),
           first ? record : member.record.get(),
           member.window.grid_energies.get(),
           member.window.nuclei_energies.get(),
           data_.certification_handles(),
           {}},
          member.window.outside.get(),
          member.window.mm_partials.front().get(),
          member.blocks->headers.get(),
          member.blocks->points.get(),
          member.blocks->blocks,
          {}};
}

template <class Real>
void ChainTeam<Real>::submit(const TeamWindowsTask& task) {
  if (stale_) copy_state();
  try {
    for (std::size_t i = 0; i < members_.size(); ++i) submit_to(i, task);
  } catch (...) {  // members that have theirs would wait for ever
    for (std::size_t i = 0; i < members_.size(); ++i) exchange_->abandon(i);
    throw;
  }
}

template <class Real>
void ChainTeam<Real>::submit_to(std::size_t i, const TeamWindowsTask& task) {
  const Member& member = members_[i];
  codelets::sample_windows<Real>(data_.handles(member.window), data_.arguments(layout_, {}),
                                 task.range, task.extents, task.tuning,
                                 data_.certification_arguments(), data_.topology.nuclei,
                                 data_.reference_lattices(), handles_of(member, task.record),
                                 {{exchange_.get(), i}, member.worker});
}

template <class Real>
void ChainTeam<Real>::balance() {
  std::vector<double> seconds;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    seconds.push_back(exchange_->working_seconds(i));
  }
  const auto [least, most] = std::ranges::minmax(seconds);
  if (least <= 0 || most < kEqualTimes * least) return;
  const std::vector<double> now = shares();
  for (std::size_t i = 0; i < members_.size(); ++i) members_[i].weight = now[i] / seconds[i];
  cut_density();
}

template <class Real>
std::vector<double> ChainTeam<Real>::shares() const {
  const auto all = static_cast<double>(data_.density->blocks().block_count());
  std::vector<double> shares;
  for (const Member& member : members_) {
    shares.push_back(static_cast<double>(member.blocks->blocks) / all);
  }
  return shares;
}

STARPMC_CLASS_FOR_ALL_PRECISIONS(class ChainTeam)

}  // namespace starpmc
