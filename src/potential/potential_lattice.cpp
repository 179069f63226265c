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

/// What a unit charge at each point is at some positions. One per thread.
class PointKernel {
 public:
  explicit PointKernel(const LatticeSources& sources)
      : points_(sources.points),
        box_(sources.interaction),
        coulomb_(sources.interaction, sources.functions) {}

  /// @param position of an index below `count`
  /// @param is_near  whether the 1/r part is to be left out there
  template <class Position, class IsNear>
  void make(std::size_t count, const Position& position, const IsNear& is_near) {
    const std::size_t points = points_.size();
    image_.resize(count * points);
    direct_.resize(count * points);
    kernel_.resize(count * points);
    for (std::size_t n = 0; n < count; ++n) {
      const Vector3 r = position(n);
      for (std::size_t k = 0; k < points; ++k) {
        const Vector3 d = r - points_[k];
        direct_[n * points + k] = scalar::exact_distance_squared(d.x, d.y, d.z);
        image_[n * points + k] = scalar::exact_distance_squared(
            scalar::exact_image(d.x, box_.length[0], box_.inverse[0]),
            scalar::exact_image(d.y, box_.length[1], box_.inverse[1]),
            scalar::exact_image(d.z, box_.length[2], box_.inverse[2]));
      }
    }
    coulomb_.values(image_, kernel_);
    for (std::size_t n = 0; n < count; ++n) {
      if (!is_near(n)) continue;
      for (std::size_t i = n * points; i < (n + 1) * points; ++i) {
        kernel_[i] -= pole() * STARPMC_COULOMB_CONSTANT / std::sqrt(direct_[i]);
      }
    }
  }

  double pole() const { return coulomb_.pole(); }
  std::size_t points() const { return points_.size(); }
  /// Squared distances by the nearest image: [position][point].
  std::span<const double> image() const { return image_; }
  std::span<double> kernel() { return kernel_; }

  double sum(std::size_t position, std::span<const double> strengths) const {
    double sum = 0;
    const double* const kernel = &kernel_[position * points_.size()];
    for (std::size_t k = 0; k < points_.size(); ++k) sum += strengths[k] * kernel[k];
    return sum;
  }

 private:
  std::span<const Vector3> points_;
  ExactBox box_;
  RadialCoulomb coulomb_;
  std::vector<double> image_;
  std::vector<double> direct_;  ///< squared distances as they are
  std::vector<double> kernel_;
};

/// Values at the nodes of a level, some nodes at a time. One per thread.
class LevelValues {
 public:
  LevelValues(const LatticePlan& plan, const LatticeSources& sources, int level)
      : plan_(plan), sources_(sources), level_(level), kernel_(sources) {
    const double b = plan.gaussian_per_angstrom(level);
    if (b > 0 && kernel_.pole() != 0) {
      constexpr double kWhereErfIsOne = 6;
      gaussian_reach_squared_ = (kWhereErfIsOne / b) * (kWhereErfIsOne / b);
      gaussian_.emplace(b);
    }
  }

  /// @param near of each node its index among the near positions, or -1
  /// @param out  [node][lattice's components]
  void operator()(int first, std::span<const int> near, std::span<double> out) {
    const std::size_t points = kernel_.points();
    const auto stride = static_cast<std::size_t>(plan_.lattice().components);
    const std::size_t nodes = out.size() / stride;
    const auto is_near = [&](std::size_t n) { return !near.empty() && near[n] >= 0; };
    kernel_.make(
        nodes, [&](std::size_t n) { return plan_.position(level_, first + static_cast<int>(n)); },
        is_near);
    if (gaussian_) smooth();
    for (std::size_t n = 0; n < nodes; ++n) {
      for (std::size_t c = 0; c < static_cast<std::size_t>(plan_.components()); ++c) {
        double sum = kernel_.sum(n, sources_.strengths.subspan(c * points, points));
        if (is_near(n)) {
          const std::size_t count = plan_.near_positions().size();
          sum += kernel_.pole() * sources_.near[c * count + static_cast<std::size_t>(near[n])];
        }
        out[n * stride + c] = sum;
      }
    }
  }

 private:
  /// Wide charges for points, at nodes where that makes a difference.
  void smooth() {
    const std::size_t points = kernel_.points();
    const double pole = kernel_.pole() * STARPMC_COULOMB_CONSTANT;
    smoothed_.resize(points);
    for (std::size_t n = 0; n < kernel_.kernel().size(); n += points) {
      const std::span<const double> squared = kernel_.image().subspan(n, points);
      if (std::ranges::min(squared) > gaussian_reach_squared_) continue;
      gaussian_->values(squared, smoothed_);
      for (std::size_t k = 0; k < points; ++k) {
        kernel_.kernel()[n + k] += pole * (smoothed_[k] - 1 / std::sqrt(squared[k]));
      }
    }
  }

  const LatticePlan& plan_;
  const LatticeSources& sources_;
  int level_;
  PointKernel kernel_;
  std::optional<GaussianPotential> gaussian_;
  double gaussian_reach_squared_ = 0;
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

std::vector<std::size_t> near_positions(std::span<const Vector3> positions,
                                        std::span<const Vector3> nuclei, double distance) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const bool near = std::ranges::any_of(nuclei, [&](const Vector3& nucleus) {
      const Vector3 d = positions[i] - nucleus;
      return dot(d, d) < distance * distance;
    });
    if (near) found.push_back(i);
  }
  return found;
}

std::vector<double> direct_potential(std::span<const Vector3> positions,
                                     std::span<const std::size_t> near,
                                     const LatticeSources& sources, unsigned threads) {
  std::vector<double> potential(positions.size());
  const auto place_of = [&](std::size_t position) {
    const auto found = std::ranges::lower_bound(near, position);
    return found != near.end() && *found == position ? found - near.begin() : -1;
  };
  in_parts(static_cast<int>(positions.size()), threads, [&] {
    return [&, kernel = PointKernel(sources)](int first, int count) mutable {
      const auto begin = static_cast<std::size_t>(first);
      const auto size = static_cast<std::size_t>(count);
      kernel.make(
          size, [&](std::size_t n) { return positions[begin + n]; },
          [&](std::size_t n) { return place_of(begin + n) >= 0; });
      for (std::size_t n = 0; n < size; ++n) {
        potential[begin + n] = kernel.sum(n, sources.strengths.first(kernel.points()));
        const auto place = place_of(begin + n);
        if (place < 0) continue;
        potential[begin + n] += kernel.pole() * sources.near[static_cast<std::size_t>(place)];
      }
    };
  });
  return potential;
}

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
