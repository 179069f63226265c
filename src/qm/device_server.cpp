#include "qm/device_server.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include "base/environment.hpp"
#include "base/quiet_thread.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/file_descriptor.hpp"
#include "kernels/base/logging.hpp"
#include "kernels/base/shown_text.hpp"
#include "qm/find_program.hpp"
#include "qm/spawn.hpp"

namespace starpmc {

namespace {

using std::chrono::milliseconds;
using ServerClock = std::chrono::steady_clock;

constexpr const char* kControl = "nvidia-cuda-mps-control";
constexpr const char* kSwitch = "STARPMC_MPS";
constexpr const char* kPipes = "CUDA_MPS_PIPE_DIRECTORY";
constexpr const char* kVisible = "CUDA_VISIBLE_DEVICES";
constexpr const char* kOutput = "output";  ///< file in its folder
constexpr const char* kOwn = "STARPMC_OWN_MPS";
/// What processes take for the server's where the environment names no other folder.
constexpr const char* kSystemSocket = "/tmp/nvidia-mps/control";
/// A socket's path has room for 107 characters.
constexpr std::size_t kLongestFolder = 79;
constexpr milliseconds kStartLimit{2000};
constexpr milliseconds kQuitLimit{2000};
constexpr milliseconds kTerminationLimit{1000};
constexpr milliseconds kPause{5};

std::filesystem::path find_control() {
  for (const char* folder : {"", "/usr/bin", "/usr/local/nvidia/bin"}) {
    if (const auto found = find_program(std::filesystem::path(folder) / kControl)) return *found;
  }
  return {};
}

/// What is there before this program, or was decided by the user; empty: nothing.
std::string what_forbids_server() {
  if (environment(kSwitch) == "0") return fmt::format("{}=0", kSwitch);
  if (std::getenv(kPipes) != nullptr) return fmt::format("{} is set", kPipes);
  if (access(kSystemSocket, F_OK) == 0) {
    return fmt::format("there is a daemon of the system's ({})", kSystemSocket);
  }
  const char* const visible = std::getenv(kVisible);
  if (visible != nullptr && !visible_behind_server(visible)) {
    return fmt::format("it shares out no {}={}", kVisible, visible);
  }
  return {};
}

/// The folder's path but for its last letters: short enough for a socket in it.
std::filesystem::path folder_start() {
  constexpr std::string_view kName = "starpmc-mps-";
  constexpr std::size_t kLetters = 6;
  for (const std::string& candidate :
       {environment("XDG_RUNTIME_DIR"), environment("TMPDIR"), std::string("/tmp")}) {
    const std::filesystem::path folder(candidate);
    if (!folder.is_absolute() || access(candidate.c_str(), W_OK | X_OK) != 0) continue;
    std::filesystem::path start = folder / kName;
    if (start.string().size() + kLetters <= kLongestFolder) return start;
  }
  throw RunError("there is no folder for its socket: set TMPDIR to one with a short name");
}

FileDescriptor open_stream(const std::filesystem::path& path, int flags) {
  return FileDescriptor(open(path.c_str(), flags | O_CLOEXEC, 0600));
}

std::vector<std::string> control_environment(const std::filesystem::path& folder) {
  return {fmt::format("{}={}", kPipes, folder.string()),
          fmt::format("CUDA_MPS_LOG_DIRECTORY={}", folder.string())};
}

/// What a program said last, after ": "; empty: nothing.
std::string last_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) last = ": " + shown_text(line);
  }
  return last;
}

bool is_number(std::string_view word) {
  return !word.empty() &&
         std::ranges::all_of(word, [](unsigned char c) { return std::isdigit(c); });
}

}  // namespace

std::optional<std::string> visible_behind_server(std::string_view visible) {
  std::size_t numbers = 0;
  std::size_t names = 0;
  for (std::size_t from = 0; from <= visible.size();) {
    const std::size_t end = std::min(visible.find(',', from), visible.size());
    std::string_view word = visible.substr(from, end - from);
    from = end + 1;
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    if (is_number(word)) {
      ++numbers;
    } else if (word.starts_with("GPU-")) {
      ++names;
    } else {
      return std::nullopt;  // none, a part of a GPU (MIG), or what CUDA does not understand
    }
  }
  if (names > 0) return numbers > 0 ? std::nullopt : std::optional(std::string(visible));
  std::string renumbered = "0";
  for (std::size_t i = 1; i < numbers; ++i) renumbered += ',' + std::to_string(i);
  return renumbered;
}

std::shared_ptr<DeviceServer> start_device_server(const Settings::QmSection& settings,
                                                  unsigned workers) {
  if (settings.engine != "pyscf" || settings.device == "cpu" || workers < 2) return nullptr;
  return std::make_shared<DeviceServer>();
}

