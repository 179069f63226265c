#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "config/settings.hpp"
#include "kernels/base/temporary_folder.hpp"

namespace starpmc {

/// A server of NVIDIA's multi-process service (MPS) of this program's own. What the processes
/// behind it do on a GPU runs at the same time; without one the GPU takes their contexts in turn.
/// Only QM workers are behind it: this program is not, for NVIDIA's OpenCL makes no context there.
///
/// It can be done without: where it does not start, or is given up, workers start as if there were
/// none. From all threads.
class DeviceServer {
 public:
  /// Starts one, where nothing speaks against it, and waits for nothing.
  DeviceServer();
  /// Ends it, which takes four seconds at most. Those behind it have to have ended.
  ~DeviceServer();
  DeviceServer(const DeviceServer&) = delete;
  DeviceServer& operator=(const DeviceServer&) = delete;

  /// "NAME=value" of what a process needs to be behind it; empty: there is none, or none any more.
  /// Waits, two seconds at most, until it is there.
  std::vector<std::string> environment();
  /// From here on there is none for those that start.
  void give_up(const std::string& why);
  /// Whether somebody has.
  bool given_up() const;
  /// For the log: that there is one, or why there is none. Waits as environment() does.
  std::string description();

 private:
  enum class State { starting, serving, none };

  void serve(const std::stop_token& stop);
  void start();
  bool wait_until_there(const std::stop_token& stop) const;
  void end() const;
  void tell_to_quit() const;
  void set(State state, const std::string& why = {});
  State settled();

  std::filesystem::path program_;
  std::string visible_devices_;  ///< for those behind it; empty: as they are
  std::optional<TemporaryFolder> folder_;
  pid_t process_id_ = -1;
  mutable std::mutex mutex_;  ///< of what follows but the thread
  std::condition_variable changed_;
  State state_ = State::starting;
  bool given_up_ = false;
  std::string why_none_;
  std::jthread thread_;  ///< starts it, for the kernel ties it to that thread, and ends it
};

/// Where workers of these settings may come to share a GPU.
/// @param workers that may run beside each other
/// @return null: they do not
std::shared_ptr<DeviceServer> start_device_server(const Settings::QmSection& settings,
                                                  unsigned workers);

/// What CUDA_VISIBLE_DEVICES has to be for those behind a server that was started with `visible`:
/// it counts only what the server sees, while names stay what they are.
/// @return none: there is nothing that a server could share out
std::optional<std::string> visible_behind_server(std::string_view visible);

}  // namespace starpmc
