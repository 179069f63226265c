#include "app/input_fingerprint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <vector>

#include "base/input_file.hpp"
#include "config/options.hpp"
#include "io/sha256.hpp"
#include "kernels/base/error.hpp"
#include "qm/density_grid.hpp"
#include "sampling/topology_buffers.hpp"

namespace starpmc {
namespace {

std::string digest_of_settings(Settings settings) {
  settings.system = {};
  settings.run = {};
  settings.output.folder.clear();
  settings.output.overwrite = false;
  settings.output.log_level.clear();
  settings.output.checkpoint_interval_seconds = 0;
  settings.output.trace = false;
  settings.sampling.chains = 0;
  settings.sampling.steps = 0;  // a run may be given more
  settings.qm.python.clear();
  settings.qm.time_limit_seconds = 0;
  settings.qm.workers.reset();
  settings.qm.threads = 0;
  settings.qm.device.clear();  // a density is a density: the SCF converges to its tolerance on each
  // Neither moves a solution that has converged, and more of them can help one that does not.
  settings.qm.max_iterations = 0;
  settings.qm.memory_mb = 0;
  settings.qm.grid_file.clear();
  settings.qm.reference.clear();          // the run has a copy of it
  settings.potential.parameters.clear();  // its values are among the topology's
  Sha256 hash;
  // An option that a later version has, at its default, makes no other run.
  hash.add(settings_off_default(settings));
  return hash.hexadecimal_digest();
}

std::string digest_of_file(const std::filesystem::path& path) {
  const std::string_view remedy = "the path of a grid saved by output.save-grid";
  std::ifstream file = open_input_file(path, remedy);
  checked_file_size(path, kMostGridFileBytes, remedy);
  Sha256 hash;
  std::vector<char> piece(std::size_t{1} << 16);
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    hash.add(std::string_view(piece.data(), static_cast<std::size_t>(file.gcount())));
  }
  if (!file.eof()) {
    throw InputError("qm.grid-file", std::string("cannot be read: ") + std::strerror(errno),
                     path.string(), remedy);
  }
  return hash.hexadecimal_digest();
}

std::string files_of(const std::string& part, const Settings& settings) {
  const Settings::SystemSection& system = settings.system;
  if (part == "density") return fmt::format("qm.grid-file {}", settings.qm.grid_file.string());
  if (part == "topology") {
    std::string files = fmt::format("system.topology {}", system.topology.string());
    if (!settings.potential.parameters.empty()) {
      files += fmt::format(" or potential.parameters {}", settings.potential.parameters.string());
    }
    return files;
  }
  if (part == "coordinates") {
    std::string files = fmt::format("system.coordinates {}", system.coordinates.string());
    for (const std::filesystem::path& file : system.chain_coordinates) {
      files += fmt::format(" or system.chain-coordinates {}", file.string());
    }
    if (!system.solute.empty()) {
      files += fmt::format(" or system.solute {}", system.solute.string());
    }
    return files;
  }
  return part == "settings" ? "settings.cfg" : part;
}

std::string digest_of(const TopologyBuffers& buffers) {
  Sha256 topology;
  topology.add(std::span<const double>(buffers.reals));
  topology.add(std::as_bytes(std::span<const int>(buffers.integers)));
  return topology.hexadecimal_digest();
}

}  // namespace

std::string topology_digest(const System& system, const Settings& settings) {
  return digest_of(make_topology_buffers(system, settings));
}

InputFingerprint input_fingerprint(const Inputs& inputs) {
  const System& system = inputs.system;
  const TopologyBuffers buffers = make_topology_buffers(system, inputs.settings);
  Sha256 coordinates;
  coordinates.add(std::span<const double>(buffers.solute));
  coordinates.add(std::span<const double>(buffers.interaction.box));
  for (std::uint32_t chain = 0; chain <= inputs.chain_starts.size(); ++chain) {
    const System begun = system_of_chain(inputs, chain);
    coordinates.add(std::span<const double>(make_lattice(begun, buffers.shape)));
  }
  if (system.solute) {
    for (const std::string& element : system.solute->elements) coordinates.add(element + " ");
  }
  InputFingerprint fingerprint{{"settings", digest_of_settings(inputs.settings)},
                               {"topology", digest_of(buffers)},
                               {"coordinates", coordinates.hexadecimal_digest()}};
  if (system.solute && inputs.settings.qm.engine == "frozen" &&
      !inputs.settings.qm.grid_file.empty()) {
    fingerprint["density"] = digest_of_file(inputs.settings.qm.grid_file);
  }
  return fingerprint;
}

std::string changed_files(const InputFingerprint& recorded, const InputFingerprint& found,
                          const Inputs& inputs) {
  std::vector<std::string> files;
  InputFingerprint parts = recorded;
  parts.insert(found.begin(), found.end());
  for (const auto& [part, digest] : parts) {
    const auto before = recorded.find(part);
    const auto now = found.find(part);
    if (before != recorded.end() && now != found.end() && before->second == now->second) continue;
    files.push_back(files_of(part, inputs.settings));
  }
  return fmt::format("{}", fmt::join(files, ", "));
}

}  // namespace starpmc
