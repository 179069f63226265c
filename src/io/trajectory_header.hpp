#pragma once

#include <hdf5.h>

#include <string>

#include "system/system.hpp"

namespace starpmc {

/// What a trajectory.h5md says of the run and of its particles but for the frames: /h5md,
/// /parameters/molecule_types and the constant parts of /particles.
/// @param particles the group /particles/all
void write_trajectory_header(hid_t file, const System& system, const std::string& version);
void write_particle_facts(hid_t particles, const System& system);

}  // namespace starpmc
