#include "app/move_sample.hpp"

#include <algorithm>
#include <cmath>

#include "sampling/topology_buffers.hpp"

namespace starpmc {
namespace {

constexpr std::uint64_t kMoves = 100000;
/// A configuration's molecules go to their places in so many of those that follow.
constexpr std::size_t kFollowers = 2;

std::vector<std::vector<double>> charges_of(const System& system, const Settings& settings) {
  const TopologyBuffers topology = make_topology_buffers(system, settings);
  const Topology view = topology.view();
  std::vector<std::vector<double>> charges;
  for (const Molecule& molecule : system.molecules) {
    const int type = static_cast<int>(molecule.type);
    std::vector<double>& of_molecule = charges.emplace_back();
    for (int site = 0; site < view.site_count(type); ++site) {
      const double charge = view.site(type, site)[3];
      if (charge != 0) of_molecule.push_back(charge);
    }
  }
  return charges;
}

}  // namespace

MoveSample::MoveSample(const System& system, const Settings& settings)
    : MoveSample(charges_of(system, settings)) {}

MoveSample::MoveSample(std::span<const std::vector<double>> charges) {
  first_.push_back(0);
  for (const std::vector<double>& of_molecule : charges) {
    charges_.insert(charges_.end(), of_molecule.begin(), of_molecule.end());
    first_.push_back(charges_.size());
  }
}

void MoveSample::add(const PointCharges& charges) { configurations_.push_back(charges.positions); }

/// Evenly, as many as there are moves wanted.
void MoveSample::choose() {
  const std::size_t molecules = std::max<std::size_t>(1, first_.size() - 1);
  const std::size_t wanted = (kMoves + molecules - 1) / molecules / kFollowers + kFollowers;
  const std::size_t count = std::min(wanted, configurations_.size());
  positions_.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const auto& one = configurations_[i * configurations_.size() / count];
    positions_.insert(positions_.end(), one.begin(), one.end());
  }
}

TableError MoveSample::error(const LatticeValues& table, std::span<const double> potential) const {
  const std::size_t sites = charges_.size();
  const std::size_t count = sites == 0 ? 0 : positions_.size() / sites;
  const std::size_t molecules = first_.size() - 1;
  std::vector<double> errors;  // [configuration][molecule]
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t m = 0; m < molecules; ++m) {
      double error = 0;
      for (std::size_t site = first_[m]; site < first_[m + 1]; ++site) {
        const Vector3& r = positions_[i * sites + site];
        const double value = lattice_value(&table.lattice, table.values.data(), r.x, r.y, r.z, 0);
        error += charges_[site] * (value - potential[i * sites + site]);
      }
      errors.push_back(error);
    }
  }
  TableError result;
  double squares = 0;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 1; k <= kFollowers && i + k < count; ++k) {
      for (std::size_t m = 0; m < molecules && result.moves < kMoves; ++m) {
        const double change = errors[(i + k) * molecules + m] - errors[i * molecules + m];
        squares += change * change;
        result.largest_kj_per_mol = std::max(result.largest_kj_per_mol, std::abs(change));
        ++result.moves;
      }
    }
  }
  if (result.moves > 0) {
    result.rms_kj_per_mol = std::sqrt(squares / static_cast<double>(result.moves));
  }
  return result;
}

}  // namespace starpmc
