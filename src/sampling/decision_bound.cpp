#include "sampling/decision_bound.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/whole_units.hpp"
#include "sampling/mm_rounding.hpp"

namespace starpmc {
namespace {

/// A site in contact with the solute is this far from the nearest nucleus.
constexpr double kContactAngstrom = 1.5;
constexpr double kDeviations = 6;

/// Largest sum over a molecule type's sites of |charge|^power.
double molecule_charge(const TopologyBuffers& topology, int power) {
  const Topology view = topology.view();
  double largest = 0;
  for (int type = 0; type < topology.shape.molecule_types; ++type) {
    double sum = 0;
    for (int site = 0; site < view.site_count(type); ++site) {
      sum += std::pow(std::abs(view.site(type, site)[3]), power);
    }
    largest = std::max(largest, sum);
  }
  return largest;
}

/// Sum of |charge|/r over the electrons, each taken to be at its nucleus, at a site in contact with
/// the solute.
double contact_sum(const TopologyBuffers& topology, double electrons) {
  const auto nuclei = static_cast<std::size_t>(topology.nuclei);
  const auto coordinate = [&](std::size_t k, std::size_t i) {
    return topology.solute[k * nuclei + i];
  };
  double nuclear_charge = 0;
  double largest = 0;
  for (std::size_t a = 0; a < nuclei; ++a) {
    nuclear_charge += coordinate(3, a);
    double sum = 0;
    for (std::size_t b = 0; b < nuclei; ++b) {
      const double distance =
          std::hypot(coordinate(0, a) - coordinate(0, b), coordinate(1, a) - coordinate(1, b),
                     coordinate(2, a) - coordinate(2, b));
      sum += coordinate(3, b) / std::max(distance - kContactAngstrom, kContactAngstrom);
    }
    largest = std::max(largest, sum);
  }
  return nuclear_charge > 0 ? largest * electrons / nuclear_charge : 0;
}

/// Error of the grid term, in units of the pair terms' rounding.
double grid_roundings(const TopologyBuffers& topology, std::span<const double> block_charges) {
  double sum = 0;
  double squares = 0;
  for (const double charge : block_charges) {
    sum += std::abs(charge);
    squares += charge * charge;
  }
  if (sum == 0) return 0;
  const double sharing_blocks = sum * sum / squares;
  return STARPMC_COULOMB_CONSTANT * molecule_charge(topology, 1) * contact_sum(topology, sum) *
         (0.1 + kDeviations * 1.2 / std::sqrt(sharing_blocks)) * std::numbers::sqrt2;
}

/// Bounds Coulomb constant times the charges of a site and a point.
double largest_grid_charge(const TopologyBuffers& topology, std::span<const double> block_charges) {
  double largest = 0;
  for (const double charge : block_charges) largest = std::max(largest, std::abs(charge));
  return STARPMC_COULOMB_CONSTANT * molecule_charge(topology, 1) * largest;
}

}  // namespace

DecisionBound decision_bound(Precision precision, const TopologyBuffers& topology,
                             const UserErrors& user, std::span<const double> block_charges) {
  const double grid = user.coulomb_scale * grid_roundings(topology, block_charges);
  const bool fp64 = precision == Precision::fp64;
  // Energies are rounded to whole units, of the old and the new position.
  const double pair_units =
      topology.shape.molecules * (fp64 ? kPairUnit<double> : kPairUnit<float>);
  const double groups = std::ceil(static_cast<double>(block_charges.size()) / kGroupBlocks);
  const double grid_units = topology.shape.sites * groups * kGridUnit;
  const double mm = mm_rounding(precision, topology);
  const double relative = 2 * stored_displacement(precision, topology);
  if (fp64) {
    const double pairs =
        static_cast<double>(block_charges.size()) * STARPMC_BLOCK_POINTS * topology.shape.sites +
        topology.shape.molecules + topology.nuclei * topology.shape.sites;
    const double unit = std::ldexp(1.0, -53);
    const double of_grid = 1024 * unit * (grid + user.coulomb_scale * STARPMC_COULOMB_CONSTANT) +
                           2 * pairs * std::ldexp(1.0, -41) + grid_units;
    return {of_grid + 16 * mm + pair_units + user.absolute, 16 * unit + relative + user.relative,
            of_grid};
  }
  const double unit = std::ldexp(1.0, -24);
  const double of_grid = unit * grid + grid_units + 1e-5 +
                         user.coulomb_jump * largest_grid_charge(topology, block_charges);
  return {of_grid + mm + pair_units + user.absolute, relative + user.relative, of_grid};
}

}  // namespace starpmc
