#include "app/preparation_chains.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>
#include <thread>
#include <utility>

#include "qm/errors.hpp"
#include "sampling/reference_tables.hpp"

namespace starpmc {
namespace {

/// Of the first, the others count down: no run's chain has them.
constexpr std::uint32_t kFirstChain = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kFewestHeldOut = 2;
/// Potentials that nobody has taken yet.
constexpr std::size_t kMostUntaken = 8;

class NoObserver final : public ChainObserver {
 public:
  void on_step(std::uint64_t, bool, const EnergyTerms&) override {}
  void on_frame(std::uint64_t, std::span<const Molecule>) override {}
};

/// The numbers of a chain's configurations: the last chain has those held out, the others in turn.
std::vector<std::size_t> numbers_of(std::size_t chain, std::uint64_t configurations) {
  const std::uint64_t first = configurations - PreparationChains::held_out(configurations);
  constexpr std::size_t last_chain = PreparationChains::kChains - 1;
  std::vector<std::size_t> numbers;
  if (chain == last_chain) {
    for (std::uint64_t i = first; i < configurations; ++i) numbers.push_back(i);
  } else {
    for (std::uint64_t i = chain; i < first; i += last_chain) numbers.push_back(i);
  }
  return numbers;
}

/// What threads make, for the one that takes it.
class Exchange {
 public:
  struct Made {
    std::size_t number;
    SolventPotential potential;
  };
  explicit Exchange(std::size_t makers) : makers_(makers) {}

  /// Waits while many wait; false: nobody takes any more.
  bool put(Made made) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || waiting_.size() < kMostUntaken; });
    if (closed_) return false;
    waiting_.push_back(std::move(made));
    changed_.notify_all();
    return true;
  }
  /// None: all has been taken.
  std::optional<Made> get() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !waiting_.empty() || makers_ == 0; });
    if (waiting_.empty()) return std::nullopt;
    Made made = std::move(waiting_.front());
    waiting_.pop_front();
    changed_.notify_all();
    return made;
  }
  /// In the thread of one who puts: there is one less when it ends.
  class Maker {
   public:
    explicit Maker(Exchange& exchange) : exchange_(exchange) {}
    ~Maker() {
      const std::lock_guard lock(exchange_.mutex_);
      --exchange_.makers_;
      exchange_.changed_.notify_all();
    }
    Maker(const Maker&) = delete;
    Maker& operator=(const Maker&) = delete;

   private:
    Exchange& exchange_;
  };
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Made> waiting_;
  std::size_t makers_;
  bool closed_ = false;
};

/// The first failure that is more than the end of others' work.
void rethrow_first(std::span<const std::exception_ptr> errors) {
  std::exception_ptr cancelled;
  for (const std::exception_ptr& error : errors) {
    if (!error) continue;
    try {
      std::rethrow_exception(error);
    } catch (const Cancelled&) {
      cancelled = error;
    }
  }
  if (cancelled) std::rethrow_exception(cancelled);
}

}  // namespace

std::uint64_t PreparationChains::held_out(std::uint64_t configurations) {
  return std::min(std::max(kFewestHeldOut, configurations / kChains), configurations);
}

PreparationChains::PreparationChains(const MakeChain& make, const Interruption& interruption,
                                     const QmEngine& engine)
    : interruption_(interruption) {
  std::uint32_t number = kFirstChain;
  for (Member& member : members_) {
    member.coarse.emplace(engine, Quadrature::coarse);
    member.fine.emplace(engine, Quadrature::fine);
    member.chain = make(number--);
  }
}

void PreparationChains::set_reference(const std::shared_ptr<const ReferenceTables>& reference) {
  for (Member& member : members_) {
    member.chain->set_reference(reference);
    member.chain->evaluate();
  }
}

nlohmann::json PreparationChains::state() {
  nlohmann::json states = nlohmann::json::array();
  for (Member& member : members_) {
    states.push_back({{"step", member.step}, {"chain", member.chain->state()}});
  }
  return states;
}

void PreparationChains::restore(const nlohmann::json& state,
                                const std::shared_ptr<const ReferenceTables>& reference) {
  for (std::size_t i = 0; i < kChains; ++i) {
    Member& member = members_[i];
    member.step = state.at(i).at("step");
    // The state has no energies of a response, as none but the last reference has one.
    member.chain->set_reference(reference);
    member.chain->restore(state.at(i).at("chain"));
    member.chain->evaluate();
  }
}

void PreparationChains::make_steps(Member& member, std::uint64_t steps,
                                   std::uint64_t tune_interval) {
  NoObserver nobody;
  const std::uint64_t end = member.step + steps;
  member.step = member.chain->run({member.step, steps, 0, tune_interval, 0}, nobody,
                                  [this] { return stopped_ || interruption_.requested(); });
  if (member.step < end) throw Cancelled();
}

void PreparationChains::start(std::vector<std::jthread>& threads,
                              const std::function<void(std::size_t)>& work,
                              std::span<std::exception_ptr> errors) {
  for (std::size_t i = 0; i < kChains; ++i) {
    threads.emplace_back([this, &work, errors, i] {
      try {
        work(i);
      } catch (...) {
        errors[i] = std::current_exception();
        stopped_ = true;
      }
    });
  }
}

void PreparationChains::relax(std::uint64_t steps, std::uint64_t tune_interval) {
  std::array<std::exception_ptr, kChains> errors;
  const std::function<void(std::size_t)> work = [&](std::size_t chain) {
    make_steps(members_[chain], steps, tune_interval);
  };
  std::vector<std::jthread> threads;
  start(threads, work, errors);
  threads.clear();  // joins them
  rethrow_first(errors);
}

void PreparationChains::sample(std::uint64_t configurations, std::uint64_t spacing,
                               Quadrature of_last, const Take& take) {
  Exchange exchange(kChains);
  std::array<std::exception_ptr, kChains + 1> errors;
  const std::function<void(std::size_t)> work = [&](std::size_t chain) {
    const Exchange::Maker maker(exchange);
    Member& member = members_[chain];
    const bool is_fine = chain == kChains - 1 && of_last == Quadrature::fine;
    PotentialRecorder& recorder = is_fine ? *member.fine : *member.coarse;
    for (const std::size_t number : numbers_of(chain, configurations)) {
      if (number > 0 || member.step > 0) make_steps(member, spacing, 0);
      if (!exchange.put({number, recorder.record(*member.chain)})) return;
    }
  };
  {
    std::vector<std::jthread> threads;
    try {
      start(threads, work, errors);
      while (auto made = exchange.get()) take(made->number, std::move(made->potential));
    } catch (...) {
      errors[kChains] = std::current_exception();
      stopped_ = true;
      exchange.close();
    }
  }
  rethrow_first(errors);
}

}  // namespace starpmc
