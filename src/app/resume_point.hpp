#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/input_fingerprint.hpp"
#include "io/output_folder.hpp"

namespace starpmc {

/// A chain that is to go on.
struct ResumedChain {
  unsigned number;
  ChainFolder folder;
};

/// The checkpoint that a chain's run goes on from; none: the chain had not made its first step.
/// Changes nothing.
/// @param warnings gets a line where the newest checkpoint is damaged and the one before is taken
/// @throws InputError naming the file and what to do where going on would lose what has been
///         computed, or make something else of it: no checkpoint can be read (read_checkpoint()),
///         there is none although steps have been made, it belongs to another input or to
///         another chain, or the run was told to make more steps
std::optional<nlohmann::json> find_resume_point(const ResumedChain& chain,
                                                const InputFingerprint& fingerprint,
                                                const Inputs& inputs,
                                                std::vector<std::string>& warnings);

/// Throws what going on with a chain would, before anything is started or written.
/// @throws InputError as find_resume_point() and RunOutput::check_files()
void check_resume_point(const ResumedChain& chain, const InputFingerprint& fingerprint,
                        const Inputs& inputs);

/// Gives what a chain without a checkpoint has left other names (energies.csv.aside-1): there are
/// no steps in it, but nothing is ever deleted.
/// @return a line for the log for each file
std::vector<std::string> set_aside_results(const ChainFolder& folder);

}  // namespace starpmc
