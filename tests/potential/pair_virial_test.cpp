#include <gtest/gtest.h>

#include <random>

#include "kernels/opencl/host/pair_virial.hpp"
#include "tests/kernels/device_pipeline.hpp"
#include "tests/test_folders.hpp"
#include "virial_case.hpp"

namespace starpmc::test {
namespace {

template <class T>
opencl::Owned<cl_mem> upload(const Device& device, std::span<const T> values) {
  cl_int error = CL_SUCCESS;
  opencl::Owned<cl_mem> memory(
      clCreateBuffer(device.context.get(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                     values.size_bytes(), const_cast<T*>(values.data()), &error));
  opencl::check(error, "clCreateBuffer");
  return memory;
}

/// On the first CPU device.
void pair_virial_on_opencl(const PairVirialArguments& a) {
  const std::optional<Device> device = find_device(CL_DEVICE_TYPE_CPU);
  ASSERT_TRUE(device.has_value());
  opencl::VirialProgram program(device->context.get(), device->id, *a.functions,
                                source_folder() / "kernels");
  const auto reals = upload(*device, a.topology.reals);
  const auto integers = upload(*device, a.topology.integers);
  const auto lattice = upload(*device, a.lattice);
  const auto solute = upload(*device, a.solute);
  const auto blocks = upload(*device, a.blocks);
  const auto points = upload(*device, a.points);
  const auto sums = upload(*device, std::span<const double>(a.sums));
  program.run(device->queue.get(),
              {a.interaction,
               a.topology.shape,
               {a.solute_centre[0], a.solute_centre[1], a.solute_centre[2]},
               a.first_molecule,
               a.nuclei,
               static_cast<int>(a.blocks.size() / BLOCK_FIELDS),
               0},
              a.last_molecule,
              {{reals.get(), 0},
               {integers.get(), 0},
               {lattice.get(), 0},
               {solute.get(), 0},
               {blocks.get(), 0},
               {points.get(), 0},
               {sums.get(), 0}});
  opencl::check(clEnqueueReadBuffer(device->queue.get(), sums.get(), CL_TRUE, 0,
                                    a.sums.size_bytes(), a.sums.data(), 0, nullptr, nullptr),
                "clEnqueueReadBuffer");
}

class PairVirial : public testing::TestWithParam<MmCase> {};

INSTANTIATE_TEST_SUITE_P(Cases, PairVirial, testing::ValuesIn(mm_cases()),
                         [](const auto& one) { return std::string(one.param.name); });

void expect_plain_loops(const TestSystem& system) {
  const Derivatives derivatives(system);
  const NaiveVirial naive(system);
  const VirialSums found = virial_sums(simd::pair_virial, system, derivatives.get());
  for (std::size_t i = 0; i < VIRIAL_SUMS; ++i) {
    EXPECT_NEAR(found[i], naive.sums[i], 1e-12 * naive.magnitudes[i] + 1e-6) << "sum " << i;
  }
}

/// With two molecules in one place, and without: their term would hide errors of the others.
TEST_P(PairVirial, IsThatOfPlainLoops) {
  expect_plain_loops(make_mm_system(GetParam()));
  expect_plain_loops(make_system(GetParam().options));
}

void expect_same_everywhere(const TestSystem& system, const VirialSums& expected) {
  const Derivatives derivatives(system);
  EXPECT_EQ(virial_sums(scalar::pair_virial, system, derivatives.get()), expected);
  EXPECT_EQ(virial_sums(simd::pair_virial, system, derivatives.get()), expected);
  if (!find_device(CL_DEVICE_TYPE_CPU)) GTEST_SKIP() << "no OpenCL CPU device";
  EXPECT_EQ(virial_sums(pair_virial_on_opencl, system, derivatives.get()), expected);
}

/// A thousand molecules without order in one task: more than a 64-bit sum of the units holds, among
/// small terms of either sign. Then two of them nearly in one place, with the largest term there
/// is.
TEST(PairVirialOf, SitesAtRandom) {
  TestSystem system = make_system(mm_options(20, 9, 9, 0, 1000));
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> place(-10, 10);
  const auto padded = static_cast<std::size_t>(system.padded);
  for (std::size_t i = 0; i < 3 * padded; ++i) system.lattice[i] = place(random);
  const NaiveVirial apart(system);
  EXPECT_GT(apart.sums[TERMS + TERM_MM_VDW], std::pow(2.0, 34));
  expect_plain_loops(system);
  for (std::size_t k = 0; k < 3; ++k) {
    system.lattice[k * padded + 500] = system.lattice[k * padded + 20] + 0.05;
  }
  const VirialSums found = virial_sums(simd::pair_virial, system, Derivatives(system).get());
  const NaiveVirial naive(system);
  EXPECT_GE(naive.magnitudes[TERMS + TERM_MM_VDW], std::pow(2.0, 40));
  for (const std::size_t sum : {+TERM_MM_VDW, TERMS + TERM_MM_VDW}) {
    EXPECT_NEAR(found[sum], naive.sums[sum], 1e-12 * naive.magnitudes[sum]);
  }
  expect_same_everywhere(system, found);
}

/// Two dumbbells of 7 A in line, the ends 1.2 A apart: the centres make the virial 80 times the
/// energy.
TEST(PairVirialOf, Dumbbells) {
  TestSystem system = make_system(mm_options(30, 8, 8, 2, 0));
  for (int site = 0; site < 3; ++site) {
    double* const fields =
        &system.reals[static_cast<std::size_t>(topology_site(system.shape, 0, site))];
    std::fill_n(fields, 4, 0.0);
    fields[0] = 3.5 * (1 - site);
    system.integers[static_cast<std::size_t>(topology_site_type(system.shape, 0, site))] =
        site == 1 ? 1 : 0;  // none between the ends
  }
  system.shape.largest_radius = 3.5;
  const auto padded = static_cast<std::size_t>(system.padded);
  for (std::size_t m = 0; m < 2; ++m) {
    const double pose[POSE_FIELDS] = {8.2 * static_cast<double>(m) - 4, 10, 10, 1, 0, 0, 0};
    for (std::size_t field = 0; field < POSE_FIELDS; ++field) {
      system.lattice[field * padded + m] = pose[field];
    }
  }
  const VirialSums found = virial_sums(simd::pair_virial, system, Derivatives(system).get());
  const double* const c = system.topology().pair(0, 0);
  const double r = 1.2;
  const double slope = -12 * c[0] / std::pow(r, 13) + 6 * c[1] / std::pow(r, 7) + c[3];
  EXPECT_GT(-slope * 8.2, 1e7);
  EXPECT_LT(c[0] / std::pow(r, 12), STARPMC_LARGEST_PAIR_ENERGY);
  EXPECT_NEAR(found[TERMS + TERM_MM_VDW], -slope * 8.2, 1e-12 * -slope * 8.2);
  expect_same_everywhere(system, found);
}

/// The same bits with a user's function beside the built-in one; in parts but for the rounding of
/// the parts' sums.
TEST_P(PairVirial, IsTheSameInEveryImplementation) {
  MmCase mm = GetParam();
  mm.options.grid_points = 700;
  const TestSystem system = make_mm_system(mm);
  const Derivatives derivatives(system, "c12*exp(-3*r) - erfc(0.2*r)*c6/(r^6 + 40)");
  const VirialSums simd = virial_sums(simd::pair_virial, system, derivatives.get());
  const int middle = system.shape.molecules / 3;
  VirialSums parts{};
  for (const auto& [first, last] :
       {std::pair(0, middle), std::pair(middle, system.shape.molecules)}) {
    const VirialSums one =
        virial_sums(scalar::pair_virial, system, derivatives.get(), kSoluteCentre, first, last);
    for (std::size_t i = 0; i < VIRIAL_SUMS; ++i) parts[i] += one[i];
  }
  EXPECT_EQ(simd, virial_sums(scalar::pair_virial, system, derivatives.get()));
  for (std::size_t i = 0; i < VIRIAL_SUMS; ++i) EXPECT_DOUBLE_EQ(parts[i], simd[i]) << "sum " << i;
  // One cutoff, hence one text: a device's compiler takes seconds.
  if (GetParam().options.coulomb_cutoff != 6) return;
  if (!find_device(CL_DEVICE_TYPE_CPU)) GTEST_SKIP() << "no OpenCL CPU device";
  EXPECT_EQ(simd, virial_sums(pair_virial_on_opencl, system, derivatives.get()));
}

/// The system with its box and all centres scaled, the solute moved as a whole.
TestSystem scaled(const TestSystem& system, double scale) {
  TestSystem result = system;
  for (double& edge : result.interaction.box) edge *= scale;
  for (std::size_t i = 0; i < 3 * static_cast<std::size_t>(system.padded); ++i) {
    result.lattice[i] *= scale;
  }
  const auto nuclei = static_cast<std::size_t>(system.nuclei);
  for (std::size_t k = 0; k < 3; ++k) {
    const double shift = (scale - 1) * kSoluteCentre[k];
    for (std::size_t i = 0; i < nuclei; ++i) result.solute[k * nuclei + i] += shift;
    for (std::size_t i = k; i < result.blocks.size(); i += BLOCK_FIELDS) result.blocks[i] += shift;
  }
  return result;
}

/// -dU/d(ln x) of each term where the box and the centres of molecules and solute are scaled by x.
/// Every function of the test systems ends at its cutoff with its derivative. The difference's
/// error comes from pairs that cross a cutoff, where V'' jumps, and from the energies' units.
TEST(PairVirialOf, ScaledSystems) {
  SystemOptions options;
  options.waters = 120;
  for (const double edge : {20.0, 14.0}) {
    options.edge = edge;
    options.coulomb_cutoff = 0.49 * edge;
    options.vdw_cutoff = 0.4 * edge;
    const TestSystem system = make_system(options);
    const Derivatives derivatives(system);
    const VirialSums at = virial_sums(simd::pair_virial, system, derivatives.get());
    const auto energies = [&](double scale) {
      return virial_sums(simd::pair_virial, scaled(system, scale), derivatives.get());
    };
    constexpr double kStep = 3e-5;
    const VirialSums two_up = energies(1 + 2 * kStep);
    const VirialSums up = energies(1 + kStep);
    const VirialSums down = energies(1 - kStep);
    const VirialSums two_down = energies(1 - 2 * kStep);
    for (std::size_t term = 0; term < TERMS; ++term) {
      if (term == TERM_QMMM_POLARISATION) continue;  // no pair energy of sites
      const double derivative =
          (8 * (up[term] - down[term]) - (two_up[term] - two_down[term])) / (12 * kStep);
      const double virial = at[TERMS + term];
      EXPECT_GT(std::abs(virial), 5) << "term " << term << " is not tested";
      EXPECT_NEAR(virial, -derivative, 5e-6 * std::abs(virial) + 1e-2) << "term " << term;
    }
  }
}

}  // namespace
}  // namespace starpmc::test
