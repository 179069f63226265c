#include "potential/system_error.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace starpmc {
namespace {

/// Kind of a site (PairPotential::kinds), charge -> how many there are.
std::map<std::pair<std::size_t, double>, double> sites_of(const PairPotential& potential,
                                                          const System& system) {
  std::vector<double> molecules(system.molecule_types.size());
  for (const Molecule& molecule : system.molecules) ++molecules[molecule.type];
  std::map<std::pair<std::size_t, double>, double> sites;
  for (std::size_t type = 0; type < molecules.size(); ++type) {
    for (const Site& site : system.molecule_types[type].sites) {
      sites[{potential.kind(site.type, site.charge), site.charge}] += molecules[type];
    }
  }
  return sites;
}

}  // namespace

double mm_error_in_single(const PairPotential& potential, const System& system,
                          const Settings& settings) {
  const auto sites = sites_of(potential, system);
  const auto stride = static_cast<std::size_t>(4 + potential.layout.more);
  std::map<std::tuple<std::size_t, std::size_t, double>, MmPair> pairs;
  for (auto a = sites.begin(); a != sites.end(); ++a) {
    const auto& [kind_a, charge_a] = a->first;
    for (auto b = a; b != sites.end(); ++b) {
      const auto& [kind_b, charge_b] = b->first;
      MmPair& pair = pairs[{kind_a, kind_b, charge_a * charge_b}];
      pair.count += a->second * b->second * (a == b ? 1 : 2);
      pair.charges = STARPMC_COULOMB_CONSTANT * charge_a * charge_b;
      pair.coefficients = &potential.pairs[(kind_a * potential.kinds.size() + kind_b) * stride];
    }
  }
  std::vector<MmPair> all;
  for (const auto& [key, pair] : pairs) all.push_back(pair);
  double radius = 0;
  for (const MoleculeType& type : system.molecule_types) {
    radius = std::max(radius, type.radius_angstrom());
  }
  return mm_error_in_single(potential.functions, all, potential.layout.mm_function,
                            {radius, settings.interaction.coulomb_cutoff_angstrom,
                             settings.interaction.vdw_cutoff_angstrom, system.box.volume(),
                             static_cast<double>(system.molecules.size())});
}

}  // namespace starpmc
