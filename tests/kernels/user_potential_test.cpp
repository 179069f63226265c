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

/// Energies of a molecule of a type with many of another, with coordinates at random.
template <class Real>
class Exchanged {
 public:
  Exchanged(const TwoSystems& systems, int first, int second)
      : systems_(systems), types_{first, second}, pairs_(systems.potential, PairsWith::molecules) {
    std::mt19937_64 random(5);
    std::uniform_real_distribution<float> place(-2, 2);
    const auto rows_of = [&](int type) {
      return static_cast<std::size_t>(3 * topology().site_count(type));
    };
    target_.resize(rows_of(first));
    singles_.resize(rows_of(second) * kCount);
    halves_.resize(3 * kCount);
    for (Real& x : target_) x = static_cast<Real>(place(random));
    for (float& x : singles_) x = place(random);
    for (Real& x : halves_) x = static_cast<Real>(2 + place(random) / 8);
    sources_.assign(singles_.begin(), singles_.end());
    for (std::size_t k = 0; k < target_.size() * kCount; ++k) {
      places_[0].push_back(target_[k / kCount] - halves_[k % halves_.size()]);
    }
    for (std::size_t k = 0; k < sources_.size(); ++k) {
      places_[1].push_back(sources_[k] + halves_[k % halves_.size()]);
    }
  }

  /// The Coulomb, then the van der Waals energies.
  /// @param box edges of the box where sites have images of their own, else null
  std::vector<Real> energies(bool exchanged, const double* box) {
    const int target = exchanged ? 1 : 0;
    const auto sites = terms(target);
    std::vector<std::uint64_t> rows;
    for (const std::uint32_t site : sites.sites) rows.push_back(3 * kCount * site);
    auto arguments = arguments_of(sites);
    arguments.rows = rows.data();
    arguments.box = box;
    arguments.sources = places_[1 - target].data();
    arguments.targets = places_[target].data();
    return evaluate(arguments);
  }

  bool takes(SitesInLists form, bool apart, bool images) {
    return terms(0).three_sites && pairs_.takes(form, apart, images);
  }
  /// The same of sites as lists have them.
  std::vector<Real> energies_listed(SitesInLists form, bool apart, const double* box) {
    const auto sites = terms(0);
    auto arguments = arguments_of(sites);
    arguments.apart = apart;
    arguments.box = box;
    const void* const sources = form == SitesInLists::in_single
                                    ? static_cast<const void*>(singles_.data())
                                    : sources_.data();
    arguments.listed = {form, sources, target_.data(), halves_.data()};
    return evaluate(arguments);
  }

 private:
  static constexpr std::size_t kCount = 1024;
  Topology topology() const { return systems_.user.topology(); }

  SitePairTerms<Real> terms(int target) {
    auto sites = terms_of_molecules<Real>(pairs_.terms(), topology(), 7.0, types_[target],
                                          types_[1 - target]);
    EXPECT_EQ(sites.three_sites, types_[0] == 0 && types_[1] == 0) << "water with water";
    return sites;
  }
  static MoleculePairArguments<Real> arguments_of(const SitePairTerms<Real>& sites) {
    return {.parts = sites.parts,
            .present = sites.present.data(),
            .coefficients = sites.coefficients.data(),
            .count = kCount,
            .stride = kCount,
            .squared_cutoffs = {49, 36}};
  }
  std::vector<Real> evaluate(MoleculePairArguments<Real>& arguments) {
    std::vector<Real> result(2 * kCount);
    arguments.energies[0] = result.data();
    arguments.energies[1] = &result[kCount];
    pairs_(arguments);
    return result;
  }

  const TwoSystems& systems_;
  int types_[2];
  MoleculePairs<Real> pairs_;
  std::vector<Real> target_;  ///< from its centre
  std::vector<float> singles_;
  std::vector<Real> sources_;  ///< the same
  std::vector<Real> halves_;
  std::vector<Real> places_[2];  ///< as seen from amid the centres
};

