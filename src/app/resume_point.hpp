#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/input_fingerprint.hpp"

namespace starpmc {

/// The checkpoint that a chain's run goes on from; none: the chain had not made its first step.
/// Changes nothing.
/// @param folder   the chain's
/// @param warnings gets a line where the newest checkpoint is damaged and the one before is taken
/// @throws InputError naming the file and what to do where going on would lose what has been
///         computed, or make something else of it: no checkpoint can be read (read_checkpoint()),
///         there is none although steps have been made, or it belongs to another input
std::optional<nlohmann::json> find_resume_point(const std::filesystem::path& folder,
                                                const InputFingerprint& fingerprint,
                                                const Inputs& inputs,
                                                std::vector<std::string>& warnings);

}  // namespace starpmc
