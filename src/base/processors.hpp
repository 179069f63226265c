#pragma once

#include <sys/types.h>

#include <span>
#include <vector>

namespace starpmc {

/// Logical processors that a thread may run on.
class Processors {
 public:
  /// Of the calling thread; none where the system does not tell.
  static Processors of_this_thread() { return of_process(0); }
  /// Of another process; none where the system does not tell, or there is no such process.
  static Processors of_process(pid_t process);
  /// @param numbers the system's
  explicit Processors(std::span<const int> numbers);

  /// Lets the calling thread run on them; where it may not, it stays where it is. Of a child
  /// between fork() and exec(), too.
  void use() const noexcept;

  /// The system's, ascending.
  std::vector<int> numbers() const;

 private:
  Processors() = default;
  std::vector<unsigned long> mask_;
};

/// Those that the process was given, found before main(), hence before StarPU binds any thread:
/// for processes that take its place or are its children.
Processors& processors_at_start();

}  // namespace starpmc
