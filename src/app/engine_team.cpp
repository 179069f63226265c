#include "app/engine_team.hpp"

#include <starpu.h>

#include <algorithm>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "codelets/operations.hpp"
#include "kernels/base/logging.hpp"
#include "qm/errors.hpp"
#include "runtime/codelet.hpp"

namespace starpmc {
namespace {

/// Pieces of a batch that nobody has begun: each holds memory.
constexpr std::size_t kMostWaiting = 32;

/// One CPU worker is left to what the calling thread does.
std::size_t at_once_beside_caller() { return std::max(2U, starpu_cpu_worker_get_count()) - 1; }

}  // namespace

EngineTeam::~EngineTeam() { dismiss(); }

void EngineTeam::submit(Member& member, double size) {
  const auto body = [](void* self, std::span<const std::span<const double>>) {
    auto& it = *static_cast<Member*>(self);
    it.team.task(it);
  };
  codelets::qm_preparation(body, &member, size);
}

void EngineTeam::task(Member& member) noexcept {
  const bool starts = member.engine == nullptr;
  std::exception_ptr error;
  try {
    codelets::throw_if_failed();  // of another one: the run ends
    starts ? start_engine(member) : do_piece(member);
  } catch (...) {
    error = std::current_exception();
  }
  // Under the lock, as the team may end with it.
  const std::lock_guard lock(mutex_);
  member.busy = false;
  if (!starts) batch_->end_piece(member, error);
  changed_.notify_all();
}

void EngineTeam::Batch::end_piece(Member& member, const std::exception_ptr& error) {
  --at_work_;
  try {
    if (error != nullptr) std::rethrow_exception(error);
    ++done_;
  } catch (const WorkersLost& lost) {
    if (member.engine != own_) {
      spdlog::warn("a QM worker is lost, others do its part of the reference: {}", lost.what());
      member.lost = true;
      again_.push_back(member.piece);
      return;
    }
    if (error_ == nullptr) error_ = error;
  } catch (...) {
    if (error_ == nullptr) error_ = error;
  }
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
    if (batch_->work_.prepare) batch_->work_.prepare(*member.engine);
    member.prepared = true;
  }
  batch_->work_.piece(*member.engine, member.piece);
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
    try {
      submit(*member, 1);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      std::erase_if(members_, [member](const Member& one) { return &one == member; });
      throw;
    }
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
  lock.unlock();
  // A process may take half a second to end, and there are as many as cores.
  std::vector<std::jthread> ending;
  for (Member& member : gone) ending.emplace_back([&member] { member.started.reset(); });
}

std::size_t EngineTeam::helpers(const QmEngine& own) {
  if (starpu_cpu_worker_get_count() == 0) return 0;
  const std::lock_guard lock(mutex_);
  const auto there = std::ranges::count_if(members_, [&](const Member& member) {
    return member.serves() && member.engine != nullptr && member.engine != &own;
  });
  return std::min(static_cast<std::size_t>(there), at_once_beside_caller());
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
  const auto idle = std::ranges::find_if(members_, [](const Member& member) {
    return !member.busy && !member.lost && member.engine != nullptr;
  });
  return idle == members_.end() ? nullptr : &*idle;
}

