#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace starpmc {

/// Tasks and the time StarPU saw them take, since the program's start or between two moments.
struct TaskTimes {
  struct Entry {
    std::uint64_t tasks = 0;
    double seconds = 0;
    std::vector<std::uint64_t> worker_tasks;  ///< of each worker
    std::vector<double> worker_seconds;

    void add(const Entry& other);
    void subtract(const Entry& other);
  };
  std::map<std::string, Entry> codelets;
  std::vector<double> worker_seconds;

  /// As of now; waits for the tasks under way.
  /// @throws RunError when one of them has failed
  static TaskTimes take();
  TaskTimes since(const TaskTimes& earlier) const;
  void add(const TaskTimes& other);

  double seconds() const;
  /// Of the worker that worked most.
  double busiest_seconds() const;
  /// Of the codelets of each operation ("mm_pair"), whatever their precision and potential.
  std::map<std::string, Entry> operations() const;
  Entry operation(const std::string& name) const;
};

/// Time of a task that is repeated.
struct RepeatedTime {
  double seconds = 0;  ///< a task, StarPU included: median over batches
  double kernel_seconds =
      0;  ///< a task, as StarPU saw it on the worker: median of the batches' means
  std::uint64_t tasks = 0;
};

/// Of at least one value; of an even number the greater of the middle two.
double median(std::vector<double> values);

/// Tasks that are timed in turn with others.
struct TasksInTurn {
  std::function<void()> begin;  ///< called before each batch, unmeasured
  /// Submits the i-th task; neighbours must not depend on each other.
  std::function<void(std::uint64_t i)> submit;
};
/// Batches of all of them in turn, in alternating order, until each has had `seconds`: what
/// disturbs the machine meets all alike.
std::vector<RepeatedTime> repeat_in_turn(double seconds, std::span<const TasksInTurn> rivals);

/// This process's resident memory, and its peak since the last reset, MB; 0 where the system does
/// not tell.
double resident_memory_mb();
double peak_memory_mb();
/// Gives free memory back and forgets the peak so far.
void reset_peak_memory();

}  // namespace starpmc
