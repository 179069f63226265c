#include "bench/synthetic_reference.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

#include "potential/potential_lattice.hpp"
#include "sampling/topology_buffers.hpp"

namespace starpmc {
namespace {

/// Of the charges near the atoms, 1/angstrom: what is further than an angstrom away sees points.
constexpr double kGaussian = 1.5;
/// Of the response's charges: the energy of a water's response is some tenths of a kJ/mol.
constexpr double kResponseCharge = 0.002;

double sum_of_charges(const BenchSystem& bench) {
  double electrons = 0;
  for (const double charge : bench.grid.charge) electrons += charge;
  double nuclei = 0;
  for (const int number : bench.system.solute->atomic_numbers) nuclei += number;
  return nuclei + electrons;
}

/// [component][atom]
std::vector<double> response_charges(std::size_t atoms, int components) {
  std::vector<double> charges;
  for (int k = 0; k < components; ++k) {
    const auto first = static_cast<std::ptrdiff_t>(charges.size());
    double sum = 0;
    for (std::size_t atom = 0; atom < atoms; ++atom) {
      charges.push_back(kResponseCharge * std::cos(1.7 * (k + 1) * static_cast<double>(atom)));
      sum += charges.back();
    }
    std::for_each(charges.begin() + first, charges.end(),
                  [&](double& charge) { charge -= sum / static_cast<double>(atoms); });
  }
  return charges;
}

LatticeValues make_lattice(const BenchSystem& bench, const LatticeChoice& choice, int components,
                           std::span<const double> charges) {
  const std::vector<Vector3>& atoms = bench.system.solute->positions;
  const LatticePlan plan(choice, atoms, bench.system.box, components, "a synthetic reference");
  std::vector<double> near;
  for (std::size_t k = 0; k < static_cast<std::size_t>(components); ++k) {
    for (const Vector3& position : plan.near_positions()) {
      double potential = 0;
      for (std::size_t atom = 0; atom < atoms.size(); ++atom) {
        const double r = std::max(1e-6, norm(position - atoms[atom]));
        potential += charges[k * atoms.size() + atom] * std::erf(kGaussian * r) / r;
      }
      near.push_back(STARPMC_COULOMB_CONSTANT * potential);
    }
  }
  const TopologyBuffers topology = make_topology_buffers(bench.system, bench.settings);
  return make_potential_lattice(
      plan, {topology.interaction, topology.functions.get(), atoms, charges, near},
      std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace

std::shared_ptr<const ReferenceTables> synthetic_reference(const BenchSystem& bench,
                                                           int components) {
  const std::size_t atoms = bench.system.solute->atom_count();
  SoluteReference reference;
  const std::vector<double> charges(atoms, sum_of_charges(bench) / static_cast<double>(atoms));
  reference.potential = make_lattice(
      bench, LatticeChoice::for_potential(bench.settings.interaction.coulomb_cutoff_angstrom), 1,
      charges);
  reference.components = components;
  if (components > 0) {
    reference.response = make_lattice(bench, LatticeChoice::for_response(), components,
                                      response_charges(atoms, components));
    reference.mean_response.assign(static_cast<std::size_t>(components), 0);
  }
  return std::make_shared<ReferenceTables>(reference);
}

}  // namespace starpmc
