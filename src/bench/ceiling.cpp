#include "bench/ceiling.hpp"

#include <algorithm>

#include "bench/measurement.hpp"
#include "codelets/operations.hpp"
#include "kernels/with_precision.hpp"
#include "runtime/data_handle.hpp"

namespace starpmc {
namespace {

constexpr double kLongEnough = 0.005;  // seconds: beside it a task's own cost vanishes
constexpr int kMostRounds = 1 << 28;
constexpr int kFewestRepetitions = 5;

/// Operations per second of one task.
template <class Real>
double rate_of_task(ArithmeticLoop loop, int rounds, const DataHandle& result, double& seconds) {
  const TaskTimes before = TaskTimes::take();
  codelets::arithmetic_probe<Real>(loop, rounds, result.get());
  seconds = TaskTimes::take().since(before).seconds();
  const HostAccess<double> access(result, STARPU_R);
  return access.data()[0] / seconds;
}

template <class Real>
double best_rate(ArithmeticLoop loop, double time) {
  const DataHandle result = DataHandle::temporary<double>(2);
  int rounds = 256;
  double seconds = 0;
  double best = rate_of_task<Real>(loop, rounds, result, seconds);
  while (seconds < kLongEnough && rounds < kMostRounds) {
    rounds *= 2;
    best = rate_of_task<Real>(loop, rounds, result, seconds);
  }
  // A ceiling: what disturbs a measurement only lowers it.
  const int repetitions = std::max(kFewestRepetitions, static_cast<int>(time / seconds));
  for (int i = 0; i < repetitions; ++i) {
    best = std::max(best, rate_of_task<Real>(loop, rounds, result, seconds));
  }
  return best;
}

}  // namespace

double ArithmeticRates::ceiling() const {
  return std::min(reciprocal_roots_per_second, multiply_adds_per_second / kOperationsPerPair);
}

ArithmeticRates measure_arithmetic(Precision precision, double seconds) {
  return with_precision(precision, [&]<class Real>() -> ArithmeticRates {
    return {best_rate<Real>(ArithmeticLoop::multiply_add, seconds),
            best_rate<Real>(ArithmeticLoop::reciprocal_root, seconds),
            best_rate<Real>(ArithmeticLoop::pair, seconds)};
  });
}

}  // namespace starpmc
