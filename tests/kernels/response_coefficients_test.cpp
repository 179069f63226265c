#include "kernels/response_coefficients.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

float rounded(float value) {
  return values_of(response_coefficients(std::vector<float>{value})).front();
}

TEST(ResponseCoefficients, AreFractionsOfElevenBits) {
  for (int exponent = -14; exponent <= 15; ++exponent) {
    for (int fraction = 1024; fraction < 2048; fraction += 11) {
      const auto value = static_cast<float>(std::ldexp(fraction, exponent - 10));
      EXPECT_EQ(rounded(value), value);
      EXPECT_EQ(rounded(-value), -value);
    }
  }
  EXPECT_EQ(rounded(0.0F), 0.0F);
}

TEST(ResponseCoefficients, AreRoundedToTheNearest) {
  std::mt19937 generator(5);
  std::uniform_real_distribution<double> logarithm(-9.7, 11);
  for (int i = 0; i < 20000; ++i) {
    const auto value = static_cast<float>((i % 2 == 0 ? 1 : -1) * std::exp(logarithm(generator)));
    int exponent = 0;
    std::frexp(value, &exponent);
    // rint() takes the even one of two that are as near.
    const double expected = std::ldexp(std::rint(std::ldexp(value, 11 - exponent)), exponent - 11);
    EXPECT_EQ(rounded(value), static_cast<float>(expected)) << value;
  }
  EXPECT_EQ(rounded(1 + 0x1p-11F), 1.0F);
  EXPECT_EQ(rounded(1 + 0x1.8p-10F), 1 + 0x1p-9F);
  EXPECT_EQ(rounded(2 - 0x1p-12F), 2.0F);
}

TEST(ResponseCoefficients, WhatIsTooSmallIsZeroAndTooLargeAnError) {
  EXPECT_EQ(rounded(0x1p-14F), 0x1p-14F);
  EXPECT_EQ(rounded(std::nextafter(0x1p-14F, 0.0F)), 0.0F);
  EXPECT_EQ(rounded(65519.0F), 65504.0F);
  const float none = std::numeric_limits<float>::quiet_NaN();
  for (const float value : {65520.0F, -1e30F, none, std::numeric_limits<float>::infinity()}) {
    EXPECT_THAT([&] { rounded(value); },
                testing::ThrowsMessage<RunError>(testing::HasSubstr("table of the response")));
  }
}

}  // namespace
}  // namespace starpmc
