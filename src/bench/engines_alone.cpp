#include "bench/engines_alone.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "qm/make_engine.hpp"

namespace starpmc {
namespace {

using Clock = std::chrono::steady_clock;

/// Largest component of the fields, kJ/mol per elementary charge and angstrom: as water's.
constexpr double kField = 20;

/// The field of an update: other directions, the same for all engines.
Vector3 field(unsigned update) {
  constexpr double kTurn = 2.4;  // radians: no two alike
  const double angle = kTurn * update;
  return {kField * std::cos(angle), kField * std::sin(angle), kField * std::cos(2 * angle)};
}

class Engine {
 public:
  Engine(const BenchSystem& bench, unsigned updates) : bench_(bench), updates_(updates) {}

  void run() {
    try {
      const auto engine = make_engine(bench_.settings.qm, *bench_.system.solute, {});
      ready = Clock::now();
      for (unsigned update = 0; update < updates_; ++update) make_update(*engine, field(update));
      done = Clock::now();
    } catch (...) {
      error = std::current_exception();
    }
  }

  Clock::time_point ready;
  Clock::time_point done;
  std::exception_ptr error;

 private:
  void make_update(QmEngine& engine, const Vector3& direction) const {
    const auto potential = [&](double x, double y, double z) {
      return direction.x * x + direction.y * y + direction.z * z;
    };
    const DensityGrid& points = engine.quadrature_points();
    std::vector<double> at_points;
    for (std::size_t i = 0; i < points.x.size(); ++i) {
      at_points.push_back(potential(points.x[i], points.y[i], points.z[i]));
    }
    std::vector<double> at_nuclei;
    for (const Vector3& place : bench_.system.solute->positions) {
      at_nuclei.push_back(potential(place.x, place.y, place.z));
    }
    engine.update(at_points, at_nuclei, {});
  }

  const BenchSystem& bench_;
  unsigned updates_;
};

}  // namespace

double engines_alone_seconds(const BenchSystem& bench, unsigned engines, unsigned updates) {
  std::vector<std::unique_ptr<Engine>> all;
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < engines; ++i) {
    all.push_back(std::make_unique<Engine>(bench, updates));
    threads.emplace_back(&Engine::run, all.back().get());
  }
  for (std::jthread& thread : threads) thread.join();
  for (const auto& engine : all) {
    if (engine->error != nullptr) std::rethrow_exception(engine->error);
  }
  const auto ready = [](const auto& engine) { return engine->ready; };
  const auto done = [](const auto& engine) { return engine->done; };
  const std::chrono::duration<double> span = (*std::ranges::max_element(all, {}, done))->done -
                                             (*std::ranges::min_element(all, {}, ready))->ready;
  return span.count();
}

}  // namespace starpmc
