#pragma once

#include <filesystem>
#include <string_view>

namespace starpmc {

/// The folder a run writes to, locked against a second run for as long as the object lives.
///
/// Files of starpmc's own (see is_own_file()) from an earlier run are an error, or, with
/// `overwrite`, removed; anything else in the folder is left alone. Symbolic links among the own
/// files are removed, never followed.
class OutputFolder {
 public:
  /// @param folder    created with its parents if missing; may itself be a symbolic link
  /// @param overwrite the option output.overwrite
  /// @throws InputError if the folder holds an earlier run's files and `overwrite` is false, is in
  ///         use by a live run (overwrite or not), or is not a folder; RunError if not writable
  OutputFolder(const std::filesystem::path& folder, bool overwrite);
  /// Throws what the constructor would for an earlier run's files, and changes nothing: for asking
  /// before long preparations.
  static void check(const std::filesystem::path& folder, bool overwrite);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  /// As the user wrote it.
  const std::filesystem::path& path() const { return path_; }
  /// Path of one of starpmc's own files in the folder.
  /// @throws std::logic_error for a name that is_own_file() does not know: it would survive
  ///         output.overwrite
  std::filesystem::path file(std::string_view name) const;

  /// energies.csv, trajectory.h5, system.pdb, summary.json, run.log, settings.cfg, checkpoint.h5,
  /// report.html, qm-worker.log, grid-N.bin, grid-N-M.bin and their temporary files.
  static bool is_own_file(std::string_view name);

 private:
  void lock();
  void clear(bool overwrite);
  void release() noexcept;

  std::filesystem::path path_;
  int folder_descriptor_ = -1;
  int lock_descriptor_ = -1;
};

}  // namespace starpmc
