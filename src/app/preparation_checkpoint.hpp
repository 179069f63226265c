#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "app/inputs.hpp"
#include "qm/engine.hpp"

namespace starpmc {

/// Where a reference's preparation goes on from: the end of one of its rounds.
struct PreparationState {
  int round = 0;
  bool settled = false;              ///< it was the last one
  double seconds = 0;                ///< that all rounds took
  std::uint64_t configurations = 0;  ///< of the round
  std::vector<double> worker_state;  ///< QmEngine::state() before the round's SCF
  Embedding mean;                    ///< of the round's configurations
  nlohmann::json chains;             ///< PreparationChains::state()
};

/// reference-preparation.cbor of a run's folder: there as long as the reference is being made. Its
/// content is that of a checkpoint (io/checkpoint.hpp).
class PreparationCheckpoint {
 public:
  /// @param inputs whose reference it is; a state of others is not gone on from
  explicit PreparationCheckpoint(const Inputs& inputs);

  /// @throws RunError naming the file and the system's reason (disk full)
  void write(const PreparationState& state) const;
  /// Empty where there is none that can be gone on from; why, where there is a file, is a warning
  /// in the log.
  std::optional<PreparationState> read() const;

  const std::filesystem::path& path() const { return path_; }
  static std::filesystem::path path_in(const std::filesystem::path& folder);

 private:
  std::filesystem::path path_;
  nlohmann::json identity_;
};

}  // namespace starpmc
