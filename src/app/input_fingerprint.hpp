#pragma once

#include <map>
#include <string>

#include "app/inputs.hpp"

namespace starpmc {

/// SHA-256 of everything a trajectory depends on, by where it comes from: "settings" (but for those
/// that say where and how the run is computed), "topology", "coordinates" and, with the engine
/// frozen, "density" (the bytes of qm.grid-file). Files count by what they say, not by where they
/// lie.
using InputFingerprint = std::map<std::string, std::string>;

/// @throws InputError where qm.grid-file cannot be read
InputFingerprint input_fingerprint(const Inputs& inputs);

/// Its part "topology" alone.
std::string topology_digest(const System& system, const Settings& settings);

/// The files behind the parts in which `found` is another one than `recorded`, for people; empty:
/// there is no difference.
std::string changed_files(const InputFingerprint& recorded, const InputFingerprint& found,
                          const Inputs& inputs);

}  // namespace starpmc
