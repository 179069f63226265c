#pragma once

#include <chrono>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <thread>
#include <vector>

#include "app/interruption.hpp"
#include "app/progress_board.hpp"
#include "app/stopping_gate.hpp"
#include "mpi/ranks.hpp"

namespace starpmc {

/// What ranks tell each other while their chains run, by way of rank 0, on a thread of its own:
/// progress, lines of the log, chains that have come to the stopping gate, the wish to stop, and
/// when all have ended. A rank that says nothing for long ends the job.
class RankExchange {
 public:
  /// @param how_to_go_on told where a rank is lost
  RankExchange(Ranks& ranks, Interruption& interruption, ProgressBoard& progress,
               StoppingGate& gate, std::string how_to_go_on);
  ~RankExchange();
  RankExchange(const RankExchange&) = delete;
  RankExchange& operator=(const RankExchange&) = delete;

  /// A line for the log of rank 0. By any thread.
  void log(int level, const std::string& text);
  void start();
  /// This rank's chains have ended; waits until those of all ranks have.
  void wait_for_all();

 private:
  using Clock = std::chrono::steady_clock;

  void listen_to_gate();
  void add_event(nlohmann::json event);
  std::vector<nlohmann::json> take_events();
  void exchange();
  void send(const nlohmann::json& content);
  void send_news();
  void send_heartbeats();
  nlohmann::json own_progress();
  void take(const Ranks::Message& message);
  void take_event(const nlohmann::json& event, unsigned from);
  void spread_stop();
  void look_for_lost_ranks();
  /// @return whether all ranks have ended, and know it
  bool finished();

  Ranks& ranks_;
  Interruption& interruption_;
  ProgressBoard& progress_;
  StoppingGate& gate_;
  std::string how_to_go_on_;

  std::mutex mutex_;  ///< of what follows
  std::vector<nlohmann::json> events_;
  bool ended_ = false;  ///< this rank's chains

  std::vector<Clock::time_point> heard_;  ///< of each rank, the last time
  Clock::time_point looked_;              ///< for lost ones
  std::vector<bool> rank_ended_;
  std::vector<bool> rank_left_;  ///< its last message has come
  Clock::time_point last_heartbeat_;
  bool stop_spread_ = false;
  bool end_told_ = false;
  bool all_ended_ = false;
  std::thread thread_;
};

}  // namespace starpmc
