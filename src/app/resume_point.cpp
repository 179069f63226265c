#include "app/resume_point.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>

#include "io/checkpoint.hpp"
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

/// A chain writes its first checkpoint before its first step, so steps without one mean that it was
/// lost.
void require_no_steps(const std::filesystem::path& folder) {
  const std::filesystem::path table = folder / "energies.csv";
  const std::filesystem::path trajectory = folder / "trajectory.h5md";
  const bool table_exists = std::filesystem::exists(table);
  // The table is made first: a trajectory alone has lost it.
  if (table_exists ? !has_steps(table) : !std::filesystem::exists(trajectory)) return;
  throw InputError(
      (table_exists ? table : trajectory).string(),
      fmt::format("holds results, but {} is not there to go on from",
                  checkpoint_path(folder).string()),
      "",
      "put the checkpoint back, or begin the run anew in another folder: starpmc run settings.cfg "
      "--output.folder NAME; nothing has been changed");
}

}  // namespace

std::optional<nlohmann::json> find_resume_point(const std::filesystem::path& folder,
                                                const InputFingerprint& fingerprint,
                                                const Inputs& inputs,
                                                std::vector<std::string>& warnings) {
  std::optional<nlohmann::json> checkpoint = read_checkpoint(folder, warnings);
  if (!checkpoint) {
    require_no_steps(folder);
    return std::nullopt;
  }
  const std::string file = checkpoint_path(folder).string();
  try {
    const auto recorded = checkpoint->at("fingerprint").get<InputFingerprint>();
    const std::string changed = changed_files(recorded, fingerprint, inputs);
    if (changed.empty()) return checkpoint;
    throw InputError(file, "the input has changed since the run was begun: " + changed,
                     "system " + checkpoint->at("title").get<std::string>(),
                     "put what is named here back as it was, or begin a new run in another folder");
  } catch (const nlohmann::json::exception& error) {
    throw InputError(file, fmt::format("the checkpoint lacks something: {}", error.what()), "",
                     "begin the run anew in another folder: starpmc run settings.cfg "
                     "--output.folder NAME; nothing has been changed");
  }
}

}  // namespace starpmc
