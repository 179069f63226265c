#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "device_pipeline.hpp"
#include "kernels/prepared_potential.hpp"
#include "mm_case.hpp"
#include "two_systems.hpp"

namespace starpmc::test {
namespace {

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
    for (const bool as_pairs : {true, false}) {
      const TwoSystems systems(options, as_pairs);
      expect_built_in_energies<double>(pipeline, systems, 1e-12);
      expect_built_in_energies<float>(pipeline, systems, 5e-6);
      expect_built_in_energies<FixedCoordinate>(pipeline, systems, 5e-6);
    }
  }
}

TYPED_TEST(UserPotential, GivesTheBuiltInEnergiesCompiled) {
  HostPipeline<TypeParam> pipeline;
  for (const SystemOptions& options : {wide_cutoff(), narrow_cutoff()}) {
    for (const bool as_pairs : {true, false}) {
      TwoSystems systems(options, as_pairs);
      prepare(systems.potential);
      const PreparedPotential& prepared = *systems.potential.prepared;
      EXPECT_EQ(prepared.function<double>(PairsWith::nuclei) != nullptr,
                compiled::best_instruction_set() != compiled::InstructionSet::portable);
      for (const PairsWith with : {PairsWith::molecules, PairsWith::grid}) {
        EXPECT_EQ(prepared.function<float>(with) != nullptr,
                  as_pairs && prepared.function<double>(with) != nullptr);
      }
      expect_built_in_energies<double>(pipeline, systems, 1e-12);
      expect_built_in_energies<float>(pipeline, systems, 5e-6);
      expect_built_in_energies<FixedCoordinate>(pipeline, systems, 5e-6);
    }
  }
}

TYPED_TEST(UserPotential, GivesTheBuiltInPotential) {
  HostPipeline<TypeParam> pipeline;
  expect_built_in_potential(pipeline, TwoSystems(wide_cutoff()));
}

/// Energies of molecules of a type with as many others of another, with coordinates at random.
template <class Real>
class Exchanged {
 public:
  Exchanged(const TwoSystems& systems, int first, int second)
      : systems_(systems), types_{first, second}, pairs_(systems.potential, PairsWith::molecules) {
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> place(-2, 2);
    for (int k = 0; k < 2; ++k) {
      places_[k].resize(static_cast<std::size_t>(3 * topology().site_count(types_[k])) * kCount);
      for (Real& x : places_[k]) x = static_cast<Real>(place(random) + 4 * k);
    }
  }

  /// The Coulomb, then the van der Waals energies.
  /// @param each_site_once  where the molecules have three sites
  std::vector<Real> energies(bool exchanged, bool each_site_once) {
    const int target = exchanged ? 1 : 0;
    const auto sites = terms_of_molecules<Real>(pairs_.terms(), topology(), 7.0, types_[target],
                                                types_[1 - target]);
    EXPECT_EQ(sites.three_sites, types_[0] == 0 && types_[1] == 0) << "water with water";
    std::vector<std::uint64_t> rows;
    for (const std::uint32_t site : sites.sites) rows.push_back(3 * kCount * site);
    std::vector<Real> result(2 * kCount);
    pairs_({.parts = sites.parts,
            .rows = rows.data(),
            .present = sites.present.data(),
            .coefficients = sites.coefficients.data(),
            .three_sites = each_site_once && sites.three_sites,
            .count = kCount,
            .stride = kCount,
            .sources = places_[1 - target].data(),
            .targets = places_[target].data(),
            .apart = each_site_once,
            .squared_cutoffs = {49, 36},
            .energies = {result.data(), &result[kCount]}});
    return result;
  }

 private:
  static constexpr std::size_t kCount = 1024;
  Topology topology() const { return systems_.user.topology(); }

  const TwoSystems& systems_;
  int types_[2];
  MoleculePairs<Real> pairs_;
  std::vector<Real> places_[2];
};

template <class Real>
void expect_the_same_when_exchanged(const TwoSystems& systems) {
  for (const auto& [first, second] : {std::pair{0, 0}, std::pair{0, 1}, std::pair{1, 1}}) {
    Exchanged<Real> molecules(systems, first, second);
    const auto energies = molecules.energies(false, true);
    EXPECT_NE(energies[0], energies[1]);
    EXPECT_EQ(energies, molecules.energies(true, true)) << "types " << first << " and " << second;
    EXPECT_EQ(energies, molecules.energies(false, false)) << "types " << first << " and " << second;
  }
}

