#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "device_pipeline.hpp"
#include "kernels/response_coefficients.hpp"
#include "kernels/scalar/moves.hpp"
#include "kernels/whole_units.hpp"
#include "reference_case.hpp"

namespace starpmc::test {
namespace {

constexpr double kBox[3] = {17, 18.5, 20};

/// Energies so large that the last bits of sums are not lost when they are rounded to whole units.
constexpr float kLargest = 2e4F;

MadeLattice potential_lattice() { return {kBox, {{3, 0.25}, {5, 0.5}, {10, 1.1}}, 1, kLargest, 1}; }
MadeLattice response_lattice(int components) {
  return {kBox, {{4.5, 0.6}, {10, 1.3}}, components, 1, 2};
}

/// Everywhere in several cells, and at all boundaries of levels.
FieldWindow field_window(const PotentialLattice& lattice) {
  std::mt19937 generator(7);
  std::uniform_real_distribution<double> uniform(-2, 2);
  std::vector<FieldWindow::Candidate> candidates;
  const auto types = field_types();
  for (std::size_t i = 0; i < 210; ++i) {
    const double reach = i % 2 == 0 ? 0.25 : 1;  // half of them near the centre
    std::array<double, 3> centre{};
    for (std::size_t k = 0; k < 3; ++k) {
      centre[k] = lattice.centre[k] + reach * kBox[k] * uniform(generator);
    }
    candidates.push_back({i % types.size(), centre});
  }
  for (int level = 0; level < lattice.levels; ++level) {
    const LatticeLevel& l = lattice.level[level];
    for (const double nodes : {1.0, l.nodes[0] - 2.0}) {
      const double edge = lattice.centre[0] + l.origin[0] + nodes / l.inverse_spacing;
      for (const double x : {std::nextafter(edge, -1e9), edge, std::nextafter(edge, 1e9)}) {
        candidates.push_back({0, {x, lattice.centre[1], lattice.centre[2]}});
      }
    }
  }
  return {types, candidates, kBox};
}

struct Field {
  std::vector<double> energies;
  std::vector<std::int32_t> responses;

  Field(const FieldWindow& window, int components)
      : energies(window.count(), -1.0),
        responses(window.count() * static_cast<std::size_t>(components), -7) {}

