#include "app/resume_point.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>

#include "app/run_output.hpp"
#include "io/checkpoint.hpp"
#include "io/continued_file.hpp"
#include "io/trajectory_reader.hpp"
#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

/// Whether a table of energies has a line of a step beyond the start.
bool has_steps(const std::filesystem::path& table) {
  std::ifstream file(table);
  for (std::string line; std::getline(file, line);) {
    std::uint64_t step = 0;
    std::from_chars(line.data(), line.data() + line.size(), step);
    if (step > 0) return true;
  }
  return false;
}

/// Whether a trajectory has a frame after the first; false where it cannot be read.
bool has_frames(const std::filesystem::path& path, const System& system) {
  const std::lock_guard lock(hdf5::library_mutex());
  try {
    return TrajectoryReader(path, system).frame_count() > 1;
  } catch (const InputError&) {
    return false;
  }
}

/// A chain writes its first checkpoint before its first step, so steps without one mean that it was
/// lost.
void require_no_steps(const ChainFolder& folder, const System& system) {
  const std::filesystem::path table = folder.file("energies.csv");
  const std::filesystem::path trajectory = folder.file("trajectory.h5md");
  const bool table_exists = std::filesystem::exists(table);
  // The table is made first: a trajectory alone has lost it.
  const bool in_table = table_exists && has_steps(table);
  const bool in_trajectory =
      std::filesystem::exists(trajectory) && (!table_exists || has_frames(trajectory, system));
  if (!in_table && !in_trajectory) return;
  throw InputError((in_table ? table : trajectory).string(),
                   fmt::format("holds results, but {} is not there to go on from",
                               checkpoint_path(folder.path()).string()),
                   "", how_to_put_right("the checkpoint"));
}

void require_same_chain(const nlohmann::json& checkpoint, const ResumedChain& chain,
                        const std::string& file) {
  const auto recorded = checkpoint.at("chain_number").get<unsigned>();
  if (recorded == chain.number) return;
  throw InputError(
      file,
      fmt::format("the checkpoint is not that of chain {}, whose folder it is in", chain.number),
      fmt::format("chain {}", recorded),
      "give the folders of the chains the names that they had (chain-N: chain N), or " +
          how_to_put_right("the checkpoint of this chain"));
}

void require_no_fewer_steps(const nlohmann::json& checkpoint, std::uint64_t steps,
                            const std::string& file) {
  const auto recorded = checkpoint.at("steps").get<std::uint64_t>();
  if (recorded <= steps) return;
  throw InputError(
      file,
      fmt::format("the run was told to make {} steps of production, sampling.steps is "
                  "less",
                  recorded),
      std::to_string(steps),
      fmt::format("a run can be given more steps, not fewer: --steps {} or more", recorded));
}

[[noreturn]] void refuse_incomplete(const std::string& file,
                                    const nlohmann::json::exception& error) {
  throw InputError(file, fmt::format("the checkpoint lacks something: {}", error.what()), "",
                   how_to_put_right("a whole one"));
}

}  // namespace

std::optional<nlohmann::json> find_resume_point(const ResumedChain& chain,
                                                const InputFingerprint& fingerprint,
                                                const Inputs& inputs,
                                                std::vector<std::string>& warnings) {
  const std::filesystem::path& folder = chain.folder.path();
  std::optional<nlohmann::json> checkpoint = read_checkpoint(folder, warnings);
  if (!checkpoint) {
    require_no_steps(chain.folder, inputs.system);
    return std::nullopt;
  }
  const std::string file = checkpoint_path(folder).string();
  try {
    const auto recorded = checkpoint->at("fingerprint").get<InputFingerprint>();
    const std::string changed = changed_files(recorded, fingerprint, inputs);
    if (!changed.empty()) {
      throw InputError(file, "the input has changed since the run was begun: " + changed,
                       "system " + checkpoint->at("title").get<std::string>(),
                       "put what is named here back as it was, or begin a new run in another "
                       "folder");
    }
    require_same_chain(*checkpoint, chain, file);
    require_no_fewer_steps(*checkpoint, inputs.settings.sampling.steps, file);
    return checkpoint;
  } catch (const nlohmann::json::exception& error) {
    refuse_incomplete(file, error);
  }
}

void check_resume_point(const ResumedChain& chain, const InputFingerprint& fingerprint,
                        const Inputs& inputs) {
  std::vector<std::string> told_by_the_chain;
  const auto checkpoint = find_resume_point(chain, fingerprint, inputs, told_by_the_chain);
  if (!checkpoint) return;
  try {
    RunOutput::check_files(chain.folder, inputs.system, checkpoint->at("output"));
  } catch (const nlohmann::json::exception& error) {
    refuse_incomplete(checkpoint_path(chain.folder.path()).string(), error);
  }
}

std::vector<std::string> set_aside_results(const ChainFolder& folder) {
  std::vector<std::string> lines;
  for (const char* name : {"energies.csv", "trajectory.h5md"}) {
    const std::filesystem::path path = folder.file(name);
    const std::filesystem::path aside = set_aside(path);
    if (aside.empty()) continue;
    lines.push_back(
        fmt::format("{}: of a run without a checkpoint, before its first step: is now {}",
                    path.string(), aside.filename().string()));
  }
  return lines;
}

}  // namespace starpmc