TEST(UserMolecules, HaveTheSameBitsWhicheverMoves) {
  TwoSystems systems(wide_cutoff());
  for (const bool by_machine_code : {false, true}) {
    if (by_machine_code) prepare(systems.potential);
    expect_the_same_when_exchanged<double>(systems);
    expect_the_same_when_exchanged<float>(systems);
  }
}

/// Hard systems, by machine code of each instruction set and without any.
class UserMmTerms : public testing::TestWithParam<MmCase> {
 protected:
  UserMmTerms() : systems_(make_mm_system(GetParam())) {}

  template <class Real>
  void expect_naive(double tolerance) {
    HostPipeline<SimdLevel> pipeline;
    Buffers<Real> b = evaluate_mm<Real>(pipeline, systems_.user, GetParam());
    b.system = &systems_.built_in;
    expect_naive_mm(b, tolerance);
  }
  void expect_all() {
    expect_naive<double>(2e-12);
    expect_naive<float>(5e-6);
    expect_naive<FixedCoordinate>(5e-6);
  }
  void expect_all_by(compiled::InstructionSet set) {
    const auto prepared = std::make_shared<PreparedPotential>(systems_.potential, set);
    ASSERT_NE(prepared->function<double>(PairsWith::molecules), nullptr);
    ASSERT_NE(prepared->function<float>(PairsWith::molecules), nullptr);
    systems_.potential.prepared = prepared;
    expect_all();
  }

  TwoSystems systems_;
};

TEST_P(UserMmTerms, AreTheBuiltInOnesUncompiled) { expect_all(); }
TEST_P(UserMmTerms, AreTheBuiltInOnesCompiled) {
  using compiled::InstructionSet;
  if (compiled::best_instruction_set() == InstructionSet::portable) {
    GTEST_SKIP() << "no LLVM, or a processor without AVX2";
  }
  for (const InstructionSet set : {InstructionSet::avx2, InstructionSet::avx512}) {
    SCOPED_TRACE(static_cast<int>(set));
    if (set <= compiled::best_instruction_set()) expect_all_by(set);
  }
}
/// Terms of both kinds: the user's Coulomb with the built-in Lennard-Jones, and the reverse, and
/// functions beside the built-in ones.
TEST_P(UserMmTerms, MixWithBuiltInOnes) {
  const Potential whole = systems_.potential;
  for (const bool own_coulomb : {true, false}) {
    // a part of the energy stays with the built-in coefficients
    for (const double part : {1.0, 0.25}) {
      TwoSystems mixed(systems_.built_in);
      mixed.potential = whole;
      if (own_coulomb) mixed.potential.mm = {};
      if (!own_coulomb) mixed.potential.coulomb = {};
      const int function = mixed.user.shape.pairs.mm_function;
      for (int a = 0; a < mixed.user.shape.site_types; ++a) {
        for (int b = 0; b < mixed.user.shape.site_types; ++b) {
          double* const pair =
              &mixed.user.reals[static_cast<std::size_t>(topology_pair(mixed.user.shape, a, b))];
          for (int k = 0; k < 4; ++k) {
            const double all = mixed.built_in.topology().pair(a, b)[k];
            pair[k] = own_coulomb ? all : part * all;
            pair[function + 1 + k] = (1 - part) * all;
          }
        }
      }
      for (const bool by_machine_code : {false, true}) {
        if (by_machine_code) prepare(mixed.potential);
        HostPipeline<SimdLevel> pipeline;
        Buffers<double> b = evaluate_mm<double>(pipeline, mixed.user, GetParam());
        b.system = &mixed.built_in;
        expect_naive_mm(b, 2e-12);
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Systems, UserMmTerms, testing::ValuesIn(mm_cases()),
                         [](const auto& param) { return std::string(param.param.name); });

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
  const TwoSystems in_double(wide_cutoff(), false);
  DevicePipeline mixed_in_double(*device, Precision::mixed, GetParam().shape, in_double.potential);
  expect_built_in_energies<float>(mixed_in_double, in_double, 5e-6);
}

/// A GPU's kernels run on GPUs only: PoCL takes many minutes to compile them all.
INSTANTIATE_TEST_SUITE_P(
    Devices, UserPotentialOpenCl,
    testing::Values(DeviceCase{"Cpu", CL_DEVICE_TYPE_CPU, opencl::LaunchShape::for_cpu()},
                    DeviceCase{"Gpu", CL_DEVICE_TYPE_GPU, opencl::LaunchShape::for_gpu()}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace starpmc::test