/// Pieces to all that are idle, as many as may be at work.
void EngineTeam::Batch::hand_out(std::unique_lock<std::mutex>& lock) {
  while (waiting() > 0 && at_work_ < at_once_ && error_ == nullptr) {
    Member* const member = team_.idle_member();
    if (member == nullptr) return;
    member->busy = true;
    if (again_.empty()) {
      member->piece = next_++;
    } else {
      member->piece = again_.back();
      again_.pop_back();
    }
    ++at_work_;
    lock.unlock();
    std::exception_ptr error;
    try {
      team_.submit(*member, work_.size);  // waits for a worker
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

EngineTeam::Batch::Batch(EngineTeam& team, QmEngine* own, Work work)
    : team_(team), own_(own), work_(std::move(work)), at_once_(at_once_beside_caller()) {
  const std::lock_guard lock(team_.mutex_);
  for (Member& member : team_.members_) member.prepared = false;
  if (own_ != nullptr) {
    Member& mine = team_.members_.emplace_front(team_);
    mine.engine = own_;
    mine.prepared = true;
  }
  team_.batch_ = this;
  foreman_ = std::thread([this] {
    std::unique_lock its_lock(team_.mutex_);
    while (true) {
      hand_out(its_lock);
      team_.changed_.notify_all();
      if (!open_) return;  // maybe since a moment ago: hand_out() gives up the lock
      team_.changed_.wait(its_lock);
    }
  });
}

EngineTeam::Batch::~Batch() {
  std::unique_lock lock(team_.mutex_);
  close(lock);
}

/// Nothing is handed out any more, and nobody is at work.
void EngineTeam::Batch::close(std::unique_lock<std::mutex>& lock) {
  if (!open_) return;
  open_ = false;
  known_ = next_;
  again_.clear();
  team_.changed_.notify_all();
  lock.unlock();
  foreman_.join();
  lock.lock();
  team_.changed_.wait(lock, [this] { return at_work_ == 0; });
  team_.batch_ = nullptr;
  if (own_ != nullptr) team_.remove(lock, *own_);
}

/// Until so many at most are not begun, a piece has failed or no engine is left; none: until all
/// are done.
void EngineTeam::Batch::wait_for(std::unique_lock<std::mutex>& lock, std::size_t most_waiting,
                                 const Progress& progress) {
  const std::size_t at_once = at_once_;
  if (own_ != nullptr) at_once_ = std::numeric_limits<std::size_t>::max();
  team_.changed_.notify_all();
  std::size_t told = done_;
  while (error_ == nullptr && std::ranges::any_of(team_.members_, &Member::serves) &&
         waiting() + (most_waiting == 0 ? at_work_ : 0) > most_waiting) {
    team_.changed_.wait(lock);
    if (progress && done_ > std::exchange(told, done_)) progress(done_);
  }
  at_once_ = at_once;
}

void EngineTeam::Batch::add() {
  std::unique_lock lock(team_.mutex_);
  ++known_;
  if (starpu_cpu_worker_get_count() == 0) {
    work_.piece(*own_, next_++);
    ++done_;
    return;
  }
  team_.changed_.notify_all();
  if (waiting() > kMostWaiting) wait_for(lock, kMostWaiting / 2, {});
  throw_if_failed(lock);
}

void EngineTeam::Batch::throw_if_failed(std::unique_lock<std::mutex>& lock) {
  if (error_ == nullptr) return;
  close(lock);
  std::rethrow_exception(std::exchange(error_, nullptr));
}

bool EngineTeam::Batch::wait() {
  std::unique_lock lock(team_.mutex_);
  wait_for(lock, 0, {});
  throw_if_failed(lock);
  return done_ == known_;
}

std::size_t EngineTeam::Batch::engines() const {
  const std::lock_guard lock(team_.mutex_);
  return count_engines();
}

std::size_t EngineTeam::Batch::count_engines() const {
  return static_cast<std::size_t>(std::ranges::count(team_.members_, true, &Member::prepared));
}

std::size_t EngineTeam::Batch::finish(const Progress& progress) {
  std::unique_lock lock(team_.mutex_);
  wait_for(lock, 0, progress);
  throw_if_failed(lock);
  const std::size_t took_part = count_engines();
  close(lock);
  return took_part;
}

std::size_t EngineTeam::run(QmEngine& own, const Work& work, const Progress& progress) {
  if (starpu_cpu_worker_get_count() == 0) {
    for (std::size_t piece = 0; piece < work.pieces; ++piece) {
      if (progress) progress(piece);
      work.piece(own, piece);
    }
    return 1;
  }
  Batch batch(*this, &own, work);
  {
    const std::lock_guard lock(mutex_);
    batch.known_ = work.pieces;
  }
  if (progress) progress(0);
  return batch.finish(progress);
}

}  // namespace starpmc
