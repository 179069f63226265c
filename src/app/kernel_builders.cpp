#include "app/kernel_builders.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <iterator>
#include <mutex>
#include <set>
#include <string>

#include "base/environment.hpp"
#include "base/processors.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/file_descriptor.hpp"
#include "kernels/base/logging.hpp"
#include "kernels/opencl/host/build.hpp"
#include "qm/spawn.hpp"

namespace starpmc {
namespace {

bool has_cores_for_builders() {
  constexpr std::size_t kEnough = 4;
  const std::string asked = environment("STARPMC_KERNEL_PROCESSES");
  if (asked == "0" || asked == "1") return asked == "1";
  return processors_at_start().numbers().size() >= kEnough;
}

/// Once for each device.
void tell(const std::string& device) {
  static std::mutex mutex;
  static std::set<std::string> told;
  const std::lock_guard lock(mutex);
  if (!told.insert(device).second) return;
  spdlog::info("kernels are built for {}", device);
  std::cerr << fmt::format(
                   "starpmc: building the kernels for {}: up to a minute, once for each driver "
                   "and version",
                   device)
            << std::endl;
}

/// In memory: a pipe would have to be written while its reader may have died.
FileDescriptor file_of(const std::string& request) {
  FileDescriptor file(memfd_create("starpmc-kernels", MFD_CLOEXEC));
  if (file.get() < 0 || !write_all(file.get(), request) || lseek(file.get(), 0, SEEK_SET) != 0) {
    throw RunError("no memory for what another process is to build");
  }
  return file;
}

void build(const std::string& request) {
  try {
    const FileDescriptor input = file_of(request);
    const pid_t process = spawn_process({"/proc/self/exe", std::string(kBuildKernels)}, {},
                                        {input.get(), STDERR_FILENO, STDERR_FILENO}, SIGKILL);
    const int status = wait_for_end(process);
    if (status != 0) spdlog::debug("a process that was to build kernels ended with {}", status);
  } catch (const std::exception& failure) {
    spdlog::debug("no process builds kernels: {}", failure.what());
  }
}

}  // namespace

void help_with_kernels() {
  opencl::BuildHelp help{tell, {}};
  if (has_cores_for_builders()) help.build = build;
  opencl::set_build_help(std::move(help));
}

int build_kernels_asked_for() {
  try {
    opencl::build_into_cache(
        std::string(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()));
    return 0;
  } catch (const std::exception&) {
    return 1;  // the process that asks builds them itself then, and says what is wrong
  }
}

}  // namespace starpmc
