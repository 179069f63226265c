#include "potential/potential_lattice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <thread>

#include "kernels/base/error.hpp"
#include "potential/radial_coulomb.hpp"
#include "potential/spline_filter.hpp"

namespace starpmc {
namespace {

constexpr int kNodesAtATime = 128;

/// Values at the nodes of a level, some nodes at a time. One per thread.
class LevelValues {
 public:
  LevelValues(const LatticePlan& plan, const LatticeSources& sources, int level)
      : plan_(plan),
        sources_(sources),
        level_(level),
        box_(sources.interaction),
        coulomb_(sources.interaction, sources.functions) {
    const double b = plan.gaussian_per_angstrom(level);
    if (b > 0 && coulomb_.pole() != 0) {
      constexpr double kWhereErfIsOne = 6;
      gaussian_reach_squared_ = (kWhereErfIsOne / b) * (kWhereErfIsOne / b);
      gaussian_.emplace(b);
    }
  }

  /// @param near of each node its index among the near positions, or -1
  /// @param out  [node][lattice's components]
  void operator()(int first, std::span<const int> near, std::span<double> out) {
    const std::size_t points = sources_.points.size();
    const auto stride = static_cast<std::size_t>(plan_.lattice().components);
    const std::size_t nodes = out.size() / stride;
    make_kernel(first, nodes, near);
    for (std::size_t n = 0; n < nodes; ++n) {
      const int place = near.empty() ? -1 : near[n];
      for (std::size_t c = 0; c < static_cast<std::size_t>(plan_.components()); ++c) {
        const double* const strengths = &sources_.strengths[c * points];
        double sum = 0;
        for (std::size_t k = 0; k < points; ++k) sum += strengths[k] * kernel_[n * points + k];
        if (place >= 0) {
          const std::size_t count = plan_.near_positions().size();
          sum += coulomb_.pole() * sources_.near[c * count + static_cast<std::size_t>(place)];
        }
        out[n * stride + c] = sum;
      }
    }
  }

 private:
  /// What a unit charge at each point is at each node.
  void make_kernel(int first, std::size_t nodes, std::span<const int> near) {
    const std::size_t points = sources_.points.size();
    image_.resize(nodes * points);
    direct_.resize(nodes * points);
    kernel_.resize(nodes * points);
    for (std::size_t n = 0; n < nodes; ++n) {
      const Vector3 r = plan_.position(level_, first + static_cast<int>(n));
      for (std::size_t k = 0; k < points; ++k) {
        const Vector3 d = r - sources_.points[k];
        direct_[n * points + k] = scalar::exact_distance_squared(d.x, d.y, d.z);
        image_[n * points + k] = scalar::exact_distance_squared(
            scalar::exact_image(d.x, box_.length[0], box_.inverse[0]),
            scalar::exact_image(d.y, box_.length[1], box_.inverse[1]),
            scalar::exact_image(d.z, box_.length[2], box_.inverse[2]));
      }
    }
    coulomb_.values(image_, kernel_);
    const double pole = coulomb_.pole() * STARPMC_COULOMB_CONSTANT;
    for (std::size_t n = 0; n < nodes; ++n) {
      if (near.empty() || near[n] < 0) continue;
      for (std::size_t i = n * points; i < (n + 1) * points; ++i) {
        kernel_[i] -= pole / std::sqrt(direct_[i]);
      }
    }
    if (gaussian_) smooth(pole, points);
  }

  /// Wide charges for points, at nodes where that makes a difference.
  void smooth(double pole, std::size_t points) {
    smoothed_.resize(points);
    for (std::size_t n = 0; n < kernel_.size(); n += points) {
      const std::span<const double> squared(&image_[n], points);
      if (std::ranges::min(squared) > gaussian_reach_squared_) continue;
      gaussian_->values(squared, smoothed_);
      for (std::size_t k = 0; k < points; ++k) {
        kernel_[n + k] += pole * (smoothed_[k] - 1 / std::sqrt(squared[k]));
      }
    }
  }

  const LatticePlan& plan_;
  const LatticeSources& sources_;
  int level_;
  ExactBox box_;
  RadialCoulomb coulomb_;
  std::optional<GaussianPotential> gaussian_;
  double gaussian_reach_squared_ = 0;
  std::vector<double> image_;   ///< squared distances by the nearest image
  std::vector<double> direct_;  ///< as they are
  std::vector<double> kernel_;
  std::vector<double> smoothed_;
};

/// Calls work(first, count) of a worker of its own per thread, for parts of `total`.
template <class MakeWorker>
void in_parts(int total, unsigned threads, const MakeWorker& make_worker) {
  std::atomic<int> next{0};
  const auto run = [&] {
    auto worker = make_worker();
    for (;;) {
      const int first = next.fetch_add(kNodesAtATime);
      if (first >= total) return;
      worker(first, std::min(kNodesAtATime, total - first));
    }
  };
  std::vector<std::jthread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back(run);
  run();
}

std::vector<double> level_values(const LatticePlan& plan, const LatticeSources& sources, int level,
                                 unsigned threads) {
  const int nodes = plan.node_count(level);
  const auto stride = static_cast<std::size_t>(plan.lattice().components);
  std::vector<double> values(static_cast<std::size_t>(nodes) * stride, 0.0);
  std::vector<int> near;
  if (level == 0) {
    near.assign(static_cast<std::size_t>(nodes), -1);
    int index = 0;
    for (const int node : plan.near_nodes()) near[static_cast<std::size_t>(node)] = index++;
  }
  in_parts(nodes, threads, [&] {
    return [&, worker = LevelValues(plan, sources, level)](int first, int count) mutable {
      const auto begin = static_cast<std::size_t>(first);
      const auto size = static_cast<std::size_t>(count);
      std::span<const int> places(near);
      if (level == 0) places = places.subspan(begin, size);
      worker(first, places, std::span(values).subspan(begin * stride, size * stride));
    };
  });
  return values;
}

}  // namespace

LatticeValues make_potential_lattice(const LatticePlan& plan, const LatticeSources& sources,
                                     unsigned threads) {
  const auto components = static_cast<std::size_t>(plan.components());
  if (sources.strengths.size() != components * sources.points.size() ||
      sources.near.size() != components * plan.near_positions().size()) {
    throw RunError(fmt::format(
        "table of potentials: {} strengths and {} near potentials for {} components of {} points "
        "and {} near nodes",
        sources.strengths.size(), sources.near.size(), components, sources.points.size(),
        plan.near_positions().size()));
  }
  LatticeValues result{plan.lattice(), {}};
  for (int level = 0; level < result.lattice.levels; ++level) {
    std::vector<double> values = level_values(plan, sources, level, threads);
    filter_to_spline(values, result.lattice.level[level].nodes, result.lattice.components);
    if (!std::ranges::all_of(values, [](double x) { return std::isfinite(x); })) {
      throw RunError(
          fmt::format("table of potentials: level {} has values that are not finite", level));
    }
    for (const double value : values) result.values.push_back(static_cast<float>(value));
  }
  return result;
}

}  // namespace starpmc