DeviceServer::DeviceServer() : program_(find_control()) {
  std::string why_not = what_forbids_server();
  if (why_not.empty() && program_.empty()) why_not = fmt::format("no {} in PATH", kControl);
  if (!why_not.empty()) {
    set(State::none, why_not);
    return;
  }
  if (const char* const visible = std::getenv(kVisible)) {
    visible_devices_ = visible_behind_server(visible).value();
  }
  thread_ = thread_without_signals([this](const std::stop_token& stop) { serve(stop); });
}

DeviceServer::~DeviceServer() = default;

void DeviceServer::serve(const std::stop_token& stop) {
  try {
    start();
    if (wait_until_there(stop)) {
      set(State::serving);
    } else {
      const std::string what =
          has_ended(process_id_)
              ? "has ended at once"
              : fmt::format("has made no socket within {} s", kStartLimit.count() / 1000);
      set(State::none,
          fmt::format("{} {}{}", program_.string(), what, last_line(folder_->path() / kOutput)));
      end();
      return;
    }
  } catch (const std::exception& error) {
    set(State::none, error.what());
    return;
  }
  std::unique_lock lock(mutex_);
  std::condition_variable_any stopped;
  stopped.wait(lock, stop, [] { return false; });
  lock.unlock();
  end();
}

void DeviceServer::start() {
  const std::filesystem::path start = folder_start();
  TemporaryFolder::remove_abandoned(start);
  folder_.emplace(start, "TMPDIR");
  const FileDescriptor nothing = open_stream("/dev/null", O_RDONLY);
  const FileDescriptor output =
      open_stream(folder_->path() / kOutput, O_WRONLY | O_CREAT | O_APPEND);
  // SIGTERM when this program dies, so that it can end its server, a process of its own, too.
  process_id_ = spawn_process({program_.string(), "-f"}, control_environment(folder_->path()),
                              {nothing.get(), output.get(), output.get()}, SIGTERM);
}

bool DeviceServer::wait_until_there(const std::stop_token& stop) const {
  const auto deadline = ServerClock::now() + kStartLimit;
  const std::filesystem::path socket = folder_->path() / "control";
  while (access(socket.c_str(), F_OK) != 0) {
    if (stop.stop_requested() || ServerClock::now() >= deadline || has_ended(process_id_)) {
      return false;
    }
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

void DeviceServer::tell_to_quit() const {
  const auto deadline = ServerClock::now() + kQuitLimit;
  const FileDescriptor output = open_stream(folder_->path() / kOutput, O_WRONLY | O_APPEND);
  Pipe words = make_pipe();
  const pid_t messenger =
      spawn_process({program_.string()}, control_environment(folder_->path()),
                    {words.read_end.get(), output.get(), output.get()}, SIGKILL);
  words.read_end.close();
  constexpr std::string_view kWords = "quit\n";
  [[maybe_unused]] const ssize_t written =
      write(words.write_end.get(), kWords.data(), kWords.size());
  words.write_end.close();
  ends_before(messenger, deadline);
  kill(-messenger, SIGKILL);
  waitpid(messenger, nullptr, 0);
  ends_before(process_id_, deadline);
}

void DeviceServer::end() const {
  try {
    if (!has_ended(process_id_)) tell_to_quit();
  } catch (const std::exception& error) {
    spdlog::debug("the MPS server is not told to quit: {}", error.what());
  }
  if (!has_ended(process_id_)) {
    kill(-process_id_, SIGTERM);
    ends_before(process_id_, ServerClock::now() + kTerminationLimit);
  }
  // What is left of its group, while nobody else can have its number.
  kill(-process_id_, SIGKILL);
  waitpid(process_id_, nullptr, 0);
}

void DeviceServer::set(State state, const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    state_ = state;
    why_none_ = why;
  }
  changed_.notify_all();
}

DeviceServer::State DeviceServer::settled() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return state_ != State::starting; });
  return state_;
}

std::vector<std::string> DeviceServer::environment() {
  if (settled() == State::none) return {};
  // Gone with its folder, which a session's end may remove, or by itself.
  if (has_ended(process_id_) || access((folder_->path() / "control").c_str(), F_OK) != 0) {
    give_up("it has ended");
    return {};
  }
  std::vector<std::string> variables{fmt::format("{}={}", kPipes, folder_->path().string()),
                                     fmt::format("{}=1", kOwn)};
  if (!visible_devices_.empty()) {
    variables.push_back(fmt::format("{}={}", kVisible, visible_devices_));
  }
  return variables;
}

void DeviceServer::give_up(const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    if (state_ != State::serving) return;
    state_ = State::none;
    given_up_ = true;
    why_none_ = why;
  }
  spdlog::info("{}", description());
}

bool DeviceServer::given_up() const {
  const std::lock_guard lock(mutex_);
  return given_up_;
}

std::string DeviceServer::description() {
  if (settled() == State::serving) {
    return "QM workers share the GPU through an MPS server of their own";
  }
  const std::lock_guard lock(mutex_);
  return "QM workers share the GPU without an MPS server of their own: " + why_none_;
}

}  // namespace starpmc
