#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/checked_file.hpp"
#include "scoring/pose_scorer.hpp"

namespace starpmc {

/// A pose and its number, from 1.
struct ScoredPose {
  std::uint64_t number = 0;
  PoseEnergy energy;
};

/// The k poses of least total energy; of equal ones the first.
class BestPoses {
 public:
  explicit BestPoses(std::size_t most) : most_(most) {}
  void add(const ScoredPose& pose);
  /// Best first.
  std::vector<ScoredPose> sorted() const;

 private:
  std::size_t most_;
  std::vector<ScoredPose> heap_;  ///< the worst in front
};

/// The table of all poses: a line of names, then one line per pose, numbers as the shortest
/// decimals that read back to the same bits. Under a temporary name until commit(); without that
/// nothing remains.
class PoseTable {
 public:
  /// @param vdw whether there is a column for it
  /// @throws RunError if the file cannot be made
  PoseTable(const std::filesystem::path& path, bool vdw);
  ~PoseTable();
  PoseTable(const PoseTable&) = delete;
  PoseTable& operator=(const PoseTable&) = delete;

  /// @throws RunError when the disk is full
  void append(const ScoredPose& pose);
  /// After the last pose.
  /// @throws RunError when the disk is full
  void complete();
  /// Gives what is complete its name.
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::optional<CheckedFile> file_;
  bool vdw_;
  std::string line_;
};

/// "coulomb   vdw   total   closest" of some poses, aligned.
std::string poses_text(const std::vector<ScoredPose>& poses, bool vdw);

}  // namespace starpmc
