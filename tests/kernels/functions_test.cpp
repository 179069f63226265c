#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <functional>

#include "kernels/scalar/evaluate.hpp"
#include "programs.hpp"

/// kernels/common/functions.h and angle_functions.h against the C library.
namespace starpmc::test {
namespace {

double exact(Operation operation, double a, double b = 0) {
  Program program;
  program.inputs = {"a", "b"};
  program.instructions = {{operation, {0, 1, 0}}};
  program.outputs = {2};
  double result = 0;
  scalar::evaluate_exact(program, std::array{a, b}, std::span(&result, 1));
  return result;
}

long double reference(Operation operation, long double a, long double b) {
  switch (operation) {
    case Operation::power:
      return std::pow(a, b);
    case Operation::exp:
      return std::exp(a);
    case Operation::log:
      return std::log(a);
    case Operation::sin:
      return std::sin(a);
    case Operation::cos:
      return std::cos(a);
    case Operation::tan:
      return std::tan(a);
    case Operation::asin:
      return std::asin(a);
    case Operation::acos:
      return std::acos(a);
    case Operation::atan:
      return std::atan(a);
    case Operation::atan2:
      return std::atan2(a, b);
    case Operation::sinh:
      return std::sinh(a);
    case Operation::cosh:
      return std::cosh(a);
    case Operation::tanh:
      return std::tanh(a);
    case Operation::erf:
      return std::erf(a);
    case Operation::erfc:
      return std::erfc(a);
    default:
      ADD_FAILURE() << "no reference for operation " << static_cast<int>(operation);
      return 0;
  }
}

/// Error in units in the last place of the rounded reference; infinite where one is finite, one
/// not.
double error_in_ulp(double value, long double expected) {
  const auto rounded = static_cast<double>(expected);
  if (std::isnan(value) || std::isnan(rounded))
    return std::isnan(value) == std::isnan(rounded) ? 0 : HUGE_VAL;
  if (std::isinf(value) || std::isinf(rounded)) return value == rounded ? 0 : HUGE_VAL;
  const double magnitude = std::abs(rounded);
  const double ulp = magnitude == std::numeric_limits<double>::max()
                         ? magnitude - std::nextafter(magnitude, 0)
                         : std::nextafter(magnitude, HUGE_VAL) - magnitude;
  return static_cast<double>(std::abs(static_cast<long double>(value) - expected) / ulp);
}

struct Range {
  Operation operation;
  const char* name;
  double low;
  double high;
  double second_low;
  double second_high;
  double largest_error;  ///< units in the last place
};

class FunctionAccuracy : public testing::TestWithParam<Range> {};

TEST_P(FunctionAccuracy, IsWithinItsBound) {
  const Range& range = GetParam();
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> first(range.low, range.high);
  std::uniform_real_distribution<double> second(range.second_low, range.second_high);
  double worst = 0;
  for (int i = 0; i < 20000; ++i) {
    const double a = first(random);
    const double b = second(random);
    const double error =
        error_in_ulp(exact(range.operation, a, b), reference(range.operation, a, b));
    ASSERT_LE(error, range.largest_error) << range.name << "(" << a << ", " << b << ")";
    worst = std::max(worst, error);
  }
  RecordProperty("largest_error_ulp", std::to_string(worst));
  // a bound far above the error would not be one
  EXPECT_GT(worst, 0.4);
}

INSTANTIATE_TEST_SUITE_P(Functions, FunctionAccuracy,
                         testing::Values(Range{Operation::exp, "exp", -745, 710, 0, 1, 1},
                                         Range{Operation::exp, "exp", -1, 1, 0, 1, 1},
                                         Range{Operation::log, "log", 0, 10, 0, 1, 1},
                                         Range{Operation::log, "log", 0.9, 1.1, 0, 1, 1},
                                         Range{Operation::power, "power", 0, 10, -300, 300, 1},
                                         Range{Operation::power, "power", 0.99, 1.01, -6e4, 6e4, 1},
                                         Range{Operation::sin, "sin", -10, 10, 0, 1, 1},
                                         Range{Operation::sin, "sin", -1.7e6, 1.7e6, 0, 1, 1},
                                         Range{Operation::sin, "sin", -1e300, 1e300, 0, 1, 1},
                                         Range{Operation::cos, "cos", -10, 10, 0, 1, 1},
                                         Range{Operation::cos, "cos", -1.7e6, 1.7e6, 0, 1, 1},
                                         Range{Operation::cos, "cos", -1e300, 1e300, 0, 1, 1},
                                         Range{Operation::tan, "tan", -10, 10, 0, 1, 2.5},
                                         Range{Operation::tan, "tan", -1e17, 1e17, 0, 1, 2.5},
                                         Range{Operation::asin, "asin", -1, 1, 0, 1, 2.5},
                                         Range{Operation::acos, "acos", -1, 1, 0, 1, 1.5},
                                         Range{Operation::acos, "acos", 0.999999, 1, 0, 1, 1.5},
                                         Range{Operation::atan, "atan", -5, 5, 0, 1, 2},
                                         Range{Operation::atan2, "atan2", -3, 3, -3, 3, 2},
                                         Range{Operation::sinh, "sinh", -3, 3, 0, 1, 2.5},
                                         Range{Operation::sinh, "sinh", -712, 712, 0, 1, 2.5},
                                         Range{Operation::cosh, "cosh", -3, 3, 0, 1, 1.5},
                                         Range{Operation::cosh, "cosh", -712, 712, 0, 1, 1.5},
                                         Range{Operation::tanh, "tanh", -3, 3, 0, 1, 2.5},
                                         Range{Operation::erf, "erf", -3, 3, 0, 1, 1.5},
                                         Range{Operation::erfc, "erfc", -3, 3, 0, 1, 3.5},
                                         Range{Operation::erfc, "erfc", 0, 27.3, 0, 1, 3.5}));

constexpr std::array kUnary{Operation::exp,  Operation::log,  Operation::sin,  Operation::cos,
                            Operation::tan,  Operation::asin, Operation::acos, Operation::atan,
                            Operation::sinh, Operation::cosh, Operation::tanh, Operation::erf,
                            Operation::erfc};

void expect_as_c(Operation operation, double a, double b) {
  const auto expected = static_cast<double>(reference(operation, a, b));
  const double value = exact(operation, a, b);
  ASSERT_LE(error_in_ulp(value, reference(operation, a, b)), 3.5)
      << "operation " << static_cast<int>(operation) << " of " << a << ", " << b << ": " << value
      << " instead of " << expected;
  if (!std::isnan(expected)) {
    ASSERT_EQ(std::signbit(value), std::signbit(expected))
        << "operation " << static_cast<int>(operation) << " of " << a << ", " << b;
  }
}

TEST(Functions, EdgesAreThoseOfC) {
  for (const double a : edge_values()) {
    for (const Operation operation : kUnary) expect_as_c(operation, a, 0);
    for (const double b : edge_values()) {
      expect_as_c(Operation::power, a, b);
      expect_as_c(Operation::atan2, a, b);
    }
  }
}

TEST(Functions, AnyBitsGiveWhatCGives) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 5000; ++i) {
    const auto a = std::bit_cast<double>(random());
    const auto b = std::bit_cast<double>(random());
    for (const Operation operation : kUnary) expect_as_c(operation, a, b);
    expect_as_c(Operation::power, a, b);
    expect_as_c(Operation::atan2, a, b);
    expect_as_c(Operation::power, a, std::rint(std::fmod(b, 40)));
  }
}

/// The double nearest to a multiple of pi/2: only 1.7e-19 of it is left (W. Kahan).
TEST(Functions, AnglesNearMultiplesOfAQuarterTurn) {
  EXPECT_LE(error_in_ulp(exact(Operation::cos, 5.319372648326541e+255), -4.6871659242546276e-19L),
            1);
  for (int n = 1; n < 2000000; n += 977) {
    const double x = n * 1.5707963267948966;
    for (const Operation operation : {Operation::sin, Operation::cos}) {
      ASSERT_LE(error_in_ulp(exact(operation, x), reference(operation, x, 0)), 1) << x;
    }
  }
}

}  // namespace
}  // namespace starpmc::test
