#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/base/temporary_folder.hpp"

namespace starpmc {

/// What StarPU knows of this machine, between its folder and StarPU.
///
/// StarPU reads and writes models in place and ends the process where a file is damaged, a disk is
/// full or a folder cannot be written. So it gets a folder of its own, in memory if possible, with
/// copies of what is sound; what it has written there is looked through, too, and put into the
/// user's folder whole or not at all. Damaged files are set aside in damaged/ there. The
/// environment (STARPU_PERF_MODEL_DIR, STARPU_HOME) points to the copies as long as the object
/// lives.
class ModelStore {
 public:
  /// Where the user's models are: STARPU_PERF_MODEL_DIR, STARPU_HOME/.starpu/sampling, or the cache
  /// of this user; empty: nowhere.
  static std::filesystem::path user_folder();

  /// @param machine the name under which StarPU keeps models (STARPU_HOSTNAME)
  /// @param bundled models that come with the program, for what the user's folder lacks; empty:
  /// none
  /// @throws RunError where no folder can be made at all
  ModelStore(const std::string& machine, const std::filesystem::path& bundled);
  ~ModelStore();
  ModelStore(const ModelStore&) = delete;
  ModelStore& operator=(const ModelStore&) = delete;

  /// Puts new files into the user's folder: after StarPU's start those of the bus, after its end
  /// all.
  void save();

  /// Where they are kept: the user's folder, or the private one.
  const std::filesystem::path& place() const { return writable_ ? user_ : own_->path(); }
  /// Codelets with a model.
  std::size_t count() const;
  /// Damaged files.
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// What else there is to say, for the log.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  using Texts = std::map<std::filesystem::path, std::string>;

  /// Told of a damaged file of the folder: its name there, and what is wrong with it.
  using OnDamage = std::function<void(const std::filesystem::path&, const std::string&)>;

  Texts sound_files(const std::filesystem::path& folder, const OnDamage& on_damage) const;
  void read_models(const std::filesystem::path& folder, const OnDamage& on_damage,
                   Texts& texts) const;
  void read_bus(const std::filesystem::path& folder, const OnDamage& on_damage, Texts& texts) const;
  std::filesystem::path bus_file(const char* extension) const;
  void set_aside(const std::filesystem::path& name, const std::string& problem);
  void look_for_user_folder();
  void set_variable(const char* name, const std::string& value);

  std::string machine_;
  std::filesystem::path user_;  ///< empty: none
  bool writable_ = false;       ///< the user's folder
  std::unique_ptr<TemporaryFolder> own_;
  Texts saved_;  ///< what the user's folder has, or need not have
  std::vector<std::string> warnings_;
  std::vector<std::string> notes_;
  std::map<std::string, std::string> environment_before_;  ///< empty: not set
};

}  // namespace starpmc
