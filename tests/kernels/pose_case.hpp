#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <span>
#include <vector>

#include "kernels/operations.hpp"
#include "kernels/receptor_blocks.hpp"

namespace starpmc::test {

/// What a plain loop over all pairs gives, in long double.
struct NaivePose {
  double coulomb = 0;
  double vdw = 0;
  double closest = STARPMC_NOTHING_SEEN;
  /// Sums over pairs of |energy|, and of |energy| / r times the power of 1/r in it: what an error
  /// in the distance becomes.
  double coulomb_magnitude = 0;
  double coulomb_slope = 0;
  double vdw_magnitude = 0;
  double vdw_slope = 0;
};

/// A ligand in poses beside, in and far from a receptor, with random charges and radii.
class PoseCase {
 public:
  PoseCase(int receptor_sites, int ligand_sites, int poses, unsigned seed = 1)
      : sites(ligand_sites), pose_count(poses) {
    std::mt19937_64 random(seed);
    const auto uniform = [&](double low, double high) {
      return std::uniform_real_distribution<double>(low, high)(random);
    };
    const double edge = 3 * std::cbrt(receptor_sites);
    for (int i = 0; i < receptor_sites; ++i) {
      receptor.x.push_back(50 + uniform(0, edge));
      receptor.y.push_back(-20 + uniform(0, edge));
      receptor.z.push_back(uniform(0, edge));
      receptor.charge.push_back(uniform(-1, 1));
      receptor.radius.push_back(uniform(0.8, 1.6));
      receptor.root.push_back(uniform(0, 0.8));
    }
    for (int field = 0; field < LIGAND_FIELDS; ++field) {
      for (int i = 0; i < ligand_sites; ++i) {
        ligand.push_back(field == LIGAND_CHARGE   ? STARPMC_COULOMB_CONSTANT * uniform(-1, 1)
                         : field == LIGAND_RADIUS ? uniform(0.8, 1.6)
                                                  : uniform(0, 0.8));
      }
    }
    for (int pose = 0; pose < poses; ++pose) {
      const double centre[3] = {50 + uniform(-10, edge + 10), -20 + uniform(-10, edge + 10),
                                uniform(-10, edge + 10)};
      for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < ligand_sites; ++i) {
          positions.push_back(centre[k] + uniform(-4, 4));
        }
      }
    }
  }

  double ligand_value(int field, int site) const {
    return ligand[static_cast<std::size_t>(field * sites + site)];
  }
  double position(int pose, int axis, int site) const {
    return positions[static_cast<std::size_t>((pose * 3 + axis) * sites + site)];
  }
  /// As kernels want it.
  std::vector<double> pose_buffer() const {
    const auto n = static_cast<std::size_t>(sites);
    std::vector<double> buffer;
    for (int pose = 0; pose < pose_count; ++pose) {
      std::vector<double> one(static_cast<std::size_t>(pose_size(sites)));
      const auto axes = std::span(positions).subspan(static_cast<std::size_t>(pose) * 3 * n, 3 * n);
      write_pose(axes.first(n), axes.subspan(n, n), axes.subspan(2 * n, n), one);
      buffer.insert(buffer.end(), one.begin(), one.end());
    }
    return buffer;
  }

  NaivePose naive(int pose, const PoseInteraction& interaction) const {
    NaivePose sum;
    long double coulomb = 0;
    long double vdw = 0;
    for (int i = 0; i < sites; ++i) {
      for (std::size_t j = 0; j < receptor.size(); ++j) {
        const double distance = std::sqrt(std::pow(position(pose, 0, i) - receptor.x[j], 2) +
                                          std::pow(position(pose, 1, i) - receptor.y[j], 2) +
                                          std::pow(position(pose, 2, i) - receptor.z[j], 2));
        sum.closest = std::min(sum.closest, distance * distance);
        if (interaction.cutoff > 0 && distance >= interaction.cutoff) continue;
        const double r = std::max(distance, STARPMC_MINIMUM_DISTANCE);
        const double e = ligand_value(LIGAND_CHARGE, i) * receptor.charge[j] /
                         (interaction.distance_dependent ? r * r : r);
        coulomb += e;
        sum.coulomb_magnitude += std::abs(e);
        sum.coulomb_slope += (interaction.distance_dependent ? 2 : 1) * std::abs(e) / r;
        if (!interaction.lennard_jones) continue;
        const double a = ligand_value(LIGAND_RADIUS, i);
        const double b = receptor.radius[j];
        const double least = interaction.combination == COMBINATION_SUM ? a + b : a * b;
        const double depth = ligand_value(LIGAND_ROOT, i) * receptor.root[j];
        const double repulsion = depth * std::pow(least / r, 12);
        const double attraction = 2 * depth * std::pow(least / r, 6);
        vdw += repulsion - attraction;
        sum.vdw_magnitude += repulsion + attraction;
        sum.vdw_slope += (12 * repulsion + 6 * attraction) / r;
      }
    }
    sum.coulomb = static_cast<double>(coulomb);
    sum.vdw = static_cast<double>(vdw);
    return sum;
  }

  ReceptorSites receptor;
  std::vector<double> ligand;
  std::vector<double> positions;  ///< per pose x, y, z arrays
  int sites;
  int pose_count;
};

