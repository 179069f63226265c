#include "app/rank_exchange.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "kernels/base/logging.hpp"
#include "mpi/rank_message.hpp"

namespace starpmc {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kLook{10};
constexpr std::chrono::milliseconds kHeartbeat{500};
/// A rank's exchange waits for nothing, however long its tasks take: silence means that the process
/// or its node is gone, or stopped.
constexpr std::chrono::seconds kSilence{30};
constexpr std::chrono::seconds kAway{5};  ///< so long this thread does not wait for anything

json progress_state(const ProgressState& state) {
  return {state.step,      state.total_steps, state.acceptance,
          state.qm_update, state.qm_updates,  state.phase};
}

ProgressState progress_from(const json& state) {
  return {state.at(0), state.at(1), state.at(2), state.at(3), state.at(4), state.at(5)};
}

}  // namespace

RankExchange::RankExchange(Ranks& ranks, Interruption& interruption, ProgressBoard& progress,
                           StoppingGate& gate, std::string how_to_go_on)
    : ranks_(ranks),
      interruption_(interruption),
      progress_(progress),
      gate_(gate),
      how_to_go_on_(std::move(how_to_go_on)),
      rank_ended_(ranks.size(), false),
      rank_left_(ranks.size(), false) {
  if (ranks_.size() > 1) listen_to_gate();
}

RankExchange::~RankExchange() {
  if (!thread_.joinable()) return;
  interruption_.request();
  wait_for_all();
}

void RankExchange::listen_to_gate() {
  gate_.set_listener(
      {[this](std::size_t chain, std::uint64_t step, const ChainStatistics& energies) {
         add_event({{"arrived", chain}, {"step", step}, {"energies", energies.state()}});
       },
       [this](std::size_t chain, std::uint64_t step) {
         add_event({{"resumed", chain}, {"step", step}});
       },
       [this](std::size_t chain, std::uint64_t step, const ChainStatistics& energies) {
         add_event({{"finished", chain}, {"step", step}, {"energies", energies.state()}});
       }});
}

void RankExchange::log(int level, const std::string& text) {
  add_event({{"log", text}, {"level", level}});
}

void RankExchange::add_event(json event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(std::move(event));
}

std::vector<json> RankExchange::take_events() {
  const std::lock_guard lock(mutex_);
  return std::exchange(events_, {});
}

void RankExchange::start() {
  if (ranks_.size() == 1) return;
  looked_ = Clock::now();
  heard_.assign(ranks_.size(), looked_);
  thread_ = std::thread([this] {
    try {
      exchange();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "starpmc: error: %s: %s\n", ranks_.name(ranks_.rank()).c_str(),
                   error.what());
      ranks_.abort(1);
    }
  });
}

void RankExchange::wait_for_all() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

void RankExchange::exchange() {
  while (!finished()) {
    while (const auto message = ranks_.receive()) take(*message);
    spread_stop();
    send_news();
    send_heartbeats();
    look_for_lost_ranks();
    std::this_thread::sleep_for(kLook);
  }
}

/// To rank 0, by rank 0 to all others.
void RankExchange::send(const json& content) {
  if (!ranks_.first()) ranks_.send(0, content);
  for (unsigned to = 1; ranks_.first() && to < ranks_.size(); ++to) ranks_.send(to, content);
}

/// Events of this rank; rank 0 hands those of another on.
void RankExchange::send_news() {
  bool ended = false;
  {
    const std::lock_guard lock(mutex_);
    ended = ended_;
  }
  const std::vector<json> events = take_events();
  if (!events.empty()) send({{"events", events}});
  if (!ended || end_told_) return;
  end_told_ = true;  // after all events: nothing of this rank comes later
  rank_ended_[ranks_.rank()] = true;
  if (!ranks_.first()) ranks_.send(0, {{"ended", true}, {"progress", own_progress()}});
}

void RankExchange::send_heartbeats() {
  const auto now = Clock::now();
  if (now - last_heartbeat_ < kHeartbeat) return;
  last_heartbeat_ = now;
  send(ranks_.first() ? json::object() : json{{"progress", own_progress()}});
}

