#include "kernels/response_coefficients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

constexpr float kLeast = 0x1p-14F;        // the least normal number
constexpr float kTooLarge = 0x1.ffep15F;  // would be rounded to 2^16
constexpr unsigned kBitsLess = 13;        // of the fraction
constexpr std::uint32_t kBiasLess = (127 - 15) << 10;

ResponseCoefficient rounded(float value) {
  if (!(std::abs(value) < kTooLarge)) {
    throw RunError(fmt::format(
        "table of the response: {}, found {:.6g}; with fewer qm.response-components or another "
        "qm.basis it may be smaller",
        std::isnan(value) ? "a value is no number" : "a value is beyond the 65504 of its numbers",
        value));
  }
  if (std::abs(value) < kLeast) return {0};
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  // To the nearest, of two that are as near to the even one.
  const std::uint32_t nearest = magnitude + 0xfffU + (magnitude >> kBitsLess & 1U);
  return {
      static_cast<std::uint16_t>((bits >> 16 & 0x8000U) | ((nearest >> kBitsLess) - kBiasLess))};
}

}  // namespace

std::vector<ResponseCoefficient> response_coefficients(std::span<const float> values) {
  std::vector<ResponseCoefficient> coefficients(values.size());
  std::ranges::transform(values, coefficients.begin(), rounded);
  return coefficients;
}

std::vector<float> values_of(std::span<const ResponseCoefficient> coefficients) {
  std::vector<float> values(coefficients.size());
  std::ranges::transform(coefficients, values.begin(),
                         [](const ResponseCoefficient& c) { return response_coefficient(&c); });
  return values;
}

}  // namespace starpmc
