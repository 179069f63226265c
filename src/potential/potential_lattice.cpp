#include "potential/potential_lattice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <thread>

#include "kernels/base/error.hpp"
#include "potential/point_sum.hpp"
#include "potential/spline_filter.hpp"

namespace starpmc {
namespace {

struct Part {
  int first = 0;
  int count = 0;
};

/// `total` things in parts of at most PointSum::kPositions, none of them in two rows.
class Parts {
 public:
  Parts(int total, int row)
      : total_(total), row_(row), of_row_((row + kMost - 1) / kMost), rows_(total / row) {}
  explicit Parts(int total) : Parts(total, std::max(total, 1)) {}

  int size() const { return total_ == 0 ? 0 : rows_ * of_row_; }
  Part operator[](int index) const {
    const int first = index % of_row_ * kMost;
    return {index / of_row_ * row_ + first, std::min(kMost, row_ - first)};
  }

 private:
  static constexpr int kMost = PointSum::kPositions;
  int total_;
  int row_;
  int of_row_;
  int rows_;
};

/// Values at the nodes of a level, some nodes at a time. One per thread.
class LevelValues {
 public:
  LevelValues(const LatticePlan& plan, const LatticeSources& sources, int level)
      : plan_(plan),
        sources_(sources),
        level_(level),
        sum_(sources.interaction, sources.functions, sources.points,
             plan.ball_radius(level, sources.points)),
        sums_(static_cast<std::size_t>(plan.components())) {}

  /// @param near of each node its index among the near positions, or -1
  /// @param out  [node][lattice's components]
  void operator()(int first, std::span<const int> near, std::span<double> out) {
    const auto stride = static_cast<std::size_t>(plan_.lattice().components);
    const std::size_t nodes = out.size() / stride;
    std::array<Vector3, PointSum::kPositions> positions;
    std::array<bool, PointSum::kPositions> bare{};
    for (std::size_t n = 0; n < nodes; ++n) {
      positions[n] = plan_.position(level_, first + static_cast<int>(n));
      bare[n] = !near.empty() && near[n] >= 0;
    }
    sum_(std::span(positions).first(nodes), std::span(bare).first(nodes), sources_.strengths,
         sums_);
    const std::size_t count = plan_.near_positions().size();
    for (std::size_t n = 0; n < nodes; ++n) {
      for (std::size_t c = 0; c < sums_.size(); ++c) {
        out[n * stride + c] = sums_[c][n];
        if (!bare[n]) continue;
        out[n * stride + c] +=
            sum_.pole() * sources_.near[c * count + static_cast<std::size_t>(near[n])];
      }
    }
  }

 private:
  const LatticePlan& plan_;
  const LatticeSources& sources_;
  int level_;
  PointSum sum_;
  std::vector<PointSum::Potentials> sums_;
};

/// Calls work(part) of a worker of its own per thread, for all parts.
template <class MakeWorker>
void in_parts(const Parts& parts, unsigned threads, const MakeWorker& make_worker) {
  std::atomic<int> next{0};
  const auto run = [&] {
    auto worker = make_worker();
    for (;;) {
      const int index = next.fetch_add(1);
      if (index >= parts.size()) return;
      worker(parts[index]);
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
  // Along z: the nodes of a part have x and y in common.
  const int row = plan.lattice().level[level].nodes[2];
  in_parts(Parts(nodes, row), threads, [&] {
    return [&, worker = LevelValues(plan, sources, level)](Part part) mutable {
      const auto begin = static_cast<std::size_t>(part.first);
      const auto size = static_cast<std::size_t>(part.count);
      std::span<const int> places(near);
      if (level == 0) places = places.subspan(begin, size);
      worker(part.first, places, std::span(values).subspan(begin * stride, size * stride));
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

std::vector<double> direct_potentials(std::span<const Vector3> positions,
                                      std::span<const std::size_t> near, std::size_t components,
                                      const LatticeSources& sources, unsigned threads) {
  std::vector<double> potentials(components * positions.size());
  const auto place_of = [&](std::size_t position) {
    const auto found = std::ranges::lower_bound(near, position);
    return found != near.end() && *found == position ? found - near.begin() : -1;
  };
  in_parts(Parts(static_cast<int>(positions.size())), threads, [&] {
    return [&, sum = PointSum(sources.interaction, sources.functions, sources.points),
            sums = std::vector<PointSum::Potentials>(components)](Part part) mutable {
      const auto begin = static_cast<std::size_t>(part.first);
      const auto size = static_cast<std::size_t>(part.count);
      std::array<bool, PointSum::kPositions> bare{};
      for (std::size_t n = 0; n < size; ++n) bare[n] = place_of(begin + n) >= 0;
      sum(positions.subspan(begin, size), std::span(bare).first(size), sources.strengths, sums);
      for (std::size_t n = 0; n < size; ++n) {
        const auto place = static_cast<std::size_t>(bare[n] ? place_of(begin + n) : 0);
        for (std::size_t c = 0; c < components; ++c) {
          double& value = potentials[c * positions.size() + begin + n];
          value = sums[c][n];
          if (bare[n]) value += sum.pole() * sources.near[c * near.size() + place];
        }
      }
    };
  });
  return potentials;
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