json RankExchange::own_progress() {
  json progress = json::array();
  const std::vector<ProgressState> states = progress_.states();
  for (std::size_t chain = 0; chain < states.size(); ++chain) {
    if (states[chain].total_steps > 0) progress.push_back({chain, progress_state(states[chain])});
  }
  return progress;
}

void RankExchange::take(const Ranks::Message& message) {
  heard_[message.from] = Clock::now();
  const json& content = message.content;
  if (content.contains("progress")) {
    for (const json& chain : content.at("progress")) {
      progress_.update(chain.at(0).get<std::size_t>(), progress_from(chain.at(1)));
    }
  }
  if (content.contains("events")) {
    json for_others = json::array();
    for (const json& event : content.at("events")) {
      take_event(event, message.from);
      if (!event.contains("log")) for_others.push_back(event);
    }
    for (unsigned to = 1; ranks_.first() && !for_others.empty() && to < ranks_.size(); ++to) {
      if (to != message.from) ranks_.send(to, {{"events", for_others}});
    }
  }
  if (content.contains("stop")) interruption_.request();
  if (content.contains("ended")) rank_ended_[message.from] = true;
  if (content.contains("left")) rank_left_[message.from] = true;
  if (content.contains("all_ended")) all_ended_ = true;
}

void RankExchange::take_event(const json& event, unsigned from) {
  ChainStatistics energies;
  if (event.contains("energies")) energies.restore(event.at("energies"));
  if (event.contains("arrived")) {
    gate_.add_arrival(event.at("arrived"), event.at("step"), energies);
  } else if (event.contains("finished")) {
    gate_.set_finished(event.at("finished"), event.at("step"), energies);
  } else if (event.contains("resumed")) {
    gate_.set_passed(event.at("resumed"), event.at("step"));
  } else if (event.contains("log") && ranks_.first()) {
    spdlog::log(static_cast<spdlog::level::level_enum>(event.at("level").get<int>()), "{}: {}",
                ranks_.name(from), event.at("log").get<std::string>());
  }
}

void RankExchange::spread_stop() {
  if (stop_spread_ || !interruption_.requested()) return;
  stop_spread_ = true;
  send({{"stop", true}});
}

/// The launcher ends a job in which a rank has died; this is for where it does not notice: a lost
/// node, a stopped process. The others first save what they have.
void RankExchange::look_for_lost_ranks() {
  const auto now = Clock::now();
  // A job that was suspended as a whole: the others have not been silent, nobody was there.
  if (now - std::exchange(looked_, now) > kAway) std::ranges::fill(heard_, now);
  std::string lost;
  bool living_ended = true;
  for (unsigned rank = 0; rank < ranks_.size(); ++rank) {
    const bool self = rank == ranks_.rank();
    const bool heard = !self && (ranks_.first() || rank == 0);  // from whom this rank hears at all
    if (heard && !rank_left_[rank] && now - heard_[rank] > kSilence) {
      lost += (lost.empty() ? "" : ", ") + ranks_.name(rank);
    } else if (self || ranks_.first()) {
      living_ended = living_ended && rank_ended_[rank];
    }
  }
  if (lost.empty()) return;
  interruption_.request();
  if (!living_ended) return;
  std::fprintf(stderr,
               "starpmc: error: nothing was heard of %s for %lld s: it has died or its node is "
               "lost; the checkpoints are whole; go on with: %s\n",
               lost.c_str(), static_cast<long long>(kSilence.count()), how_to_go_on_.c_str());
  ranks_.abort(1);
}

/// Rank 0 leaves last, so that no message is on its way when MPI is put away.
bool RankExchange::finished() {
  if (!ranks_.first()) {
    if (all_ended_) ranks_.send(0, {{"left", true}});
    return all_ended_;
  }
  if (!all_ended_ && std::ranges::all_of(rank_ended_, [](bool ended) { return ended; })) {
    all_ended_ = true;
    rank_left_[0] = true;
    send({{"all_ended", true}});
  }
  return all_ended_ && std::ranges::all_of(rank_left_, [](bool left) { return left; });
}

}  // namespace starpmc
