#include "potential/dispersion_correction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <utility>

#include "kernels/base/error.hpp"
#include "potential/lennard_jones.hpp"

namespace starpmc::test {
namespace {

constexpr double kEdge = 30;
constexpr double kCutoff = 7;

Site site_of(std::size_t type) {
  Site site;
  site.type = type;
  return site;
}

/// 20 waters, 5 ions and a solute of three atoms.
System mixture() {
  System system;
  system.box = Box{{kEdge, kEdge, 1.1 * kEdge}};
  system.force_field.site_type_names = {"O", "H", "ion", "C"};
  const double c6[] = {2600, 0, 900, 4000};
  for (const double a : c6) {
    for (const double b : c6) system.force_field.pairs.push_back({std::sqrt(a * b), 0});
  }
  system.molecule_types.resize(2);
  for (const std::size_t type : {0, 1, 1}) {
    system.molecule_types[0].sites.push_back(site_of(type));
  }
  system.molecule_types[1].sites.push_back(site_of(2));
  for (int i = 0; i < 25; ++i) system.molecules.push_back({i < 20 ? 0U : 1U, {}, {}});
  system.solute.emplace();
  system.solute->types = {3, 3, 1};
  return system;
}

/// Molecule and type of every site.
std::vector<std::pair<std::size_t, std::size_t>> sites_of(const System& system) {
  std::vector<std::pair<std::size_t, std::size_t>> sites;
  for (std::size_t i = 0; i < system.molecules.size(); ++i) {
    for (const Site& site : system.molecule_types[system.molecules[i].type].sites) {
      sites.emplace_back(i, site.type);
    }
  }
  for (const std::size_t type : system.solute->types) {
    sites.emplace_back(system.molecules.size(), type);
  }
  return sites;
}

Settings settings_of(VdwModifier modifier, LongRangeDispersion wanted) {
  Settings settings;
  settings.interaction.vdw_cutoff_angstrom = kCutoff;
  settings.interaction.vdw_modifier = modifier;
  settings.interaction.dispersion_correction = wanted;
  return settings;
}

class Modifier : public testing::TestWithParam<VdwModifier> {};
INSTANTIATE_TEST_SUITE_P(DispersionCorrection, Modifier,
                         testing::Values(VdwModifier::truncate, VdwModifier::potential_shift,
                                         VdwModifier::force_shift));

/// Pairs one by one, integrals by quadrature of the energy that a run leaves out.
TEST_P(Modifier, IsThatOfPlainSums) {
  const System system = mixture();
  const Settings settings = settings_of(GetParam(), LongRangeDispersion::energy_pressure);
  const DispersionCorrection found = dispersion_correction(system, settings);
  const auto sites = sites_of(system);
  double sum = 0;
  double pairs = 0;
  for (const auto& [molecule, type] : sites) {
    for (const auto& [other, other_type] : sites) {
      if (molecule == other) continue;
      sum += system.force_field.pair(type, other_type).c6;
      pairs += 1;
    }
  }
  const double c6 = sum / pairs;
  EXPECT_NEAR(found.average_c6, c6, 1e-12 * c6);

  const auto kept = lennard_jones_coefficients({1, 0}, settings.interaction);
  const auto left_out = [&](double r) {
    const double whole = -std::pow(r, -6);
    return r >= kCutoff ? whole : -(kept[2] + kept[3] * r);
  };
  const auto slope = [&](double r) { return r >= kCutoff ? 6 * std::pow(r, -7) : -kept[3]; };
  double energy = 0;
  double virial = 0;
  const auto integrate = [&](double from, double to) {
    constexpr int kPoints = 200000;
    const double step = (to - from) / kPoints;
    for (int i = 0; i < kPoints; ++i) {
      const double r = from + (i + 0.5) * step;
      const double shell = 4 * std::numbers::pi * r * r * step;
      energy += shell * left_out(r);
      virial -= shell * r * slope(r);
    }
  };
  integrate(0, kCutoff);
  integrate(kCutoff, 20 * kCutoff);
  const double farther = 4 * std::numbers::pi / 3 * std::pow(20 * kCutoff, -3);
  energy -= farther;
  virial -= 6 * farther;
  const auto n = static_cast<double>(sites.size());
  const double density = n / system.box.volume();
  const double expected = n / 2 * c6 * (density * energy - left_out(0));
  EXPECT_NEAR(found.energy_kj_per_mol, expected, 1e-6 * std::abs(expected));
  EXPECT_NEAR(found.virial_kj_per_mol, n / 2 * c6 * density * virial,
              1e-6 * std::abs(found.virial_kj_per_mol));
}

TEST(DispersionCorrection, GivesWhatIsAskedFor) {
  const auto of = [](LongRangeDispersion wanted) {
    return dispersion_correction(mixture(), settings_of(VdwModifier::potential_shift, wanted));
  };
  EXPECT_EQ(of(LongRangeDispersion::none).energy_kj_per_mol, 0);
  EXPECT_LT(of(LongRangeDispersion::energy).energy_kj_per_mol, 0);
  EXPECT_EQ(of(LongRangeDispersion::energy).virial_kj_per_mol, 0);
  EXPECT_LT(of(LongRangeDispersion::energy_pressure).virial_kj_per_mol, 0);
}

TEST(DispersionCorrection, RefusesExpressions) {
  Settings settings = settings_of(VdwModifier::potential_shift, LongRangeDispersion::energy);
  settings.potential.mm_additional = "exp(-r)";
  try {
    dispersion_correction(mixture(), settings);
    FAIL() << "nothing thrown";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("interaction.dispersion-correction"));
    EXPECT_THAT(error.what(), testing::HasSubstr("exp(-r)"));
  }
  settings.interaction.dispersion_correction = LongRangeDispersion::none;
  EXPECT_NO_THROW(dispersion_correction(mixture(), settings));
}

}  // namespace
}  // namespace starpmc::test
