#pragma once

#include <functional>
#include <span>
#include <string>

#include "app/profile_images.hpp"
#include "mpi/ranks.hpp"

namespace starpmc {

/// Evaluates the frames of every image's production under the Hamiltonians that all images have
/// been sampled with, and writes their differences from its own: dhdl.xvg in the folders of its
/// chains, as GROMACS writes it. No SCF is needed. StarPU runs. The chains of an image are dealt to
/// the ranks, which all call it; rank 0 writes.
/// @param tell how far it has come, at rank 0: images done of so many
/// @param stop asked now and then; one rank's is enough
/// @return whether it came to its end
bool write_energy_differences(Ranks& ranks, const ProfileImages& images,
                              const std::function<void(std::size_t, std::size_t)>& tell,
                              const std::function<bool()>& stop);

/// What the estimates need to know of the images, as JSON: profile-input.json.
/// @param no_image_to_next for each image, why none was put between it and the next, or ""
void write_estimate_input(const ProfileImages& images,
                          std::span<const std::string> no_image_to_next = {});

}  // namespace starpmc
