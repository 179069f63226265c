#pragma once

#include <functional>

namespace starpmc::codelets {

/// How long tasks take that share a device.
///
/// StarPU lets the time of a device's task begin when the one before it ends. Of tasks side by side
/// the one that is waited for has taken all the time, and those that are done behind it none: the
/// small ones microseconds, the large ones milliseconds too many. Here they share their time, each
/// in proportion to what it is expected to take.
class DevicePace {
 public:
  /// Of a task that ends; called in the order of their ends.
  /// @param microseconds since it or the task before it has ended, whichever is later
  /// @param expected     in any unit, the same for all tasks; NaN or 0: not known. Asked only of a
  ///                     task that has shared the device
  /// @param others       whether the device has more tasks now
  /// @return microseconds that it has taken of the device; NaN: too few have shared it so far
  double duration(double microseconds, const std::function<double()>& expected, bool others);

 private:
  bool others_before_ = false;  ///< when the last task ended
  double microseconds_ = 0;     ///< of the last tasks that shared it; old ones fade
  double expected_ = 0;
  unsigned tasks_ = 0;
};

/// The same for tasks of one of StarPU's workers that drives a device; from its thread.
double duration_on_device(int worker, double microseconds, const std::function<double()>& expected,
                          bool others);

}  // namespace starpmc::codelets
