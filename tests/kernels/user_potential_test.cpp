#include <gtest/gtest.h>

#include "device_pipeline.hpp"

namespace starpmc::test {
namespace {

/// Writes a program, value by value.
class Writer {
 public:
  explicit Writer(std::vector<std::string> inputs, std::vector<double> constants) {
    program_.inputs = std::move(inputs);
    program_.constants = std::move(constants);
  }
  std::uint32_t operator()(Operation operation, std::uint32_t a, std::uint32_t b = 0) {
    program_.instructions.push_back({operation, {a, b, 0}});
    return program_.values() - 1;
  }
  Program returns(std::uint32_t value) {
    program_.outputs = {value};
    return program_;
  }

 private:
  Program program_;
};

/// (1 - r/rc)^2 / r.
Program coulomb_program(double cutoff) {
  Writer write({"r2"}, {1, 1 / cutoff});
  const auto inverse = write(Operation::reciprocal_square_root, 0);
  const auto r = write(Operation::multiply, 0, inverse);
  const auto remaining = write(Operation::subtract, 1, write(Operation::multiply, r, 2));
  const auto square = write(Operation::multiply, remaining, remaining);
  return write.returns(write(Operation::multiply, square, inverse));
}

/// c12/r^12 - c6/r^6 + shift + slope r.
Program vdw_program() {
  Writer write({"r2", "c12", "c6", "shift", "slope"}, {});
  const auto inverse2 = write(Operation::reciprocal, 0);
  const auto inverse4 = write(Operation::multiply, inverse2, inverse2);
  const auto inverse6 = write(Operation::multiply, inverse4, inverse2);
  const auto first = write(Operation::multiply, 1, inverse6);
  const auto both = write(Operation::multiply, write(Operation::subtract, first, 2), inverse6);
  const auto linear =
      write(Operation::add, 3, write(Operation::multiply, 4, write(Operation::square_root, 0)));
  return write.returns(write(Operation::add, both, linear));
}

/// A system whose energies are functions of the user's, and the same with built-in ones.
struct TwoSystems {
  TestSystem built_in;
  TestSystem user;
  Potential potential;

  explicit TwoSystems(const SystemOptions& options) : built_in(make_system(options)) {
    user = built_in;
    potential = {coulomb_program(options.coulomb_cutoff), vdw_program(), vdw_program()};
    user.potential = &potential;
    user.shape.pairs = {14, 4, 8, 13};
    user.reals.assign(static_cast<std::size_t>(topology_reals_size(user.shape)), 0.0);
    std::copy_n(built_in.reals.begin(), topology_pair(user.shape, 0, 0), user.reals.begin());
    for (int a = 0; a < user.shape.site_types; ++a) {
      for (int b = 0; b < user.shape.site_types; ++b) {
        const double* const from = built_in.topology().pair(a, b);
        double* const to = &user.reals[static_cast<std::size_t>(topology_pair(user.shape, a, b))];
        for (const int function : {user.shape.pairs.mm_function, user.shape.pairs.qmmm_function}) {
          to[function] = from[0] != 0 || from[1] != 0 ? 1 : 0;
          std::copy_n(from, 4, to + function + 1);
        }
      }
    }
  }
};

constexpr int kSteps = 24;

template <class Real, class Pipeline>
void expect_built_in_energies(Pipeline& pipeline, const TwoSystems& systems, double tolerance) {
  Buffers<Real> b(systems.user, kSteps, 2 * kSteps);
  pipeline.propose(b, step_range(17, kSteps));
  pipeline.evaluate(b);
  b.system = &systems.built_in;
  expect_naive_energies(b, tolerance);
}

template <class Pipeline>
void expect_built_in_potential(Pipeline& pipeline, const TwoSystems& systems) {
  Buffers<double> user(systems.user, 1, 2);
  Buffers<double> built_in(systems.built_in, 1, 2);
  pipeline.potential(user);
  HostPipeline<ScalarLevel>().potential(built_in);
  for (std::size_t i = 0; i < user.potential.size(); ++i) {
    ASSERT_NEAR(user.potential[i], built_in.potential[i], 1e-8);
  }
}

template <class Level>
class UserPotential : public testing::Test {};
using Levels = testing::Types<ScalarLevel, SimdLevel>;
TYPED_TEST_SUITE(UserPotential, Levels);

TYPED_TEST(UserPotential, GivesTheBuiltInEnergies) {
  HostPipeline<TypeParam> pipeline;
  for (const SystemOptions& options : {wide_cutoff(), narrow_cutoff()}) {
    const TwoSystems systems(options);
    expect_built_in_energies<double>(pipeline, systems, 1e-12);
    expect_built_in_energies<float>(pipeline, systems, 5e-6);
    expect_built_in_energies<FixedCoordinate>(pipeline, systems, 5e-6);
  }
}

TYPED_TEST(UserPotential, GivesTheBuiltInPotential) {
  HostPipeline<TypeParam> pipeline;
  expect_built_in_potential(pipeline, TwoSystems(wide_cutoff()));
}

struct DeviceCase {
  const char* name;
  cl_device_type type;
  opencl::LaunchShape shape;
};

class UserPotentialOpenCl : public testing::TestWithParam<DeviceCase> {};

TEST_P(UserPotentialOpenCl, GivesTheBuiltInEnergies) {
  const auto device = find_device(GetParam().type);
  if (!device) GTEST_SKIP() << "no OpenCL device of this type with double precision";
  const TwoSystems systems(wide_cutoff());
  const auto pipeline = [&](Precision precision) {
    return DevicePipeline(*device, precision, GetParam().shape, systems.potential);
  };
  DevicePipeline fp64 = pipeline(Precision::fp64);
  expect_built_in_energies<double>(fp64, systems, 1e-12);
  expect_built_in_potential(fp64, systems);
  DevicePipeline mixed = pipeline(Precision::mixed);
  expect_built_in_energies<float>(mixed, systems, 5e-6);
  DevicePipeline fixed = pipeline(Precision::fixed);
  expect_built_in_energies<FixedCoordinate>(fixed, systems, 5e-6);
}

/// A GPU's kernels run on GPUs only: PoCL takes many minutes to compile them all.
INSTANTIATE_TEST_SUITE_P(
    Devices, UserPotentialOpenCl,
    testing::Values(DeviceCase{"Cpu", CL_DEVICE_TYPE_CPU, opencl::LaunchShape::for_cpu()},
                    DeviceCase{"Gpu", CL_DEVICE_TYPE_GPU, opencl::LaunchShape::for_gpu()}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace starpmc::test
