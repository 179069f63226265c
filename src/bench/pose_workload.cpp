#include "bench/pose_workload.hpp"

#include <array>
#include <cmath>
#include <random>
#include <type_traits>

namespace starpmc {
namespace {

constexpr PoseInteraction kCoulomb{0, 0, 0, COMBINATION_SUM, 1};
/// Of the cube the particles are in: about the density of atoms.
constexpr double kEdgePerParticle = 2.5;
constexpr double kShaken = 0.2;  // of the lattice's spacing

}  // namespace

PoseWorkload::PoseWorkload(std::size_t particles, std::size_t evaluations, std::uint64_t seed)
    : sites_(particles / 2) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> share(0, 1);
  std::uniform_real_distribution<double> charge(-1, 1);
  const auto side =
      static_cast<std::size_t>(std::ceil(std::cbrt(static_cast<double>(particles) / 2)));
  const double spacing =
      kEdgePerParticle * std::cbrt(static_cast<double>(particles)) / static_cast<double>(side);
  /// @param half 0: receptor, 1: ligand
  const auto place = [&](std::size_t site, int half, std::size_t axis) {
    const std::array<std::size_t, 3> cell{site % side, site / side % side, site / side / side};
    return spacing *
           (static_cast<double>(cell[axis]) + 0.5 * half + kShaken * (share(random) - 0.5));
  };
  for (std::size_t site = 0; site < sites_; ++site) {
    receptor_sites_.x.push_back(place(site, 0, 0));
    receptor_sites_.y.push_back(place(site, 0, 1));
    receptor_sites_.z.push_back(place(site, 0, 2));
    receptor_sites_.charge.push_back(charge(random));
    ligand_.push_back(STARPMC_COULOMB_CONSTANT * charge(random));
  }
  receptor_sites_.radius.assign(sites_, 0);
  receptor_sites_.root.assign(sites_, 0);
  ligand_.resize(LIGAND_FIELDS * sites_, 0);
  const auto size = static_cast<std::size_t>(pose_size(static_cast<int>(sites_)));
  positions_.resize(evaluations * size);
  std::array<std::vector<double>, 3> axes;
  for (auto& axis : axes) axis.resize(sites_);
  for (std::size_t i = 0; i < evaluations; ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::size_t site = 0; site < sites_; ++site) axes[k][site] = place(site, 1, k);
    }
    write_pose(axes[0], axes[1], axes[2], std::span(positions_).subspan(i * size, size));
  }
  make_blocks();
}

void PoseWorkload::make_blocks() {
  single_ = make_receptor_blocks<float>(receptor_sites_, kCoulomb);
  wide_ = make_receptor_blocks<double>(receptor_sites_, kCoulomb);
}

void PoseWorkload::take_magnitudes() {
  for (double& charge : receptor_sites_.charge) charge = std::abs(charge);
  for (double& charge : ligand_) charge = std::abs(charge);
  make_blocks();
}

template <class Real>
PoseEnergiesArguments<Real> PoseWorkload::arguments(std::size_t evaluations, int newton_steps,
                                                    std::span<double> energies) const {
  PoseInteraction interaction = kCoulomb;
  interaction.newton_steps = newton_steps;
  const auto& blocks = [&]() -> const ReceptorBlocks<Real>& {
    if constexpr (std::is_same_v<Real, float>) {
      return single_;
    } else {
      return wide_;
    }
  }();
  return {interaction,
          static_cast<int>(sites_),
          static_cast<int>(evaluations),
          ligand_,
          positions_,
          blocks.blocks,
          blocks.sites,
          energies};
}

template PoseEnergiesArguments<float> PoseWorkload::arguments(std::size_t, int,
                                                              std::span<double>) const;
template PoseEnergiesArguments<double> PoseWorkload::arguments(std::size_t, int,
                                                               std::span<double>) const;

}  // namespace starpmc
