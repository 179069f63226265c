#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "io/folder_lock.hpp"
#include "kernels/base/error.hpp"

namespace starpmc {

/// Of the run that is to go on in a folder.
enum class RunState { unfinished, any };

/// A file that a run reads, or an earlier run's folder.
struct InputPath {
  std::string option;
  std::filesystem::path path;
};

/// With the remedy.
RunError cannot_create_output_folder(const std::filesystem::path& folder,
                                     const std::error_code& failure);

/// The folder a run writes to, locked against a second run for as long as the object lives.
///
/// Files of starpmc's own (see is_own_file()) from an earlier run, in the folder itself or in the
/// folders of its chains (chain-0, chain-1, ...), are an error, or, with `overwrite`, removed;
/// anything else in the folder is left alone, and a file that has the name of one of them but does
/// not begin as a run's does is an error (looks_like_a_runs()), and so is a trajectory.xtc or
/// qm-worker.log, which cannot be told from another program's, without a settings.cfg, and a folder
/// that has the name of such a file. Symbolic links among the own files and in place of a chain's
/// folder are removed, never followed.
class OutputFolder {
 public:
  /// @param folder    created with its parents if missing; may itself be a symbolic link
  /// @param overwrite the option output.overwrite
  /// @throws InputError if the folder holds an earlier run's files and `overwrite` is false, is in
  ///         use by a live run (overwrite or not), or is not a folder, or lies below a symbolic
  ///         link that leads nowhere; RunError if not writable
  OutputFolder(const std::filesystem::path& folder, bool overwrite);
  /// Opens and locks the folder of a run; changes nothing there.
  /// @throws InputError if the folder is missing, holds no run (no settings.cfg), holds a finished
  ///         one (summary.json) where it must not, or is in use by a live run; RunError if not
  ///         writable
  static OutputFolder resume(const std::filesystem::path& folder, RunState state);
  /// Throws what the constructor would for an earlier run's files, and changes nothing: for asking
  /// before long preparations.
  /// @param inputs of the run, none of which overwriting may remove
  static void check(const std::filesystem::path& folder, bool overwrite,
                    std::span<const InputPath> inputs = {});
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  /// Temporary files that a killed run has left.
  void remove_temporary_files() const;

  /// As the user wrote it.
  const std::filesystem::path& path() const { return path_; }
  /// Path of one of starpmc's own files in the folder.
  /// @throws std::logic_error for a name that is_own_file() does not know: it would survive
  ///         output.overwrite
  std::filesystem::path file(std::string_view name) const;
  /// chain-N
  static std::string chain_name(unsigned chain);
  /// Where the chains of a run lie: chain-0, chain-1 ..., or the run's own folder, which a single
  /// chain has whose number was given.
  static std::vector<std::filesystem::path> chain_folders_of(const std::filesystem::path& run);
  /// The folder chain-N of chain N in this one, created if missing.
  /// @throws RunError if it cannot be, or if something else, a symbolic link say, has its name
  std::filesystem::path chain_folder(unsigned chain) const;

  /// energies.csv, trajectory.h5md, system.pdb, final.gro, final.pdb, summary.json, run.log,
  /// settings.cfg, checkpoint.cbor, checkpoint.previous.cbor, report.html, report-NAME.png and
  /// .csv of the report, trajectory.xtc, qm-worker.log, grid-N.bin, grid-N-M.bin and their
  /// temporary files.
  static bool is_own_file(std::string_view name);

 private:
  explicit OutputFolder(const std::filesystem::path& folder) : path_(folder) {}
  OutputFolder(const std::filesystem::path& folder, RunState state);
  void clear(bool overwrite);
  void remove(const std::vector<std::filesystem::path>& own_files_below) const;
  void remove_empty_chain_folders() const;

  std::filesystem::path path_;
  std::optional<FolderLock> lock_;
};

/// Gives a file the name NAME.aside-N, N the first number that is free: out of a run's way, and no
/// longer one of its files.
/// @return the new path; empty where there is no such file
/// @throws RunError
std::filesystem::path set_aside(const std::filesystem::path& path);

/// Where one chain writes: a folder from OutputFolder::chain_folder(), or, for the only chain of a
/// run, OutputFolder::path().
class ChainFolder {
 public:
  explicit ChainFolder(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const { return path_; }
  /// As OutputFolder::file().
  std::filesystem::path file(std::string_view name) const;

 private:
  std::filesystem::path path_;
};

}  // namespace starpmc
