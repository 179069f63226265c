#include "runtime/pair_speed.hpp"

#include <starpu.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <exception>
#include <vector>

#include "kernels/base/logging.hpp"
#include "kernels/opencl/host/handles.hpp"
#include "kernels/operations.hpp"
#include "runtime/codelet.hpp"
#include "runtime/opencl_programs.hpp"
#include "runtime/task_history.hpp"

namespace starpmc::codelets {
namespace {

/// So long takes a loop that tells the speed, and so many times as long as a call of nothing.
constexpr double kLongEnoughMicroseconds = 200;
constexpr double kTimesACall = 10;
constexpr int kMostRounds = 1 << 24;
/// The histories want ten of them, and StarPU does not count the first.
constexpr int kRecords = 11;

struct Sample {
  double pairs;
  double microseconds;
};

template <class Call>
double timed(Call call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
      .count();
}

Sample on_cpu(Precision precision, bool scalar, int rounds) {
  std::array<double, 2> result{};
  const ArithmeticProbeArguments arguments{ArithmeticLoop::pair, rounds, result};
  const bool fp64 = precision == Precision::fp64;
  const auto kernel =
      scalar ? (fp64 ? &scalar::arithmetic_probe<double> : &scalar::arithmetic_probe<float>)
             : (fp64 ? &simd::arithmetic_probe<double> : &simd::arithmetic_probe<float>);
  const double microseconds = timed([&] { kernel(arguments); });
  return {result[0], microseconds};
}

Sample on_opencl(Precision precision, int rounds) {
  const OpenclPlace place = opencl_place(precision);
  std::array<double, 2> result{};
  cl_context context = nullptr;
  starpu_opencl_get_context(starpu_worker_get_devid(starpu_worker_get_id()), &context);
  cl_int error = CL_SUCCESS;
  const opencl::Owned<cl_mem> memory(
      clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof result, nullptr, &error));
  opencl::check(error, "clCreateBuffer");
  const double microseconds = timed([&] {
    opencl::arithmetic_probe(place.program, place.queue, ArithmeticLoop::pair, rounds,
                             {memory.get()});
    opencl::check(clFinish(place.queue), "clFinish");
  });
  opencl::check(clEnqueueReadBuffer(place.queue, memory.get(), CL_TRUE, 0, sizeof result,
                                    result.data(), 0, nullptr, nullptr),
                "clEnqueueReadBuffer");
  return {result[0], microseconds};
}

/// What a worker is to measure.
struct Request {
  Precision precision;
  bool opencl;
  bool scalar;
  std::vector<Sample> samples;

  Sample run(int rounds) const {
    return opencl ? on_opencl(precision, rounds) : on_cpu(precision, scalar, rounds);
  }
};

/// The shortest of several: what disturbs a measurement makes it longer.
Sample shortest(const Request& request, int rounds, int calls) {
  Sample best = request.run(rounds);
  for (int i = 1; i < calls; ++i) {
    const Sample sample = request.run(rounds);
    if (sample.microseconds < best.microseconds) best = sample;
  }
  return best;
}

/// As little as can be, and enough to tell the speed. The first calls build kernels and wake
/// clocks.
void measure(Request& request) {
  constexpr int kFew = 3;
  constexpr int kSeveral = 8;
  request.run(1);
  request.samples = {shortest(request, 1, kSeveral)};
  const double wanted =
      std::max(kLongEnoughMicroseconds, kTimesACall * request.samples.front().microseconds);
  int rounds = 2;
  while (shortest(request, rounds, kFew).microseconds < wanted && rounds < kMostRounds) rounds *= 2;
  request.samples.push_back(shortest(request, rounds, kSeveral));
}

/// On the worker's own thread.
void on_worker(void* argument) {
  Request& request = *static_cast<Request*>(argument);
  try {
    measure(request);
  } catch (const std::exception& error) {
    request.samples.clear();
    spdlog::debug("the speed of a worker could not be measured: {}", error.what());
  }
}

}  // namespace

std::string pair_model(std::string_view precision) {
  return std::string("starpmc_pairs_") + std::string(precision);
}

void measure_pair_speeds(std::span<const Precision> precisions, bool scalar) {
#ifdef STARPU_SIMGRID
  return;  // time is the models' own there
#endif
  for (unsigned id = 0; id < starpu_worker_get_count(); ++id) {
    const int worker = static_cast<int>(id);
    const bool opencl = starpu_worker_get_type(worker) == STARPU_OPENCL_WORKER;
    if (opencl && !has_opencl_program(starpu_worker_get_devid(worker))) continue;
    const unsigned implementation = !opencl && scalar ? kScalar : kSimd;
    for (const Precision precision : precisions) {
      constexpr std::array<const char*, 3> kNames{"fp64", "mixed", "fixed"};
      TaskHistory& history =
          TaskHistory::of(pair_model(kNames[static_cast<std::size_t>(precision)]));
      if (!std::isnan(history.estimate(worker, implementation, 1))) continue;
      Request request{precision, opencl, scalar, {}};
      unsigned only = id;
      starpu_execute_on_specific_workers(on_worker, &request, 1, &only, "starpmc_pairs");
      for (const Sample& sample : request.samples) {
        for (int i = 0; i < kRecords; ++i) {
          history.record(worker, implementation, work_bucket(sample.pairs), sample.microseconds);
        }
      }
    }
  }
}

}  // namespace starpmc::codelets
