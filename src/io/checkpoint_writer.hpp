#pragma once

#include <filesystem>
#include <future>
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace starpmc {

/// Writes a folder's checkpoints beside the work that goes on: a chain need not wait for the disk.
class CheckpointWriter {
 public:
  explicit CheckpointWriter(std::filesystem::path folder) : folder_(std::move(folder)) {}
  /// Waits for what is being written; an error is lost, so call wait() before.
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  /// Starts to write one; the one before is waited for.
  /// @param files what the checkpoint speaks of: it is written once they are on the disk
  /// @throws RunError why the one before could not be written
  void write(nlohmann::json content, std::vector<std::filesystem::path> files);
  /// Returns when the last one is on the disk.
  /// @throws RunError naming the file and the system's reason; the ones before are intact
  void wait();
  /// Whether there is one that has been waited for.
  bool any() const { return any_; }

 private:
  std::filesystem::path folder_;
  std::future<void> writing_;
  bool any_ = false;
};

}  // namespace starpmc
