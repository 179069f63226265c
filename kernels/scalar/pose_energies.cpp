#include <algorithm>
#include <cmath>

#include "kernels/all_precisions.hpp"
#include "kernels/operations.hpp"
#include "kernels/pose_coordinates.hpp"
#include "kernels/stored_value.hpp"

namespace starpmc::scalar {
namespace {

struct PoseSums {
  TreeSum coulomb{};
  TreeSum vdw{};
  double closest = STARPMC_NOTHING_SEEN;
};

/// A site of a block, or of a pose, relative to the block's origin.
template <class Real>
struct PlacedSite {
  using Value = PairReal<Real>;
  Real x;
  Real y;
  Real z;
  Value charge;
  Value radius;
  Value root;
};

template <class Real>
PlacedSite<Real> receptor_site(const PoseEnergiesArguments<Real>& a, std::size_t block, int place) {
  const auto fields = static_cast<std::size_t>(receptor_fields(a.interaction));
  const Real* const first = &a.receptor_sites[block * fields * STARPMC_BLOCK_POINTS];
  const auto field = [&](int k) { return first[k * STARPMC_BLOCK_POINTS + place]; };
  const auto value = [&](int k) { return value_of_stored(field(k)); };
  const bool vdw = a.interaction.lennard_jones != 0;
  return {field(RECEPTOR_X),
          field(RECEPTOR_Y),
          field(RECEPTOR_Z),
          value(RECEPTOR_CHARGE),
          vdw ? value(RECEPTOR_RADIUS) : 0,
          vdw ? value(RECEPTOR_ROOT) : 0};
}

template <class Real>
PlacedSite<Real> pose_site(const PoseEnergiesArguments<Real>& a, const double* pose, int site,
                           const double* origin) {
  const double* const x = pose + POSE_SPHERE;
  const auto ligand = [&](int field) {
    return static_cast<PairReal<Real>>(a.ligand[static_cast<std::size_t>(field * a.sites + site)]);
  };
  return {pose_coordinate<Real>(x[site] - origin[0]),
          pose_coordinate<Real>(x[a.sites + site] - origin[1]),
          pose_coordinate<Real>(x[2 * a.sites + site] - origin[2]),
          ligand(LIGAND_CHARGE),
          ligand(LIGAND_RADIUS),
          ligand(LIGAND_ROOT)};
}

/// e (u^12 - 2 u^6) with u = R/r: least at R, where it is -e.
template <class Real>
PairReal<Real> twelve_six(const PlacedSite<Real>& a, const PlacedSite<Real>& b, int combination,
                          PairReal<Real> r2) {
  using Value = PairReal<Real>;
  const Value least = combination == COMBINATION_SUM ? a.radius + b.radius : a.radius * b.radius;
  const Value u2 = least * least / r2;
  const Value u6 = u2 * u2 * u2;
  return a.root * b.root * u6 * (u6 - 2);
}

/// Energies of one pose with one block.
template <class Real>
void add_block(const PoseEnergiesArguments<Real>& a, const double* pose, std::size_t block,
               PoseSums& sums) {
  using Value = PairReal<Real>;
  const PoseInteraction& interaction = a.interaction;
  const double* const header = &a.receptor_blocks[block * RECEPTOR_BLOCK_FIELDS];
  const int places = static_cast<int>(header[RECEPTOR_BLOCK_SITES]);
  const Value cutoff = static_cast<Value>(interaction.cutoff);
  double coulomb = 0;
  double vdw = 0;
  for (int i = 0; i < a.sites; ++i) {
    const PlacedSite<Real> mine = pose_site(a, pose, i, header);
    for (int j = 0; j < places; ++j) {
      const PlacedSite<Real> other = receptor_site(a, block, j);
      const Value dx = pose_difference(mine.x, other.x);
      const Value dy = pose_difference(mine.y, other.y);
      const Value dz = pose_difference(mine.z, other.z);
      Value r2 = dx * dx + dy * dy + dz * dz;
      sums.closest = std::min(sums.closest, static_cast<double>(r2));
      if (interaction.cutoff != 0 && !(r2 < cutoff * cutoff)) continue;
      r2 = std::max(r2, static_cast<Value>(STARPMC_MINIMUM_DISTANCE_SQUARED));
      const Value charges = mine.charge * other.charge;
      coulomb += interaction.distance_dependent != 0 ? charges / r2 : charges / std::sqrt(r2);
      if (interaction.lennard_jones != 0) {
        vdw += twelve_six(mine, other, interaction.combination, r2);
      }
    }
  }
  tree_add(&sums.coulomb, coulomb);
  tree_add(&sums.vdw, vdw);
}

}  // namespace

template <class Real>
void pose_energies(const PoseEnergiesArguments<Real>& a) {
  const std::size_t blocks = a.receptor_blocks.size() / RECEPTOR_BLOCK_FIELDS;
  for (int pose = 0; pose < a.poses; ++pose) {
    PoseSums sums;
    for (std::size_t block = 0; block < blocks; ++block) {
      add_block(a,
                &a.positions[static_cast<std::size_t>(pose) *
                             static_cast<std::size_t>(pose_size(a.sites))],
                block, sums);
    }
    const auto result = [&](int term) -> double& {
      return a.energies[static_cast<std::size_t>(term * a.poses + pose)];
    };
    result(POSE_COULOMB) = tree_total(&sums.coulomb);
    result(POSE_VDW) = tree_total(&sums.vdw);
    result(POSE_CLOSEST) = sums.closest;
  }
}

void pose_energies_reduce(const PoseEnergiesReduceArguments& a) {
  for (int pose = 0; pose < a.poses; ++pose) {
    const auto at = [&](int term) { return static_cast<std::size_t>(term * a.poses + pose); };
    for (const int term : {POSE_COULOMB, POSE_VDW}) {
      TreeSum sum{};
      for (const auto& partial : a.partials) tree_add(&sum, partial[at(term)]);
      a.energies[at(term)] = tree_total(&sum);
    }
    double closest = STARPMC_NOTHING_SEEN;
    for (const auto& partial : a.partials) closest = std::min(closest, partial[at(POSE_CLOSEST)]);
    a.energies[at(POSE_CLOSEST)] = closest;
  }
}

STARPMC_FOR_ALL_PRECISIONS(pose_energies)

}  // namespace starpmc::scalar
