#pragma once

#include <cstddef>
#include <vector>

#include "app/inputs.hpp"
#include "system/system.hpp"

namespace starpmc {

/// The configuration's system with each of profile.topologies; none where that is empty.
/// @param images so many there have to be
/// @throws InputError where their number is another, or where one of them differs from
///         system.topology in more than the Lennard-Jones parameters of the QM molecule
std::vector<System> read_profile_topologies(const Inputs& inputs, std::size_t images);

}  // namespace starpmc
