#include "runtime/model_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <starpu.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/checked_file.hpp"
#include "base/environment.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/file_descriptor.hpp"
#include "kernels/base/installation.hpp"
#include "kernels/base/logging.hpp"
#include "runtime/model_files.hpp"
#include "runtime/starpu_runtime.hpp"

namespace starpmc {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLargestFile = std::size_t{64} << 20;
/// More than all models of a machine take.
constexpr off_t kSpaceNeeded = off_t{8} << 20;

/// A regular file, whatever else of that name there may be; nothing where there is no such name.
std::optional<std::string> read_regular(const fs::path& path, std::string& problem) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (file.get() < 0) {
    if (errno != ENOENT && errno != ENOTDIR) problem = std::strerror(errno);
    return std::nullopt;
  }
  std::string text;
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    problem = "it is no regular file";
  } else if (static_cast<std::size_t>(status.st_size) > kLargestFile) {
    problem = "it is absurdly large";
  } else {
    text.resize(static_cast<std::size_t>(status.st_size));
    if (::pread(file.get(), text.data(), text.size(), 0) != status.st_size)
      problem = "it cannot be read";
  }
  return text;
}

/// Whether StarPU could write its files there: an exhausted disk makes folders, but no files.
bool has_space(const fs::path& folder) {
  const fs::path probe = folder / "space";
  const FileDescriptor file(::open(probe.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.get() < 0) return false;
  // EFBIG: files may not become that large, but each of StarPU's is small.
  const int failure = ::posix_fallocate(file.get(), 0, kSpaceNeeded);
  const bool enough = failure == 0 || failure == EFBIG;
  ::unlink(probe.c_str());
  return enough;
}

/// In memory where the system offers that: no disk that fills up meanwhile stops StarPU.
std::unique_ptr<TemporaryFolder> make_own_folder() {
  std::vector<fs::path> places{"/dev/shm"};
  std::error_code error;
  if (const fs::path temporary = fs::temp_directory_path(error); !error) {
    places.push_back(temporary);
  }
  for (const fs::path& place : places) {
    const fs::path start = place / "starpmc-starpu-";
    TemporaryFolder::remove_abandoned(start);
    try {
      auto folder = std::make_unique<TemporaryFolder>(start, "TMPDIR");
      if (has_space(folder->path())) return folder;
    } catch (const RunError&) {
      // The next place may do.
    }
  }
  throw RunError(
      "StarPU needs a few megabytes for its files while it runs, and neither /dev/shm nor the "
      "temporary folder has them: set TMPDIR to a folder that can be written");
}

/// codelets/45 and the like, with their numbers.
std::map<int, fs::path> model_folders(const fs::path& folder) {
  std::map<int, fs::path> found;
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder / "codelets", error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.empty() && name.size() < 4 &&
        std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c) != 0; })) {
      found[std::stoi(name)] = fs::path("codelets") / name;
    }
  }
  return found;
}

/// Whole or not at all for other processes. A power cut may leave it damaged, as anything may.
void put(const fs::path& path, const std::string& text) {
  const fs::path temporary = temporary_path(path);
  std::error_code ignored;
  fs::remove(temporary, ignored);
  try {
    CheckedFile file(temporary, CheckedFile::Mode::create_new);
    file.write(text);
    file.close();
    fs::rename(temporary, path);
  } catch (...) {
    fs::remove(temporary, ignored);
    throw;
  }
}

/// Whether files can be made there now: the error, or an empty text.
std::string reason_not_writable(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return error.message();
  return ::access(folder.c_str(), W_OK | X_OK) == 0 ? "" : std::strerror(errno);
}

}  // namespace

fs::path ModelStore::user_folder() {
  if (const std::string folder = environment("STARPU_PERF_MODEL_DIR"); !folder.empty()) {
    return folder;
  }
  if (const std::string home = environment("STARPU_HOME"); !home.empty()) {
    return fs::path(home) / ".starpu/sampling";
  }
  const fs::path cache = user_cache_folder();
  return cache.empty() ? cache : cache / ("perfmodels-starpu-" + starpu_version());
}

ModelStore::ModelStore(const std::string& machine, const fs::path& bundled)
    : machine_(machine), own_(make_own_folder()) {
  look_for_user_folder();
  Texts texts;
  if (!user_.empty()) {
    texts = sound_files(user_, [this](const fs::path& name, const std::string& problem) {
      set_aside(name, problem);
    });
  }
  // A bus calibration is one whole, so that the user's is not mixed with another.
  const bool has_bus = texts.contains(bus_file("config"));
  if (!bundled.empty()) {
    const auto warn = [&](const fs::path& name, const std::string& problem) {
      warnings_.push_back(fmt::format("{}: damaged ({}); it is left out, and measured anew",
                                      (bundled / name).string(), problem));
    };
    for (auto& [name, text] : sound_files(bundled, warn)) {
      if (!has_bus || name.parent_path() != "bus") texts.emplace(name, std::move(text));
    }
  }
  for (const auto& [name, text] : texts) {
    fs::create_directories((own_->path() / name).parent_path());
    put(own_->path() / name, text);
  }
  saved_ = std::move(texts);
  set_variable("STARPU_PERF_MODEL_DIR", own_->path().string() + "/");
  // There StarPU looks for what the folder of models lacks.
  set_variable("STARPU_HOME", own_->path().string());
}

