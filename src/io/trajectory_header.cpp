#include "io/trajectory_header.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

#include "io/hdf5_handle.hpp"
#include "io/hdf5_reading.hpp"
#include "io/site_order.hpp"
#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

using hdf5::Handle;

constexpr std::array<int, 2> h5md_version = {1, 1};

void write_program(hid_t file, const std::string& version) {
  const Handle h5md = hdf5::create_group(file, "h5md");
  hdf5::write_attribute(h5md.get(), "version", h5md_version);
  const Handle author = hdf5::create_group(h5md.get(), "author");
  const char* const user = std::getenv("USER");
  hdf5::write_attribute(author.get(), "name", user == nullptr ? "unknown" : user);
  const Handle creator = hdf5::create_group(h5md.get(), "creator");
  hdf5::write_attribute(creator.get(), "name", "starpmc");
  hdf5::write_attribute(creator.get(), "version", version);
}

/// The exact positions of the QM molecule.
void write_solute(hid_t parameters, const System& system) {
  if (!system.solute) return;
  const Solute& solute = *system.solute;
  const Handle group = hdf5::create_group(parameters, "solute");
  hdf5::write_attribute(group.get(), "name", solute.name);
  std::vector<std::string> names;
  std::vector<double> positions;
  for (std::size_t i = 0; i < solute.atom_count(); ++i) {
    names.push_back(solute.elements[i] + std::to_string(i + 1));
    const Vector3& r = solute.positions[i];
    positions.insert(positions.end(), {r.x, r.y, r.z});
  }
  const std::array<hsize_t, 2> shape = {solute.atom_count(), 3};
  hdf5::write_dataset(group.get(), "site_names", names);
  const Handle position = hdf5::write_dataset(group.get(), "position", positions, shape);
  hdf5::write_attribute(position.get(), "unit", "Angstrom");
}

/// Reference geometries: with centres and orientations they give every site to the last bit.
void write_molecule_types(hid_t file, const System& system) {
  const Handle parameters = hdf5::create_group(file, "parameters");
  hdf5::write_attribute(parameters.get(), "title", system.title);
  write_solute(parameters.get(), system);
  const Handle types = hdf5::create_group(parameters.get(), "molecule_types");
  for (std::size_t i = 0; i < system.molecule_types.size(); ++i) {
    const MoleculeType& type = system.molecule_types[i];
    const Handle group = hdf5::create_group(types.get(), std::to_string(i));
    hdf5::write_attribute(group.get(), "name", type.name);
    if (type.sites.empty()) continue;
    std::vector<std::string> names;
    std::vector<double> charges;
    std::vector<double> reference;
    for (const Site& site : type.sites) {
      names.push_back(site.name);
      charges.push_back(site.charge);
      reference.insert(reference.end(), {site.reference.x, site.reference.y, site.reference.z});
    }
    const std::array<hsize_t, 2> shape = {type.sites.size(), 3};
    hdf5::write_dataset(group.get(), "site_names", names);
    hdf5::write_dataset(group.get(), "charge", charges, std::span(shape).first(1));
    const Handle position =
        hdf5::write_dataset(group.get(), "reference_position", reference, shape);
    hdf5::write_attribute(position.get(), "unit", "Angstrom");
  }
}

}  // namespace

void write_trajectory_header(hid_t file, const System& system, const std::string& version) {
  write_program(file, version);
  write_molecule_types(file, system);
}

std::vector<MoleculeType> read_molecule_types(hid_t file) {
  const std::string folder = "parameters/molecule_types/";
  std::vector<MoleculeType> types;
  std::size_t sites = 0;
  for (std::size_t i = 0; hdf5::exists(file, folder + std::to_string(i)); ++i) {
    const std::string group = folder + std::to_string(i);
    MoleculeType type{hdf5::text_attribute(file, group, "name"), {}};
    if (hdf5::exists(file, group + "/site_names")) {  // written only where there are sites
      const auto names = hdf5::texts(file, group + "/site_names");
      // Many types may be one and the same, linked to under many names.
      sites += names.size();
      if (sites > hdf5::kMostAtoms)
        throw RunError(fmt::format("{} have more than the {} sites that are allowed", folder,
                                   hdf5::kMostAtoms));
      const auto reference = hdf5::points(file, group + "/reference_position", names.size());
      for (std::size_t s = 0; s < names.size(); ++s)
        type.sites.push_back({names[s], "", 0, 0, 0, reference[s]});
    }
    types.push_back(std::move(type));
  }
  return types;
}

ParticleFacts particle_facts(const System& system) {
  ParticleFacts facts;
  for (const ParticleLabel& label : particle_labels(system)) {
    facts.species.push_back(label.atomic_number);
    facts.charges.push_back(label.charge);
    facts.masses.push_back(label.mass);
  }
  return facts;
}

void write_particle_facts(hid_t particles, const System& system) {
  const auto [species, charges, masses] = particle_facts(system);
  const std::array<hsize_t, 1> shape = {species.size()};
  const Handle species_data = hdf5::write_dataset(particles, "species", species, shape);
  hdf5::write_attribute(species_data.get(), "meaning", "atomic number; 0: virtual site");
  const Handle charge_data = hdf5::write_dataset(particles, "charge", charges, shape);
  hdf5::write_attribute(charge_data.get(), "unit", "e");
  hdf5::write_attribute(charge_data.get(), "note",
                        "0 for the atoms of the QM molecule, whose charge is its density");
  const Handle mass_data = hdf5::write_dataset(particles, "mass", masses, shape);
  hdf5::write_attribute(mass_data.get(), "unit", "g mol-1");
}

}  // namespace starpmc
