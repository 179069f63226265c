#include "bench/engines_alone.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
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

void make_update(QmEngine& engine, const Solute& solute, const Vector3& direction) {
  const auto potential = [&](double x, double y, double z) {
    return direction.x * x + direction.y * y + direction.z * z;
  };
  const DensityGrid& points = engine.quadrature_points();
  std::vector<double> at_points;
  for (std::size_t i = 0; i < points.x.size(); ++i) {
    at_points.push_back(potential(points.x[i], points.y[i], points.z[i]));
  }
  std::vector<double> at_nuclei;
  for (const Vector3& place : solute.positions) {
    at_nuclei.push_back(potential(place.x, place.y, place.z));
  }
  engine.update(at_points, at_nuclei, {});
}

struct Span {
  Clock::time_point ready;
  Clock::time_point done;
};

Span run_engine(const BenchSystem& bench, unsigned updates) {
  const auto engine = make_engine(bench.settings.qm, *bench.system.solute);
  Span span{Clock::now(), {}};
  for (unsigned i = 0; i < updates; ++i) make_update(*engine, *bench.system.solute, field(i));
  span.done = Clock::now();
  return span;
}

}  // namespace

double engines_alone_seconds(const BenchSystem& bench, unsigned engines, unsigned updates) {
  std::vector<std::future<Span>> running;
  for (unsigned i = 0; i < engines; ++i) {
    running.push_back(std::async(std::launch::async, [&] { return run_engine(bench, updates); }));
  }
  Span all{Clock::time_point::max(), Clock::time_point::min()};
  for (std::future<Span>& engine : running) {
    const Span one = engine.get();
    all = {std::min(all.ready, one.ready), std::max(all.done, one.done)};
  }
  return std::chrono::duration<double>(all.done - all.ready).count();
}

}  // namespace starpmc