  friend bool operator==(const Field& a, const Field& b) {
    const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
    return std::ranges::equal(a.energies, b.energies, {}, bits, bits) && a.responses == b.responses;
  }
};

template <class Level>
Field field_on_host(const FieldWindow& window, const MadeLattice& potential,
                    const MadeLattice& response) {
  Field field(window, response.lattice.components);
  const std::vector<ResponseCoefficient> coefficients = response_coefficients(response.values);
  Level::reference_field({window.window(), potential.lattice, potential.values, response.lattice,
                          coefficients, field.energies, field.responses});
  return field;
}

MadeLattice no_response() {
  MadeLattice none{kBox, {}, 0, 0, 0};
  return none;
}

TEST(ReferenceField, IsTheSumOverAllSplines) {
  const MadeLattice potential = potential_lattice();
  const MadeLattice response = response_lattice(16);
  const FieldWindow window = field_window(potential.lattice);
  const Field field = field_on_host<ScalarLevel>(window, potential, response);
  const NaiveLattice phi(potential.lattice, potential.values);
  const std::vector<float> used = values_of(response_coefficients(response.values));
  const NaiveLattice eta(response.lattice, used);
  std::array<int, 3> served{};
  for (std::size_t m = 0; m < window.count(); m += m < 180 ? 7 : 1) {
    double energy = 0;
    std::array<double, 16> y{};
    for (const FieldSite& site : window.sites(m)) {
      double position[3];
      for (int k = 0; k < 3; ++k) position[k] = window.coordinate(m, site, k);
      ++served[static_cast<std::size_t>(phi.level_of(position))];
      energy += site.charge * phi.value(position, 0);
      for (std::size_t c = 0; c < y.size(); c += 5) {
        y[c] += site.charge * eta.value(position, static_cast<int>(c));
      }
    }
    EXPECT_NEAR(field.energies[m], energy, 1e-14 * kLargest * 20) << m;
    for (std::size_t c = 0; c < y.size(); c += 5) {
      EXPECT_NEAR(field.responses[16 * m + c], y[c] * STARPMC_RESPONSE_UNITS, 1.1) << m << ' ' << c;
    }
  }
  for (const int sites : served) EXPECT_GT(sites, 20);
}

TEST(ReferenceField, GradientIsThatOfTheSplines) {
  const MadeLattice made = response_lattice(16);
  const NaiveLattice naive(made.lattice, made.values);
  std::mt19937 generator(3);
  std::uniform_real_distribution<double> uniform(-12, 16);
  for (int i = 0; i < 20; ++i) {
    const double r[3] = {uniform(generator), uniform(generator), uniform(generator)};
    double gradient[3];
    lattice_gradient(&made.lattice, made.values.data(), r[0], r[1], r[2], i % 16, gradient);
    EXPECT_NEAR(lattice_value(&made.lattice, made.values.data(), r[0], r[1], r[2], i % 16),
                naive.value(r, i % 16), 1e-12);
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(gradient[k], naive.slope(r, i % 16, k), 1e-11);
  }
}

TEST(ReferenceField, SimdHasTheSameBits) {
  const MadeLattice potential = potential_lattice();
  const FieldWindow window = field_window(potential.lattice);
  for (const int components : {16, 32, 48, 96, 144}) {
    const MadeLattice response = response_lattice(components);
    const Field expected = field_on_host<ScalarLevel>(window, potential, response);
    for (const simd::InstructionSet& set : simd::instruction_sets()) {
      const simd::InstructionSetForced forced(set);
      EXPECT_TRUE(field_on_host<SimdLevel>(window, potential, response) == expected)
          << set.name << ", " << components;
    }
  }
  const MadeLattice none = no_response();
  EXPECT_TRUE(field_on_host<SimdLevel>(window, potential, none) ==
              field_on_host<ScalarLevel>(window, potential, none));
}

TEST(ReferenceField, ResponsesAreLimited) {
  MadeLattice response = response_lattice(16);
  for (std::size_t i = 0; i < response.values.size(); ++i) {
    response.values[i] = i % 16 == 3 ? 6e4F : i % 16 == 5 ? -6e4F : 0.25F;
  }
  const MadeLattice potential = potential_lattice();
  const FieldWindow window({{{{0, 0, 0}, 1}}}, {{0, {0, 0, 0}}, {0, {5, 5, 5}}}, kBox);
  const Field field = field_on_host<ScalarLevel>(window, potential, response);
  EXPECT_EQ(field.responses[3], 1 << 22);
  EXPECT_EQ(field.responses[16 + 5], -(1 << 22));
  EXPECT_EQ(field.responses[0], 1 << 16);
  EXPECT_TRUE(field_on_host<SimdLevel>(window, potential, response) == field);
}

/// A position that is no number, or far away, reads nothing outside the tables.
TEST(ReferenceField, AnyPositionHasAPlace) {
  const MadeLattice potential = potential_lattice();
  for (const double x : {std::numeric_limits<double>::quiet_NaN(),
                         std::numeric_limits<double>::infinity(), -1e300, 1e20}) {
    const LatticePlace place = lattice_place(&potential.lattice, x, 0, 0);
    const LatticeLevel& level = potential.lattice.level[place.level];
    EXPECT_GE(place.node[0], 0) << x;
    EXPECT_LE(place.node[0] + 4, level.nodes[0]) << x;
  }
}

struct DeviceCase {
  const char* name;
  cl_device_type type;
  opencl::LaunchShape shape;
};
void PrintTo(const DeviceCase& shape, std::ostream* out) { *out << shape.name; }

class OpenClReferenceField : public testing::TestWithParam<DeviceCase> {
 protected:
  static void expect_host_bits(Precision precision) {
    const std::optional<Device> device = find_device(GetParam().type);
    if (!device) GTEST_SKIP() << "no OpenCL device of this type with double precision";
    DevicePipeline pipeline(*device, precision, GetParam().shape);
    const MadeLattice potential = potential_lattice();
    const FieldWindow window = field_window(potential.lattice);
    for (const int components : {0, 16, 32, 112}) {
      const MadeLattice response = components == 0 ? no_response() : response_lattice(components);
      const std::vector<ResponseCoefficient> coefficients = response_coefficients(response.values);
      Field field(window, components);
      pipeline.reference_field(
          window, {window.window(), potential.lattice, potential.values, response.lattice,
                   coefficients, field.energies, field.responses});
      EXPECT_TRUE(field == field_on_host<ScalarLevel>(window, potential, response)) << components;
    }
  }
};

TEST_P(OpenClReferenceField, TakesTheLeastAndTheLargestCoefficients) {
  const std::optional<Device> device = find_device(GetParam().type);
  if (!device) GTEST_SKIP() << "no OpenCL device of this type with double precision";
  DevicePipeline pipeline(*device, Precision::mixed, GetParam().shape);
  MadeLattice response = response_lattice(16);
  constexpr std::array kValues{0x1p-14F, -0x1p-14F, 0.0F, 65504.0F, 2 - 0x1p-10F, -0.1F, -65504.0F};
  for (std::size_t i = 0; i < response.values.size(); ++i) {
    response.values[i] = kValues[i % 16 < 8 ? i % 16 % 3 : i / 16 % kValues.size()];
  }
  const std::vector<ResponseCoefficient> coefficients = response_coefficients(response.values);
  const MadeLattice potential = potential_lattice();
  // Charges so small that not every sum is at its limit.
  const FieldWindow window({{{{0, 0, 0}, 1e-5}}, {{{0, 0, 0}, 0.5}}},
                           {{0, {0, 0, 0}}, {0, {5, 5, 5}}, {1, {1, 2, 3}}}, kBox);
  Field field(window, 16);
  pipeline.reference_field(
      window, {window.window(), potential.lattice, potential.values, response.lattice, coefficients,
               field.energies, field.responses});
  const Field expected = field_on_host<ScalarLevel>(window, potential, response);
  EXPECT_TRUE(field == expected);
  EXPECT_TRUE(field_on_host<SimdLevel>(window, potential, response) == expected);
  const auto inside = [](std::int32_t y) { return y != 0 && std::abs(y) < 1 << 22; };
  EXPECT_GT(std::ranges::count_if(expected.responses, inside), 8);
}

TEST_P(OpenClReferenceField, HasTheHostsBits) {
  expect_host_bits(Precision::fp64);
  expect_host_bits(Precision::mixed);
}

opencl::LaunchShape gpu_shape() {
  opencl::LaunchShape shape = opencl::LaunchShape::for_gpu();
  shape.points_unrolled = 1;
  return shape;
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, OpenClReferenceField,
    testing::Values(DeviceCase{"CpuKernel", CL_DEVICE_TYPE_CPU, opencl::LaunchShape::for_cpu()},
                    DeviceCase{"GpuKernelOnCpu", CL_DEVICE_TYPE_CPU, gpu_shape()},
                    DeviceCase{"GpuKernel", CL_DEVICE_TYPE_GPU, opencl::LaunchShape::for_gpu()}),
    [](const auto& shape) { return shape.param.name; });

}  // namespace
}  // namespace starpmc::test
