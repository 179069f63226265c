#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace starpmc {

/// As series() of reference_ensemble.py.
inline std::vector<double> reference_series(unsigned chain, std::size_t samples,
                                            double offset = 0.1) {
  constexpr std::size_t window = 16;
  std::vector<double> raw(samples + window - 1);
  std::uint64_t value = 12345 + 1000003ULL * chain;
  for (double& number : raw) {
    value = (1103515245 * value + 12345) % (1ULL << 31);
    number = std::ldexp(static_cast<double>(value), -31);
  }
  std::vector<double> series(samples);
  for (std::size_t i = 0; i < samples; ++i) {
    const auto first = raw.begin() + static_cast<std::ptrdiff_t>(i);
    series[i] = std::accumulate(first, first + window, 0.0) / window + offset * chain - 1000;
  }
  return series;
}

}  // namespace starpmc