template <class Real>
void expect_the_same_when_exchanged(const TwoSystems& systems) {
  for (const auto& [first, second] : {std::pair{0, 0}, std::pair{0, 1}, std::pair{1, 1}}) {
    Exchanged<Real> molecules(systems, first, second);
    constexpr double kBox[] = {7, 8, 9};
    for (const double* const box : {static_cast<const double*>(nullptr), kBox}) {
      const auto energies = molecules.energies(false, box);
      EXPECT_NE(energies[0], energies[1]);
      EXPECT_EQ(energies, molecules.energies(true, box)) << "types " << first << " and " << second;
      for (const SitesInLists form : {SitesInLists::in_lanes, SitesInLists::in_single}) {
        for (const bool apart : {false, true}) {
          if (!molecules.takes(form, apart, box != nullptr)) continue;
          EXPECT_EQ(energies, molecules.energies_listed(form, apart, box))
              << "form " << static_cast<int>(form) << ", apart " << apart;
        }
      }
    }
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

TEST(UserMolecules, OfThreeSitesAreTakenFromLists) {
  TwoSystems systems(wide_cutoff());
  prepare(systems.potential);
  const bool compiled = compiled::best_instruction_set() != compiled::InstructionSet::portable;
  Exchanged<double> in_double(systems, 0, 0);
  Exchanged<float> in_single(systems, 0, 0);
  for (const bool images : {false, true}) {
    EXPECT_EQ(in_double.takes(SitesInLists::in_lanes, false, images), compiled);
    EXPECT_EQ(in_double.takes(SitesInLists::in_single, false, images), compiled);
    EXPECT_EQ(in_single.takes(SitesInLists::in_lanes, true, images), compiled);
  }
  EXPECT_EQ(in_double.takes(SitesInLists::fixed_point, false, false), compiled);
  EXPECT_EQ(in_single.takes(SitesInLists::fixed_point, true, false), compiled);
}

/// The same energies of sites in fixed point, from lists and one pair after another.
template <class Real>
void expect_the_same_from_lists(const TwoSystems& systems) {
  constexpr std::size_t kCount = 64;
  MoleculePairs<Real> pairs(systems.potential, PairsWith::molecules);
  if (!pairs.takes(SitesInLists::fixed_point, true, false)) GTEST_SKIP() << "nothing is compiled";
  const auto sites = terms_of_molecules<Real>(pairs.terms(), systems.user.topology(), 7.0, 0, 0);
  std::mt19937 random(5);
  std::uniform_int_distribution<std::int32_t> place(0, 1 << 30);
  std::vector<std::int32_t> sources(9 * kCount);
  for (std::int32_t& x : sources) x = place(random);
  std::vector<std::int32_t> target(9);
  std::vector<std::int32_t> by_axis(9);
  for (std::size_t k = 0; k < 9; ++k) {
    target[k] = by_axis[k % 3 * 3 + k / 3] = -place(random) / 8;
  }
  std::vector<std::uint64_t> rows;
  for (std::size_t k = 0; k < sites.sites.size(); ++k) {
    rows.push_back((k % 2 == 0 ? 1 : 3 * kCount) * sites.sites[k]);
  }
  std::vector<Real> energies(2 * kCount);
  constexpr Real kUnit{3e-9F};
  MoleculePairArguments<Real> arguments{.target_count = 3,
                                        .parts = sites.parts,
                                        .rows = rows.data(),
                                        .present = sites.present.data(),
                                        .coefficients = sites.coefficients.data(),
                                        .count = kCount,
                                        .stride = kCount,
                                        .fixed_sources = sources.data(),
                                        .fixed_targets = by_axis.data(),
                                        .units = {kUnit, kUnit, kUnit},
                                        .squared_cutoffs = {49, 36},
                                        .energies = {energies.data(), &energies[kCount]}};
  pairs(arguments);
  const std::vector<Real> expected = energies;
  EXPECT_NE(expected[0], 0);
  arguments.apart = true;
  arguments.listed = {SitesInLists::fixed_point, sources.data(), target.data()};
  pairs(arguments);
  EXPECT_EQ(energies, expected);
}

TEST(UserMolecules, HaveTheSameBitsFromListsInFixedPoint) {
  TwoSystems systems(wide_cutoff());
  prepare(systems.potential);
  expect_the_same_from_lists<double>(systems);
  expect_the_same_from_lists<float>(systems);
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
