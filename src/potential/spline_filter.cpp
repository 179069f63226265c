#include "potential/spline_filter.hpp"

#include <vector>

namespace starpmc {

// Inside (c[i-1] + 4 c[i] + c[i+1])/6 = f[i]; without curvature at an end c[0] = f[0]. Elimination
// from the front, then substitution from the back.
void filter_to_spline(double* values, std::size_t count, std::size_t stride, std::size_t arrays) {
  std::vector<double> pivot(count, 1.0);  // of the eliminated equation c[i] + pivot c[i+1] = ...
  pivot[0] = 0;
  for (std::size_t i = 1; i + 1 < count; ++i) {
    const double scale = 1 / (4 - pivot[i - 1]);
    pivot[i] = scale;
    double* const here = values + i * stride;
    const double* const before = here - stride;
    for (std::size_t c = 0; c < arrays; ++c) here[c] = (6 * here[c] - before[c]) * scale;
  }
  for (std::size_t i = count - 2; i > 0; --i) {
    double* const here = values + i * stride;
    const double* const after = here + stride;
    for (std::size_t c = 0; c < arrays; ++c) here[c] -= pivot[i] * after[c];
  }
}

void filter_to_spline(std::span<double> values, const int nodes[3], int components) {
  const auto x_nodes = static_cast<std::size_t>(nodes[0]);
  const auto y_nodes = static_cast<std::size_t>(nodes[1]);
  const auto z_nodes = static_cast<std::size_t>(nodes[2]);
  const auto point = static_cast<std::size_t>(components);
  const std::size_t row = z_nodes * point;
  const std::size_t plane = y_nodes * row;
  for (std::size_t i = 0; i < x_nodes; ++i) {
    for (std::size_t j = 0; j < y_nodes; ++j) {
      filter_to_spline(&values[i * plane + j * row], z_nodes, point, point);
    }
    filter_to_spline(&values[i * plane], y_nodes, row, row);
  }
  filter_to_spline(values.data(), x_nodes, plane, plane);
}

}  // namespace starpmc
