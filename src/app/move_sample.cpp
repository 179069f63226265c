#include "app/move_sample.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "sampling/topology_buffers.hpp"

namespace starpmc {
namespace {

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
void MoveSample::choose(std::uint64_t moves) { positions_ = positions_for(moves); }

MoveSample MoveSample::part(std::uint64_t moves) const {
  MoveSample result;
  result.charges_ = charges_;
  result.first_ = first_;
  result.positions_ = positions_for(moves);
  return result;
}

std::vector<Vector3> MoveSample::positions_for(std::uint64_t moves) const {
  const std::size_t each = std::max<std::size_t>(1, molecules());
  const std::size_t wanted = (moves + each - 1) / each / kFollowers + kFollowers;
  const std::size_t count = std::min(wanted, configurations_.size());
  std::vector<Vector3> positions;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& one = configurations_[i * configurations_.size() / count];
    positions.insert(positions.end(), one.begin(), one.end());
  }
  return positions;
}

std::size_t MoveSample::chosen() const {
  return charges_.empty() ? 0 : positions_.size() / charges_.size();
}

template <class ValueAtPosition>
std::vector<double> MoveSample::of_molecules(const ValueAtPosition& value) const {
  std::vector<double> sums;
  for (std::size_t i = 0; i < chosen(); ++i) {
    for (std::size_t m = 0; m < molecules(); ++m) {
      double sum = 0;
      for (std::size_t site = first_[m]; site < first_[m + 1]; ++site) {
        sum += charges_[site] * value(i * charges_.size() + site);
      }
      sums.push_back(sum);
    }
  }
  return sums;
}

/// @param error of the move of molecule m from its place in configuration i to that in another
template <class ErrorOfMove>
TableError MoveSample::over_moves(const ErrorOfMove& error) const {
  TableError result;
  double squares = 0;
  for (std::size_t i = 0; i < chosen(); ++i) {
    for (std::size_t k = 1; k <= kFollowers && i + k < chosen(); ++k) {
      for (std::size_t m = 0; m < molecules() && result.moves < kMoves; ++m) {
        const double change = error(i, i + k, m);
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

TableError MoveSample::error(const LatticeValues& table, std::span<const double> potential) const {
  const std::vector<double> errors = of_molecules([&](std::size_t position) {
    const Vector3& r = positions_[position];
    return lattice_value(&table.lattice, table.values.data(), r.x, r.y, r.z, 0) -
           potential[position];
  });
  return over_moves([&](std::size_t from, std::size_t to, std::size_t m) {
    return errors[to * molecules() + m] - errors[from * molecules() + m];
  });
}

TableError MoveSample::response_error(const LatticeValues& table, std::span<const double> mean,
                                      std::span<const double> potentials) const {
  // |Y + d|^2 - |Y|^2 = d (2 Y + d), by the table less without it, summed over the components.
  std::vector<double> changes(chosen() * kFollowers * molecules());
  const auto index = [&](std::size_t from, std::size_t to, std::size_t m) {
    return (from * kFollowers + (to - from - 1)) * molecules() + m;
  };
  for (std::size_t k = 0; k < mean.size(); ++k) {
    const std::vector<double> by_table = of_molecules([&](std::size_t position) {
      const Vector3& r = positions_[position];
      return lattice_value(&table.lattice, table.values.data(), r.x, r.y, r.z, static_cast<int>(k));
    });
    const std::vector<double> direct = of_molecules(
        [&](std::size_t position) { return potentials[k * positions_.size() + position]; });
    for (const auto& [parts, sign] : {std::pair(&by_table, 1.0), std::pair(&direct, -1.0)}) {
      for (std::size_t i = 0; i < chosen(); ++i) {
        const auto here = std::span(*parts).subspan(i * molecules(), molecules());
        const double whole = std::accumulate(here.begin(), here.end(), -mean[k]);
        for (std::size_t j = i + 1; j <= i + kFollowers && j < chosen(); ++j) {
          for (std::size_t m = 0; m < molecules(); ++m) {
            const double change = (*parts)[j * molecules() + m] - here[m];
            changes[index(i, j, m)] -= sign * change * (whole + change / 2);
          }
        }
      }
    }
  }
  return over_moves(
      [&](std::size_t from, std::size_t to, std::size_t m) { return changes[index(from, to, m)]; });
}

}  // namespace starpmc
