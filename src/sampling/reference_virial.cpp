#include "sampling/reference_virial.hpp"

#include <cmath>
#include <vector>

#include "kernels/scalar/moves.hpp"
#include "kernels/whole_units.hpp"

namespace starpmc {
namespace {

struct ChargedSite {
  Vector3 position;
  Vector3 arm;  ///< from the molecule's centre
  double charge;
};

std::vector<ChargedSite> charged_sites(const Topology& topology, std::span<const double> lattice,
                                       int molecule) {
  double pose[POSE_FIELDS];
  for (int field = 0; field < POSE_FIELDS; ++field) {
    pose[field] =
        lattice[static_cast<std::size_t>(field * topology.shape.padded_molecules + molecule)];
  }
  std::vector<ChargedSite> sites;
  const int type = topology.type_of(molecule);
  for (int i = 0; i < topology.site_count(type); ++i) {
    const double charge = topology.site(type, i)[3];
    if (charge == 0) continue;
    double arm[3];
    scalar::rotate_site(pose, topology.site(type, i), arm);
    sites.push_back({{pose[POSE_X] + arm[0], pose[POSE_Y] + arm[1], pose[POSE_Z] + arm[2]},
                     {arm[0], arm[1], arm[2]},
                     charge});
  }
  return sites;
}

/// A lattice and its values, on the host.
struct Table {
  const PotentialLattice& lattice;
  std::span<const float> values;

  /// By the image that the table takes of the site.
  Vector3 between_centres(const ChargedSite& site, const Vector3& solute_centre) const {
    const double position[3] = {site.position.x, site.position.y, site.position.z};
    double d[3];
    for (int k = 0; k < 3; ++k) {
      const double whole = position[k] - lattice.centre[k];
      d[k] = position[k] - lattice.box[k] * std::rint(whole * lattice.inverse_box[k]);
    }
    return Vector3{d[0], d[1], d[2]} - site.arm - solute_centre;
  }
  double value(const Vector3& r) const {
    return lattice_value(&lattice, values.data(), r.x, r.y, r.z, 0);
  }
  Vector3 gradient(const Vector3& r, int component) const {
    double found[3];
    lattice_gradient(&lattice, values.data(), r.x, r.y, r.z, component, found);
    return {found[0], found[1], found[2]};
  }
};

}  // namespace

double polarisation_energy(std::span<const std::int64_t> total) {
  std::uint64_t square = 0;
  for (const std::int64_t y : total) square += static_cast<std::uint64_t>(y * y);
  return -static_cast<double>(square) / (2 * STARPMC_RESPONSE_ENERGY_UNITS);
}

VirialTerms reference_virial(const ReferenceTables& tables, const Topology& topology,
                             std::span<const double> lattice, std::span<const std::int64_t> total,
                             const Vector3& solute_centre) {
  const HostAccess<float> potential_values(tables.potential(), STARPU_R);
  const Table potential{tables.lattices().potential, potential_values.data()};
  const Table response{tables.lattices().response,
                       total.empty() ? std::span<const float>() : tables.response_values()};
  VirialTerms terms;
  for (int molecule = 0; molecule < topology.shape.molecules; ++molecule) {
    double energy = 0;
    for (const ChargedSite& site : charged_sites(topology, lattice, molecule)) {
      energy += site.charge * potential.value(site.position);
      terms.virials.qmmm_grid -= site.charge * dot(potential.gradient(site.position, 0),
                                                   potential.between_centres(site, solute_centre));
      if (total.empty()) continue;
      const Vector3 apart = response.between_centres(site, solute_centre);
      for (std::size_t k = 0; k < total.size(); ++k) {
        if (total[k] == 0) continue;  // of the padding, too
        const double y = static_cast<double>(total[k]) / STARPMC_RESPONSE_UNITS;
        terms.virials.qmmm_polarisation +=
            y * (site.charge * dot(response.gradient(site.position, static_cast<int>(k)), apart));
      }
    }
    terms.energies.qmmm_grid += whole_units(energy, kGridUnit);
  }
  terms.energies.qmmm_polarisation = total.empty() ? 0 : polarisation_energy(total);
  return terms;
}

}  // namespace starpmc
