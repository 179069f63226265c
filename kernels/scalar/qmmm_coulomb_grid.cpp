#include <bit>

#include "kernels/block_reach.hpp"
#include "kernels/operations.hpp"
#include "kernels/scalar/pair_functions.hpp"

namespace starpmc::scalar {
namespace {

/// A site as the pair terms see it from one compact block: relative to its origin, or in fixed
/// precision where it is.
template <class Real>
class SiteOfBlock {
 public:
  SiteOfBlock(const double* position, const double* header, const Interaction& box)
      : site_(Relative<Real>::from(position, header, box)), box_(box) {}
  Real distance_squared(const Real* x, int point) const {
    const Relative<Real> other{x[point], x[STARPMC_BLOCK_POINTS + point],
                               x[2 * STARPMC_BLOCK_POINTS + point]};
    return scalar::distance_squared(site_, other, box_);
  }
  static Real charge(const Real* x, int point) { return x[3 * STARPMC_BLOCK_POINTS + point]; }

 private:
  Relative<Real> site_;
  const Interaction& box_;
};

template <>
class SiteOfBlock<FixedCoordinate> {
 public:
  SiteOfBlock(const double* position, const double*, const Interaction& box) {
    for (int k = 0; k < 3; ++k) {
      site_[k] = static_cast<unsigned>(fixed_coordinate(position[k], box.box[k]));
      unit_[k] = static_cast<float>(fixed_unit(box.box[k]));
    }
  }
  float distance_squared(const FixedCoordinate* x, int point) const {
    float sum = 0;
    for (int k = 0; k < 3; ++k) {
      const auto other = static_cast<unsigned>(x[k * STARPMC_BLOCK_POINTS + point].value);
      const float d = static_cast<float>(static_cast<int>(site_[k] - other)) * unit_[k];
      sum += d * d;
    }
    return std::max(sum, static_cast<float>(STARPMC_MINIMUM_DISTANCE_SQUARED));
  }
  static float charge(const FixedCoordinate* x, int point) {
    return std::bit_cast<float>(x[3 * STARPMC_BLOCK_POINTS + point].value);
  }

 private:
  unsigned site_[3];
  float unit_[3];
};

/// Whether the site may meet a point of the block inside the cutoff.
bool in_reach(const double* position, const double* header, const Interaction& interaction) {
  const auto d = Relative<double>::from(position, header, interaction);
  const double reach = BlockReach(interaction.coulomb_cutoff, header[BLOCK_RADIUS]).reach;
  return d.x * d.x + d.y * d.y + d.z * d.z < reach * reach;
}

/// Sum over all points of charge * V(r), V without the Coulomb constant.
template <class Real>
double site_energy(const double* position, const CoulombGridArguments<Real>& a) {
  const Interaction& interaction = a.window.interaction;
  const CoulombShiftedForce<PairReal<Real>> coulomb(interaction.coulomb_cutoff);
  double sum = 0;
  for (std::size_t block = 0; block * BLOCK_FIELDS < a.blocks.size(); ++block) {
    const double* const header = &a.blocks[block * BLOCK_FIELDS];
    if (!in_reach(position, header, interaction)) continue;
    const Real* const points = &a.points[block * 4 * STARPMC_BLOCK_POINTS];
    const SiteOfBlock<Real> site(position, header, interaction);
    double block_sum = 0;
    for (int point = 0; point < STARPMC_BLOCK_POINTS; ++point) {
      block_sum += site.charge(points, point) * coulomb(site.distance_squared(points, point));
    }
    sum += block_sum;
  }
  return sum;
}

}  // namespace

// Algorithm 1 of Miranda et al. 2016, for new positions only: the energy of each molecule's current
// position is cached.
template <class Real>
void qmmm_coulomb_grid(const CoulombGridArguments<Real>& a) {
  const Window& window = a.window;
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
      energy += charge * site_energy(position, a);
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
template void qmmm_coulomb_grid(const CoulombGridArguments<FixedCoordinate>&);

}  // namespace starpmc::scalar
