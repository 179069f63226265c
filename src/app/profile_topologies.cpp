#include "app/profile_topologies.hpp"

#include <fmt/format.h>

#include <string>

#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

/// Sites of all MM molecule types, one type after the other.
std::vector<const Site*> mm_sites(const System& system) {
  std::vector<const Site*> sites;
  for (const MoleculeType& type : system.molecule_types) {
    for (const Site& site : type.sites) sites.push_back(&site);
  }
  return sites;
}

std::vector<std::size_t> types_of(const System& system) {
  std::vector<std::size_t> types;
  for (const Molecule& molecule : system.molecules) types.push_back(molecule.type);
  return types;
}

bool same_site(const Site& a, const Site& b) {
  return a.name == b.name && a.charge == b.charge && a.mass == b.mass &&
         a.reference.x == b.reference.x && a.reference.y == b.reference.y &&
         a.reference.z == b.reference.z;
}

/// Whether the MM molecules are the same, and have the same energies with each other.
bool same_solvent(const System& a, const System& b) {
  const std::vector<const Site*> here = mm_sites(a);
  const std::vector<const Site*> there = mm_sites(b);
  if (here.size() != there.size() || types_of(a) != types_of(b)) return false;
  for (std::size_t i = 0; i < here.size(); ++i) {
    if (!same_site(*here[i], *there[i])) return false;
    for (std::size_t j = 0; j <= i; ++j) {
      const LennardJones& one = a.force_field.pair(here[i]->type, here[j]->type);
      const LennardJones& other = b.force_field.pair(there[i]->type, there[j]->type);
      if (one.c6 != other.c6 || one.c12 != other.c12) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<System> read_profile_topologies(const Inputs& inputs, std::size_t images) {
  const auto& files = inputs.settings.profile.topologies;
  if (!files.empty() && files.size() != images) {
    throw InputError(inputs.file + ": profile.topologies", "there is one for each image, or none",
                     fmt::format("{} for {} images", files.size(), images),
                     "name as many .top files as profile.path has images");
  }
  std::vector<System> systems;
  for (const std::filesystem::path& file : files) {
    systems.push_back(read_system_with(inputs.settings, file));
    if (same_solvent(systems.back(), inputs.system) &&
        systems.back().solute->elements == inputs.system.solute->elements)
      continue;
    throw InputError(
        file.string(),
        fmt::format("of image {}: differs from system.topology in more than the Lennard-Jones "
                    "parameters of the QM molecule",
                    systems.size()),
        inputs.settings.system.topology.string(),
        "make it a copy of system.topology in which only atom types of the QM molecule are others");
  }
  return systems;
}

}  // namespace starpmc