/// All kinds of interaction.
inline std::vector<PoseInteraction> pose_interactions() {
  std::vector<PoseInteraction> all;
  for (const double cutoff : {0.0, 9.0}) {
    for (const int distance : {0, 1}) {
      all.push_back({cutoff, distance, 0, COMBINATION_SUM, 1});
      all.push_back({cutoff, distance, 1, COMBINATION_SUM, 1});
      all.push_back({cutoff, distance, 1, COMBINATION_PRODUCT, 1});
    }
  }
  return all;
}

/// Of an energy: relative to the sum of the pair energies' magnitudes, and of distances.
struct PoseTolerance {
  double relative;
  double distance;  ///< angstrom
};
/// fp32 rounds two positions up to 16 A from a block's origin by half a unit in the last place in
/// each of three dimensions: 1.7e-6 A in all. In fixed point by half of 4.8e-7 A, 8.3e-7 A in all.
template <class Real>
PoseTolerance pose_tolerance() {
  if (kPrecisionOf<Real> == Precision::fixed) return {2e-6, 8.3e-7};
  return kPrecisionOf<Real> == Precision::fp64 ? PoseTolerance{1e-13, 1e-14}
                                               : PoseTolerance{2e-6, 1.7e-6};
}

inline void expect_naive(const PoseCase& poses, const PoseInteraction& interaction,
                         std::span<const double> energies, PoseTolerance tolerance) {
  for (int pose = 0; pose < poses.pose_count; ++pose) {
    const auto energy = [&](int term) {
      return energies[static_cast<std::size_t>(term * poses.pose_count + pose)];
    };
    const NaivePose naive = poses.naive(pose, interaction);
    SCOPED_TRACE(testing::Message()
                 << "pose " << pose << ", " << poses.sites << " sites, cutoff "
                 << interaction.cutoff << ", distance " << interaction.distance_dependent
                 << ", 12-6 " << interaction.lennard_jones << interaction.combination);
    EXPECT_NEAR(
        energy(POSE_COULOMB), naive.coulomb,
        tolerance.relative * naive.coulomb_magnitude + tolerance.distance * naive.coulomb_slope);
    EXPECT_NEAR(energy(POSE_VDW), naive.vdw,
                tolerance.relative * naive.vdw_magnitude + tolerance.distance * naive.vdw_slope);
    if (interaction.cutoff == 0 || naive.closest < interaction.cutoff * interaction.cutoff) {
      EXPECT_NEAR(std::sqrt(energy(POSE_CLOSEST)), std::sqrt(naive.closest),
                  tolerance.distance + tolerance.relative * std::sqrt(naive.closest));
    }
  }
}

}  // namespace starpmc::test
