#include "app/move_sample.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

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

template <class Visit>
void MoveSample::for_moves(const Visit& visit) const {
  std::uint64_t moves = 0;
  for (std::size_t from = 0; from < chosen(); ++from) {
    for (std::size_t to = from + 1; to <= from + kFollowers && to < chosen(); ++to) {
      for (std::size_t m = 0; m < molecules() && moves < kMoves; ++m, ++moves) visit(from, to, m);
    }
  }
}

TableError MoveSample::of_errors(std::span<const double> errors) {
  TableError result;
  result.moves = errors.size();
  double squares = 0;
  for (const double error : errors) {
    squares += error * error;
    result.largest_kj_per_mol = std::max(result.largest_kj_per_mol, std::abs(error));
  }
  if (!errors.empty()) {
    result.rms_kj_per_mol = std::sqrt(squares / static_cast<double>(errors.size()));
  }
  return result;
}

TableError MoveSample::error(const LatticeValues& table, std::span<const double> potential) const {
  const std::vector<double> wrong = of_molecules([&](std::size_t position) {
    const Vector3& r = positions_[position];
    return lattice_value(&table.lattice, table.values.data(), r.x, r.y, r.z, 0) -
           potential[position];
  });
  std::vector<double> errors;
  for_moves([&](std::size_t from, std::size_t to, std::size_t m) {
    errors.push_back(wrong[to * molecules() + m] - wrong[from * molecules() + m]);
  });
  return of_errors(errors);
}

TableError MoveSample::response_error(const LatticeValues& table, std::span<const double> mean,
                                      std::span<const double> potentials) const {
  std::vector<double> errors(chosen() * kFollowers * molecules());
  std::size_t moves = 0;
  // |Y + d|^2 - |Y|^2 = d (2 Y + d), summed over the components: by the table, less without it.
  const auto add = [&](const std::vector<double>& y, double mean_of_component, double sign) {
    std::vector<double> sums;
    for (std::size_t i = 0; i < chosen(); ++i) {
      const auto here = std::span(y).subspan(i * molecules(), molecules());
      sums.push_back(std::accumulate(here.begin(), here.end(), -mean_of_component));
    }
    moves = 0;
    for_moves([&](std::size_t from, std::size_t to, std::size_t m) {
      const double change = y[to * molecules() + m] - y[from * molecules() + m];
      errors[moves++] -= sign * change * (sums[from] + change / 2);
    });
  };
  for (std::size_t k = 0; k < mean.size(); ++k) {
    const std::vector<double> by_table = of_molecules([&](std::size_t position) {
      const Vector3& r = positions_[position];
      return lattice_value(&table.lattice, table.values.data(), r.x, r.y, r.z, static_cast<int>(k));
    });
    const std::vector<double> direct = of_molecules(
        [&](std::size_t position) { return potentials[k * positions_.size() + position]; });
    add(by_table, mean[k], 1);
    add(direct, mean[k], -1);
  }
  return of_errors(std::span(errors).first(moves));
}

}  // namespace starpmc
