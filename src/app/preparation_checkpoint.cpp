#include "app/preparation_checkpoint.hpp"

#include <array>
#include <span>
#include <string>

#include "app/input_fingerprint.hpp"
#include "io/binary_json.hpp"
#include "io/checkpoint.hpp"
#include "io/sha256.hpp"
#include "kernels/base/logging.hpp"

namespace starpmc {
namespace {

/// Where its chains begin, where that is not where the run's do.
std::string digest_of_starts(const Inputs& inputs) {
  Sha256 hash;
  for (const std::vector<Molecule>& molecules : inputs.reference_starts) {
    for (const Molecule& molecule : molecules) {
      const Vector3& c = molecule.centre;
      const Quaternion& q = molecule.orientation;
      const std::array values{c.x, c.y, c.z, q.w, q.x, q.y, q.z};
      hash.add(std::span<const double>(values));
    }
  }
  return hash.hexadecimal_digest();
}

PreparationState from_json(const nlohmann::json& content) {
  PreparationState state;
  state.round = content.at("round");
  state.settled = content.at("settled");
  state.seconds = content.at("seconds");
  state.configurations = content.at("configurations");
  state.worker_state = vector_from_binary<double>(content.at("worker_state"));
  state.mean.numbers = vector_from_binary<double>(content.at("mean"));
  state.mean.largest_potential = content.at("largest_potential");
  state.chains = content.at("chains");
  return state;
}

}  // namespace

PreparationCheckpoint::PreparationCheckpoint(const Inputs& inputs)
    : path_(path_in(inputs.settings.output.folder)),
      identity_{{"fingerprint", input_fingerprint(inputs)}, {"starts", digest_of_starts(inputs)}} {}

std::filesystem::path PreparationCheckpoint::path_in(const std::filesystem::path& folder) {
  return folder / "reference-preparation.cbor";
}

void PreparationCheckpoint::write(const PreparationState& state) const {
  write_checkpoint_file(path_, {{"identity", identity_},
                                {"round", state.round},
                                {"settled", state.settled},
                                {"seconds", state.seconds},
                                {"configurations", state.configurations},
                                {"worker_state", to_binary(state.worker_state)},
                                {"mean", to_binary(state.mean.numbers)},
                                {"largest_potential", state.mean.largest_potential},
                                {"chains", state.chains}});
}

std::optional<PreparationState> PreparationCheckpoint::read() const {
  std::string reason;
  const std::optional<nlohmann::json> content = read_checkpoint_file(path_, reason);
  if (!content && reason.empty()) return std::nullopt;
  if (content) {
    try {
      if (content->at("identity") == identity_) return from_json(*content);
      reason = "it is of other settings or coordinates";
    } catch (const nlohmann::json::exception& error) {
      reason = std::string("it lacks something: ") + error.what();
    }
  }
  spdlog::warn("{}: cannot be gone on from, the reference is made from the start: {}",
               path_.string(), reason);
  return std::nullopt;
}

}  // namespace starpmc
