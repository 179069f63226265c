#include "bench/figures.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

#include "error.hpp"
#include "installation.hpp"
#include "qm/spawn.hpp"

namespace starpmc {
namespace {

namespace fs = std::filesystem;

/// The Python of the QM workers, else the system's.
fs::path python() {
  const char* const chosen = std::getenv("STARPMC_PYTHON");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  const fs::path built_for = STARPMC_DEFAULT_PYTHON;
  return built_for.empty() ? fs::path("/usr/bin/python3") : built_for;
}

/// Whether a program ends well.
bool succeeds(const std::vector<std::string>& command) {
  std::vector<std::string> environment;
  for (const char* name : {"HOME", "PATH", "MPLCONFIGDIR", "XDG_CACHE_HOME"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr) environment.push_back(std::string(name) + "=" + value);
  }
  const FileDescriptor nowhere(open("/dev/null", O_WRONLY | O_CLOEXEC));
  const SpawnedProcess process = spawn_process(command, environment, nowhere.get());
  int status = 0;
  while (waitpid(process.process_id, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

void draw_figures(const fs::path& folder, const std::string& script) {
  const fs::path scripts = find_installed({"STARPMC_PLOTS", "plots", "src/bench", script.c_str()});
  const std::vector<std::string> command{python().string(), (scripts / script).string(),
                                         fs::absolute(folder).string()};
  bool drawn = false;
  try {
    drawn = succeeds(command);
  } catch (const RunError&) {
    drawn = false;
  }
  if (drawn) return;
  spdlog::warn("no plots: with a Python that has matplotlib run  python {} {}", command[1],
               folder.string());
}

}  // namespace starpmc