ModelStore::~ModelStore() {
  for (const auto& [name, value] : environment_before_) {
    if (value.empty()) {
      unsetenv(name.c_str());
    } else {
      setenv(name.c_str(), value.c_str(), 1);
    }
  }
}

void ModelStore::set_variable(const char* name, const std::string& value) {
  environment_before_.emplace(name, environment(name));
  if (setenv(name, value.c_str(), 1) != 0) {
    throw RunError(fmt::format("cannot set {}: {}", name, std::strerror(errno)));
  }
}

void ModelStore::look_for_user_folder() {
  user_ = user_folder();
  const std::string reason =
      user_.empty() ? "neither XDG_CACHE_HOME nor HOME is set" : reason_not_writable(user_);
  writable_ = reason.empty();
  if (writable_) return;
  notes_.push_back(fmt::format(
      "no folder for performance models{}: {}; what this run measures is kept in a private folder, "
      "{}, and goes with it (STARPU_HOME names another place)",
      user_.empty() ? "" : " (" + user_.string() + ")", reason, own_->path().string()));
}

fs::path ModelStore::bus_file(const char* extension) const {
  constexpr std::size_t kLongestName = 63;  // StarPU's own limit there
  return fs::path("bus") / (machine_.substr(0, kLongestName) + "." + extension);
}

void ModelStore::set_aside(const fs::path& name, const std::string& problem) {
  std::error_code error;
  const fs::path aside = user_ / "damaged" / name.filename();
  fs::create_directories(aside.parent_path(), error);
  if (!error) fs::remove_all(aside, error);
  if (!error) fs::rename(user_ / name, aside, error);
  warnings_.push_back(fmt::format("{}: damaged ({}); it is {}, and measured anew",
                                  (user_ / name).string(), problem,
                                  error ? "left out" : "set aside as " + aside.string()));
}

void ModelStore::read_models(const fs::path& folder, const OnDamage& on_damage,
                             Texts& texts) const {
  for (const auto& [version, place] : model_folders(folder)) {
    std::error_code error;
    std::vector<fs::path> names;
    for (auto entry = fs::directory_iterator(folder / place, error);
         !error && entry != fs::directory_iterator(); entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (name.starts_with("starpmc_") && name.ends_with("." + machine_)) {
        names.push_back(place / name);
      }
    }
    for (const fs::path& name : names) {
      std::string problem;
      std::optional<std::string> text = read_regular(folder / name, problem);
      if (text && problem.empty()) problem = problem_of_model(*text, version);
      if (!problem.empty()) {
        on_damage(name, problem);
      } else if (text) {
        texts[name] = std::move(*text);
      }
    }
  }
}

/// All files of the bus, or none: StarPU takes what it finds of them for one calibration.
void ModelStore::read_bus(const fs::path& folder, const OnDamage& on_damage, Texts& texts) const {
  Texts found;
  bool complete = true;
  for (const char* extension :
       {"config", "affinity", "latency", "bandwidth", "platform.xml", "platform.v4.xml"}) {
    const fs::path name = bus_file(extension);
    const std::string kind = extension;
    std::string problem;
    std::optional<std::string> text = read_regular(folder / name, problem);
    const auto config = found.find(bus_file("config"));
    if (text && problem.empty()) {
      if (kind == "config") problem = problem_of_bus_config(*text);
      if (kind == "latency" || kind == "bandwidth") problem = problem_of_bus_matrix(*text);
      if (kind == "affinity") {
        problem = problem_of_bus_affinity(*text, config == found.end() ? "" : config->second);
      }
    }
    if (!problem.empty()) on_damage(name, problem);
    complete = complete && text && problem.empty();
    if (complete) found[name] = std::move(*text);
  }
  if (complete) texts.merge(found);
}

ModelStore::Texts ModelStore::sound_files(const fs::path& folder, const OnDamage& on_damage) const {
  Texts texts;
  read_models(folder, on_damage, texts);
  read_bus(folder, on_damage, texts);
  return texts;
}

void ModelStore::save() {
  if (!writable_) return;
  try {
    const auto warn = [](const fs::path& name, const std::string& problem) {
      spdlog::warn("StarPU has written a damaged {} ({}); it is not kept", name.string(), problem);
    };
    for (auto& [name, text] : sound_files(own_->path(), warn)) {
      const auto known = saved_.find(name);
      if (known != saved_.end() && known->second == text) continue;
      fs::create_directories((user_ / name).parent_path());
      put(user_ / name, text);
      saved_[name] = std::move(text);
    }
  } catch (const std::exception& error) {
    spdlog::warn("what StarPU has measured of this machine is not kept: {}", error.what());
  }
}

std::size_t ModelStore::count() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      saved_, [](const auto& file) { return file.first.parent_path() != "bus"; }));
}

}  // namespace starpmc
