#include "runtime/device_pace.hpp"

#include <starpu.h>

#include <array>
#include <cstddef>
#include <limits>
#include <utility>

namespace starpmc::codelets {
namespace {

/// The mean is over some rounds; a round is the 16 tasks that StarPU has under way on a device at
/// most (STARPU_OPENCL_PIPELINE).
constexpr double kFade = 1.0 / 64;
constexpr unsigned kLeastTasks = 16;

}  // namespace

double DevicePace::duration(double microseconds, const std::function<double()>& expected_of_task,
                            bool others) {
  const bool shared = std::exchange(others_before_, others) || others;
  if (!shared) return microseconds;
  const double expected = expected_of_task();
  if (!(expected > 0)) return microseconds;
  microseconds_ += microseconds - kFade * microseconds_;
  expected_ += expected - kFade * expected_;
  if (++tasks_ < kLeastTasks) return std::numeric_limits<double>::quiet_NaN();
  return expected * microseconds_ / expected_;
}

double duration_on_device(int worker, double microseconds, const std::function<double()>& expected,
                          bool others) {
  static std::array<DevicePace, STARPU_NMAXWORKERS> paces;
  return paces[static_cast<std::size_t>(worker)].duration(microseconds, expected, others);
}

}  // namespace starpmc::codelets
