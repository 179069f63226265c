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

/// Where a particle may be.
class RandomPlaces {
 public:
  RandomPlaces(std::size_t particles, CellSystem::Places places)
      : places_(places),
        edge_(kEdgePerParticle * std::cbrt(static_cast<double>(particles))),
        side_(static_cast<std::size_t>(std::ceil(std::cbrt(static_cast<double>(particles) / 2)))) {}

  /// @param half 0: receptor, 1: ligand, between the places of the former
  std::array<double, 3> operator()(std::size_t site, int half, std::mt19937_64& random) const {
    std::uniform_real_distribution<double> share(0, 1);
    if (places_ == CellSystem::Places::anywhere) {
      return {edge_ * share(random), edge_ * share(random), edge_ * share(random)};
    }
    constexpr double kShaken = 0.2;  // of the lattice's spacing
    const double spacing = edge_ / static_cast<double>(side_);
    const std::array<std::size_t, 3> cell{site % side_, site / side_ % side_, site / side_ / side_};
    std::array<double, 3> position{};
    for (std::size_t k = 0; k < 3; ++k) {
      position[k] =
          spacing * (static_cast<double>(cell[k]) + 0.5 * half + kShaken * (share(random) - 0.5));
    }
    return position;
  }

 private:
  CellSystem::Places places_;
  double edge_;
  std::size_t side_;
};

}  // namespace

CellSystem::CellSystem(std::size_t particles, std::size_t evaluations, std::uint64_t seed,
                       Places places)
    : sites_(particles / 2) {
  std::mt19937_64 random(seed);
  const RandomPlaces place(particles, places);
  std::uniform_real_distribution<double> charge(-1, 1);
  for (std::size_t i = 0; i < sites_; ++i) {
    const auto [x, y, z] = place(i, 0, random);
    receptor_sites_.x.push_back(x);
    receptor_sites_.y.push_back(y);
    receptor_sites_.z.push_back(z);
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
    for (std::size_t site = 0; site < sites_; ++site) {
      const auto position = place(site, 1, random);
      for (std::size_t k = 0; k < 3; ++k) axes[k][site] = position[k];
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
