#include "app/rank_results.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "io/chain_summary_state.hpp"
#include "runtime/codelet.hpp"

namespace starpmc {
namespace {

using nlohmann::json;

json timing_state(const CodeletTiming& timing) {
  return {timing.codelet, timing.implementation, timing.count, timing.total_seconds};
}

json worker_state(const WorkerTasks& worker) {
  return {worker.worker,
          worker.tasks,
          worker.qm_seconds,
          worker.sampling_seconds,
          worker.waited_for_data_seconds,
          worker.without_tasks_seconds};
}

json schedule_state(const Schedule& schedule) {
  return {schedule.area_bound_seconds, schedule.chain_bound_seconds, schedule.bytes_moved,
          schedule.moves};
}

/// The processes work side by side.
void add_schedule(Schedule& all, const Schedule& rank) {
  all.area_bound_seconds = std::max(all.area_bound_seconds, rank.area_bound_seconds);
  all.chain_bound_seconds = std::max(all.chain_bound_seconds, rank.chain_bound_seconds);
  all.bytes_moved += rank.bytes_moved;
  all.moves += rank.moves;
}

}  // namespace

json RankResults::state() const {
  json state{{"complete", complete},
             {"steps", steps},
             {"restored_steps", restored_steps},
             {"signal", interrupting_signal}};
  for (const char* name : {"chains", "statistics", "pressures", "codelets", "workers"}) {
    state[name] = json::array();
  }
  for (const auto& chain : chains) state["chains"].push_back(chain_summary_state(chain));
  for (const auto& chain : statistics) state["statistics"].push_back(chain.state());
  for (const auto& chain : pressures) state["pressures"].push_back(chain.state());
  for (const auto& timing : codelet_timings) state["codelets"].push_back(timing_state(timing));
  for (const auto& worker : worker_tasks) state["workers"].push_back(worker_state(worker));
  state["schedule"] = schedule_state(schedule);
  return state;
}

RankResults RankResults::from(const json& state) {
  RankResults results;
  results.complete = state.at("complete");
  results.steps = state.at("steps");
  results.restored_steps = state.at("restored_steps");
  results.interrupting_signal = state.at("signal");
  for (const json& chain : state.at("chains")) {
    results.chains.push_back(chain_summary_from(chain));
  }
  for (const json& chain : state.at("statistics")) {
    results.statistics.emplace_back().restore(chain);
  }
  for (const json& chain : state.at("pressures")) results.pressures.emplace_back().restore(chain);
  for (const json& timing : state.at("codelets")) {
    results.codelet_timings.push_back({timing.at(0), timing.at(1), timing.at(2), timing.at(3)});
  }
  for (const json& worker : state.at("workers")) {
    results.worker_tasks.push_back(
        {worker.at(0), worker.at(1), worker.at(2), worker.at(3), worker.at(4), worker.at(5)});
  }
  const json& schedule = state.at("schedule");
  results.schedule = {schedule.at(0), schedule.at(1), schedule.at(2), schedule.at(3)};
  return results;
}

void add_worker_times(RankResults& results, const std::vector<std::pair<int, std::string>>& workers,
                      const codelets::WorkerTimes::Counts& times) {
  results.worker_tasks.resize(workers.size());
  for (std::size_t w = 0; w < workers.size(); ++w) {
    WorkerTasks& worker = results.worker_tasks[w];
    const auto id = static_cast<std::size_t>(workers[w].first);
    worker.worker = workers[w].second;
    worker.waited_for_data_seconds = times.waited_for_data.at(id);
    worker.without_tasks_seconds = times.without_tasks;
  }
  results.schedule.bytes_moved = times.transfers.bytes;
  results.schedule.moves = times.transfers.count;
  for (const codelets::Codelet* codelet : codelets::Codelet::all()) {
    for (unsigned slot = 0; slot < codelets::kSlots; ++slot) {
      CodeletTiming timing{codelet->name(), codelets::implementation_name(slot), 0, 0};
      for (std::size_t w = 0; w < workers.size(); ++w) {
        const auto& counter =
            codelet->statistics().counters[slot][static_cast<std::size_t>(workers[w].first)];
        const double seconds = 1e-9 * static_cast<double>(counter.nanoseconds.load());
        timing.count += counter.tasks;
        timing.total_seconds += seconds;
        WorkerTasks& worker = results.worker_tasks[w];
        worker.tasks += counter.tasks;
        (timing.codelet.starts_with("starpmc_qm_") ? worker.qm_seconds : worker.sampling_seconds) +=
            seconds;
      }
      if (timing.count > 0) results.codelet_timings.push_back(timing);
    }
  }
}

RankResults merged(const std::vector<RankResults>& ranks) {
  RankResults all;
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (const RankResults& rank : ranks) {
    all.complete += rank.complete;
    all.steps += rank.steps;
    all.restored_steps += rank.restored_steps;
    all.interrupting_signal = std::max(all.interrupting_signal, rank.interrupting_signal);
    append(all.chains, rank.chains);
    append(all.statistics, rank.statistics);
    append(all.pressures, rank.pressures);
    append(all.worker_tasks, rank.worker_tasks);
    add_schedule(all.schedule, rank.schedule);
    for (const CodeletTiming& timing : rank.codelet_timings) {
      const auto same = std::ranges::find_if(all.codelet_timings, [&](const CodeletTiming& other) {
        return other.codelet == timing.codelet && other.implementation == timing.implementation;
      });
      if (same == all.codelet_timings.end()) {
        all.codelet_timings.push_back(timing);
      } else {
        same->count += timing.count;
        same->total_seconds += timing.total_seconds;
      }
    }
  }
  return all;
}

}  // namespace starpmc
