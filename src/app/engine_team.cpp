#include "app/engine_team.hpp"

#include <starpu.h>

#include <algorithm>
#include <utility>

#include "codelets/operations.hpp"
#include "kernels/base/logging.hpp"

namespace starpmc {

EngineTeam::~EngineTeam() { dismiss(); }

void EngineTeam::submit(Member& member, double size) {
  const auto body = [](void* self, std::span<const std::span<const double>>) {
    auto& it = *static_cast<Member*>(self);
    it.team.task(it);
  };
  codelets::qm_update(body, &member, size, {});
}

void EngineTeam::task(Member& member) noexcept {
  const bool starts = member.engine == nullptr;
  std::exception_ptr error;
  try {
    starts ? start_engine(member) : do_piece(member);
  } catch (...) {
    error = std::current_exception();
  }
  // Under the lock, as the team may end with it.
  const std::lock_guard lock(mutex_);
  member.busy = false;
  if (!starts) {
    --at_work_;
    if (error == nullptr) ++done_;
    if (error_ == nullptr) error_ = error;
  }
  changed_.notify_all();
}

void EngineTeam::start_engine(Member& member) {
  try {
    std::unique_ptr<QmEngine> engine = member.start();
    const std::lock_guard lock(mutex_);
    member.started = std::move(engine);
    member.engine = member.started.get();
  } catch (const Cancelled&) {
    // So are the others, who say so.
  } catch (const std::exception& failure) {
    spdlog::warn("a further QM worker for the reference does not start, others do its part: {}",
                 failure.what());
  }
}

void EngineTeam::do_piece(Member& member) {
  if (!member.prepared) {
    if (work_->prepare) work_->prepare(*member.engine);
    member.prepared = true;
  }
  work_->piece(*member.engine, member.piece);
}

void EngineTeam::start(unsigned count, const Start& start) {
  if (starpu_cpu_worker_get_count() == 0) return;
  for (unsigned i = 0; i < count; ++i) {
    Member* member = nullptr;
    {
      const std::lock_guard lock(mutex_);
      member = &members_.emplace_back(*this);
      member->start = start;
      member->busy = true;
    }
    submit(*member, 1);
  }
}

void EngineTeam::dismiss() {
  std::list<Member> gone;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return std::ranges::none_of(members_, &Member::busy); });
  for (auto member = members_.begin(); member != members_.end();) {
    const auto next = std::next(member);
    if (member->start) gone.splice(gone.end(), members_, member);
    member = next;
  }
  lock.unlock();  // their processes end here
}

EngineTeam::Loan::Loan(EngineTeam& team, QmEngine& engine) : team_(team), engine_(engine) {
  const std::lock_guard lock(team_.mutex_);
  team_.members_.emplace_back(team_).engine = &engine_;
  team_.changed_.notify_all();
}

EngineTeam::Loan::~Loan() {
  std::unique_lock lock(team_.mutex_);
  team_.remove(lock, engine_);
}

/// Once it is at nothing.
void EngineTeam::remove(std::unique_lock<std::mutex>& lock, QmEngine& engine) {
  const auto member = std::ranges::find(members_, &engine, &Member::engine);
  changed_.wait(lock, [&] { return !member->busy; });
  members_.erase(member);
}

EngineTeam::Member* EngineTeam::idle_member() {
  const auto idle = std::ranges::find_if(
      members_, [](const Member& member) { return !member.busy && member.engine != nullptr; });
  return idle == members_.end() ? nullptr : &*idle;
}

std::size_t EngineTeam::run_here(QmEngine& own, const Work& work, const Progress& progress) {
  for (std::size_t piece = 0; piece < work.pieces; ++piece) {
    if (progress) progress(piece);
    work.piece(own, piece);
  }
  return 1;
}

/// Pieces to all that are idle.
void EngineTeam::hand_out(std::unique_lock<std::mutex>& lock) {
  while (next_ < work_->pieces && error_ == nullptr) {
    Member* const member = idle_member();
    if (member == nullptr) return;
    member->busy = true;
    member->piece = next_++;
    ++at_work_;
    lock.unlock();
    std::exception_ptr error;
    try {
      submit(*member, work_->size);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error == nullptr) continue;
    member->busy = false;
    --at_work_;
    error_ = error;
  }
}

std::size_t EngineTeam::run(QmEngine& own, const Work& work, const Progress& progress) {
  if (starpu_cpu_worker_get_count() == 0) return run_here(own, work, progress);
  std::unique_lock lock(mutex_);
  for (Member& member : members_) member.prepared = false;
  Member& mine = members_.emplace_front(*this);
  mine.engine = &own;
  mine.prepared = true;
  work_ = &work;
  next_ = done_ = at_work_ = 0;
  error_ = nullptr;
  std::size_t told = 0;
  if (progress) progress(0);
  for (;;) {
    hand_out(lock);
    if (at_work_ == 0) break;
    changed_.wait(lock);
    if (progress && done_ > std::exchange(told, done_)) progress(done_);
  }
  const auto took_part = std::ranges::count(members_, true, &Member::prepared);
  work_ = nullptr;
  remove(lock, own);
  if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
  return static_cast<std::size_t>(took_part);
}

}  // namespace starpmc
