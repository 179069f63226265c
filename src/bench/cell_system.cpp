#include "bench/cell_system.hpp"

#include <array>
#include <cmath>
#include <random>
#include <span>
#include <type_traits>

namespace starpmc {
namespace {

constexpr PoseInteraction kCoulomb{0, 0, 0, COMBINATION_SUM, 1};
/// Of the cube the particles are in: about the density of atoms.
constexpr double kEdgePerParticle = 2.5;

}  // namespace

CellSystem::CellSystem(std::size_t particles, std::size_t evaluations, std::uint64_t seed)
    : sites_(particles / 2) {
  std::mt19937_64 random(seed);
  const double edge = kEdgePerParticle * std::cbrt(static_cast<double>(particles));
  std::uniform_real_distribution<double> place(0, edge);
  std::uniform_real_distribution<double> charge(-1, 1);
  for (std::size_t i = 0; i < sites_; ++i) {
    receptor_sites_.x.push_back(place(random));
    receptor_sites_.y.push_back(place(random));
    receptor_sites_.z.push_back(place(random));
    receptor_sites_.charge.push_back(charge(random));
  }
  receptor_sites_.radius.assign(sites_, 0);
  receptor_sites_.root.assign(sites_, 0);
  for (std::size_t i = 0; i < sites_; ++i) {
    ligand_.push_back(STARPMC_COULOMB_CONSTANT * charge(random));
  }
  ligand_.resize(LIGAND_FIELDS * sites_, 0);
  const auto size = static_cast<std::size_t>(pose_size(static_cast<int>(sites_)));
  positions_.resize(evaluations * size);
  std::array<std::vector<double>, 3> axes;
  for (auto& axis : axes) axis.resize(sites_);
  for (std::size_t i = 0; i < evaluations; ++i) {
    for (auto& axis : axes) {
      for (double& value : axis) value = place(random);
    }
    write_pose(axes[0], axes[1], axes[2], std::span(positions_).subspan(i * size, size));
  }
  make_blocks();
}

void CellSystem::make_blocks() {
  single_ = make_receptor_blocks<float>(receptor_sites_, kCoulomb);
  wide_ = make_receptor_blocks<double>(receptor_sites_, kCoulomb);
}

void CellSystem::take_magnitudes() {
  for (double& charge : receptor_sites_.charge) charge = std::abs(charge);
  for (double& charge : ligand_) charge = std::abs(charge);
  make_blocks();
}

template <class Real>
PoseEnergiesArguments<Real> CellSystem::arguments(std::size_t evaluations, int newton_steps,
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

template PoseEnergiesArguments<float> CellSystem::arguments(std::size_t, int,
                                                            std::span<double>) const;
template PoseEnergiesArguments<double> CellSystem::arguments(std::size_t, int,
                                                             std::span<double>) const;

}  // namespace starpmc
