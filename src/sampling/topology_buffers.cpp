#include "sampling/topology_buffers.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/base/error.hpp"
#include "kernels/interaction.hpp"
#include "kernels/scalar/moves.hpp"
#include "potential/pair_potential.hpp"

namespace starpmc {
namespace {

/// Kernels count the coordinates of all molecules' sites, as many for each as the largest has.
void require_countable(const TopologyShape& shape) {
  constexpr double kMost = std::numeric_limits<std::int32_t>::max();
  if (3.0 * shape.sites * shape.padded_molecules < kMost) return;
  throw InputError(
      "system.topology", "too many sites: each molecule takes as much room as the largest",
      fmt::format("{} molecules, {} sites in the largest", shape.molecules, shape.sites),
      fmt::format("at most {:.0f} molecules of that size", kMost / (3.0 * shape.sites)));
}

}  // namespace

TopologyBuffers make_topology_buffers(const System& system, const Settings& settings) {
  TopologyBuffers buffers;
  PairPotential potential = make_pair_potential(system, settings);
  const int molecules = static_cast<int>(system.molecules.size());
  buffers.shape.molecule_types = static_cast<int>(system.molecule_types.size());
  buffers.shape.sites = static_cast<int>(system.max_sites());
  buffers.shape.site_types = static_cast<int>(potential.kinds.size());
  buffers.shape.pairs = potential.layout;
  buffers.shape.molecules = molecules;
  // A vector of lanes may start at any molecule: room for one more vector behind the last.
  buffers.shape.padded_molecules = (molecules + 15) / 16 * 16 + 16;
  require_countable(buffers.shape);
  const Vector3& edges = system.box.lengths;
  buffers.interaction =
      interaction_within({edges.x, edges.y, edges.z}, settings.interaction.coulomb_cutoff_angstrom,
                         settings.interaction.vdw_cutoff_angstrom);

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
          static_cast<int>(potential.kind(s.type, s.charge));
      buffers.reals.insert(buffers.reals.end(),
                           {s.reference.x, s.reference.y, s.reference.z, s.charge});
    }
  }
  buffers.shape.largest_radius = buffers.view().largest_radius();
  buffers.reals.insert(buffers.reals.end(), potential.pairs.begin(), potential.pairs.end());
  if (potential.has_functions()) {
    prepare(potential.functions);
    buffers.functions = std::make_shared<const Potential>(std::move(potential.functions));
  }

  if (system.solute) {
    const Solute& solute = *system.solute;
    buffers.nuclei = static_cast<int>(solute.atom_count());
    for (const auto& r : solute.positions) buffers.solute.push_back(r.x);
    for (const auto& r : solute.positions) buffers.solute.push_back(r.y);
    for (const auto& r : solute.positions) buffers.solute.push_back(r.z);
    for (const int z : solute.atomic_numbers) buffers.solute.push_back(z);
    for (const std::size_t type : solute.types) {
      buffers.solute.push_back(static_cast<double>(potential.kind(type, 0)));
    }
  }
  if (buffers.solute.empty()) buffers.solute.push_back(0);  // no buffer of a task is empty
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
