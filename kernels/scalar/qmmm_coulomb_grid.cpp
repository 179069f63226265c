#include <algorithm>

#include "kernels/operations.hpp"
#include "kernels/scalar/pair_functions.hpp"

namespace starpmc::scalar {
namespace {

/// Sum over the points of one compact block of charge * V(r), V without the Coulomb constant.
template <class Real>
double block_energy(const Relative<Real>& site, std::span<const Real> points,
                    const CoulombShiftedForce<Real>& coulomb, const Interaction& interaction) {
  const Real* const x = points.data();
  const Real* const y = x + STARPMC_BLOCK_POINTS;
  const Real* const z = y + STARPMC_BLOCK_POINTS;
  const Real* const charge = z + STARPMC_BLOCK_POINTS;
  double sum = 0;
  for (int point = 0; point < STARPMC_BLOCK_POINTS; ++point) {
    const Relative<Real> other{x[point], y[point], z[point]};
    sum += charge[point] * coulomb(distance_squared(site, other, interaction));
  }
  return sum;
}

}  // namespace

// Algorithm 1 of Miranda et al. 2016, for new positions only: the energy of each molecule's current
// position is cached.
template <class Real>
void qmmm_coulomb_grid(const CoulombGridArguments<Real>& a) {
  const Window& window = a.window;
  const Interaction& interaction = window.interaction;
  const CoulombShiftedForce<Real> coulomb(interaction.coulomb_cutoff);
  const std::size_t blocks = a.blocks.size() / BLOCK_FIELDS;
  for (int candidate = 0; candidate < window.candidates(); ++candidate) {
    const int type = window.topology.type_of(window.molecule_of_candidate(candidate));
    double energy = 0;
    for (int site = 0; site < window.topology.site_count(type); ++site) {
      const double charge = window.topology.site(type, site)[3];
      if (charge == 0) continue;
      double position[3];
      for (int k = 0; k < 3; ++k) {
        position[k] = window.field(POSE_X + k, candidate) +
                      window.field(POSE_FIELDS + 3 * site + k, candidate);
      }
      double sum = 0;
      for (std::size_t block = 0; block < blocks; ++block) {
        const double* const origin = &a.blocks[block * BLOCK_FIELDS];
        const auto relative = Relative<Real>::from(position, origin, interaction);
        const double reach = interaction.coulomb_cutoff + origin[BLOCK_RADIUS];
        const double x = relative.x;
        const double y = relative.y;
        const double z = relative.z;
        if (x * x + y * y + z * z > reach * reach) continue;
        sum += block_energy(
            relative, a.points.subspan(block * 4 * STARPMC_BLOCK_POINTS, 4 * STARPMC_BLOCK_POINTS),
            coulomb, interaction);
      }
      energy += charge * sum;
    }
    a.energies[static_cast<std::size_t>(candidate)] = STARPMC_COULOMB_CONSTANT * energy;
  }
}

void qmmm_coulomb_grid_reduce(const CoulombGridReduceArguments& a) {
  for (int candidate = 0; candidate < a.candidates; ++candidate) {
    double sum = 0;
    for (const auto& partial : a.partials) sum += partial[static_cast<std::size_t>(candidate)];
    a.energies[static_cast<std::size_t>(candidate)] = sum;
  }
}

template void qmmm_coulomb_grid(const CoulombGridArguments<double>&);
template void qmmm_coulomb_grid(const CoulombGridArguments<float>&);

}  // namespace starpmc::scalar
