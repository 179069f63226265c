#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <vector>

#include "system/system.hpp"

namespace starpmc {

/// What stays the same of the particles, in the order of particle_labels().
struct ParticleFacts {
  std::vector<std::int32_t> species;  ///< atomic number; 0: virtual site
  std::vector<double> charges;        ///< elementary charges
  std::vector<double> masses;         ///< g/mol
};
ParticleFacts particle_facts(const System& system);

/// What a trajectory.h5md says of the run and of its particles but for the frames: /h5md,
/// /parameters/molecule_types and the constant parts of /particles.
/// @param particles the group /particles/all
void write_trajectory_header(hid_t file, const System& system, const std::string& version);
void write_particle_facts(hid_t particles, const System& system);

/// Names and, of their sites, names and reference positions, as the header has them. The caller
/// holds hdf5::library_mutex().
/// @throws RunError where they cannot be read
std::vector<MoleculeType> read_molecule_types(hid_t file);

}  // namespace starpmc
