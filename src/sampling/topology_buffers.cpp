#include "sampling/topology_buffers.hpp"

#include <cmath>

#include "kernels/scalar/moves.hpp"

namespace starpmc {
namespace {

/// c12, c6, shift, slope of V = c12/r^12 - c6/r^6 + shift + slope r.
void append_pair(const LennardJones& pair, double cutoff, VdwModifier modifier,
                 std::vector<double>& reals) {
  const double inverse6 = 1 / std::pow(cutoff, 6);
  const double energy = (pair.c12 * inverse6 - pair.c6) * inverse6;
  const double derivative = (-12 * pair.c12 * inverse6 + 6 * pair.c6) * inverse6 / cutoff;
  double shift = 0;
  double slope = 0;
  if (modifier == VdwModifier::potential_shift) shift = -energy;
  if (modifier == VdwModifier::force_shift) {
    slope = -derivative;
    shift = -energy + derivative * cutoff;
  }
  reals.insert(reals.end(), {pair.c12, pair.c6, shift, slope});
}

}  // namespace

TopologyBuffers make_topology_buffers(const System& system,
                                      const Settings::InteractionSection& settings) {
  TopologyBuffers buffers;
  const int molecules = static_cast<int>(system.molecules.size());
  buffers.shape.molecule_types = static_cast<int>(system.molecule_types.size());
  buffers.shape.sites = static_cast<int>(system.max_sites());
  buffers.shape.site_types = static_cast<int>(system.force_field.type_count());
  buffers.shape.molecules = molecules;
  // A vector of lanes may start at any molecule: room for one more vector behind the last.
  buffers.shape.padded_molecules = (molecules + 15) / 16 * 16 + 16;
  buffers.interaction = {{system.box.lengths.x, system.box.lengths.y, system.box.lengths.z},
                         settings.coulomb_cutoff_angstrom,
                         settings.vdw_cutoff_angstrom};

  const TopologyShape& shape = buffers.shape;
  buffers.integers.assign(static_cast<std::size_t>(topology_integers_size(shape)), 0);
  for (std::size_t m = 0; m < system.molecules.size(); ++m) {
    buffers.integers[m] = static_cast<int>(system.molecules[m].type);
  }
  for (int type = 0; type < shape.molecule_types; ++type) {
    const auto& sites = system.molecule_types[static_cast<std::size_t>(type)].sites;
    buffers.integers[static_cast<std::size_t>(topology_site_count(shape, type))] =
        static_cast<int>(sites.size());
    for (int site = 0; site < shape.sites; ++site) {
      if (static_cast<std::size_t>(site) >= sites.size()) {
        buffers.reals.insert(buffers.reals.end(), {0.0, 0.0, 0.0, 0.0});
        continue;
      }
      const Site& s = sites[static_cast<std::size_t>(site)];
      buffers.integers[static_cast<std::size_t>(topology_site_type(shape, type, site))] =
          static_cast<int>(s.type);
      buffers.reals.insert(buffers.reals.end(),
                           {s.reference.x, s.reference.y, s.reference.z, s.charge});
    }
  }
  buffers.shape.largest_radius = buffers.view().largest_radius();
  for (const LennardJones& pair : system.force_field.pairs) {
    append_pair(pair, settings.vdw_cutoff_angstrom, settings.vdw_modifier, buffers.reals);
  }

  if (system.solute) {
    const Solute& solute = *system.solute;
    buffers.nuclei = static_cast<int>(solute.atom_count());
    for (const auto& r : solute.positions) buffers.solute.push_back(r.x);
    for (const auto& r : solute.positions) buffers.solute.push_back(r.y);
    for (const auto& r : solute.positions) buffers.solute.push_back(r.z);
    for (const int z : solute.atomic_numbers) buffers.solute.push_back(z);
    for (const std::size_t t : solute.types) buffers.solute.push_back(static_cast<double>(t));
  }
  return buffers;
}

std::vector<double> make_lattice(const System& system, const TopologyShape& shape) {
  const auto stride = static_cast<std::size_t>(shape.padded_molecules);
  std::vector<double> lattice(POSE_FIELDS * stride, 0.0);
  for (std::size_t m = 0; m < system.molecules.size(); ++m) {
    const Molecule& molecule = system.molecules[m];
    const Quaternion& q = molecule.orientation;
    const double norm = std::sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    const double pose[POSE_FIELDS] = {
        scalar::wrap_coordinate(molecule.centre.x, system.box.lengths.x),
        scalar::wrap_coordinate(molecule.centre.y, system.box.lengths.y),
        scalar::wrap_coordinate(molecule.centre.z, system.box.lengths.z),
        q.w / norm,
        q.x / norm,
        q.y / norm,
        q.z / norm};
    for (std::size_t field = 0; field < POSE_FIELDS; ++field) {
      lattice[field * stride + m] = pose[field];
    }
  }
  return lattice;
}

}  // namespace starpmc
