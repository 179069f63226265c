#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "system/geometry.hpp"

namespace starpmc {

/// Nuclei are never so near to each other; lengths in nanometre that should be in angstrom are, and
/// atoms that were written twice.
inline constexpr double kNearestNucleiAngstrom = 0.4;

/// Of a molecule for a QM program.
/// @param place of an atom in its file
/// @throws InputError naming two atoms that are nearer to each other
void require_apart(std::span<const Vector3> positions,
                   const std::function<std::string(std::size_t)>& place);

}  // namespace starpmc
