#include "bench/paper_whole_run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/paper_published.hpp"
#include "error.hpp"
#include "qm/spawn.hpp"
#include "system/data_folder.hpp"
#include "temporary_folder.hpp"

namespace starpmc {
namespace {

namespace fs = std::filesystem;

/// Of a QM program that holds chorismate's integrals (src/qm/README.md).
constexpr double kWorkerMegabytes = 1600;
constexpr double kMemoryShare = 0.8;

std::vector<std::string> whole_environment() {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
  return all;
}

std::string last_lines(const fs::path& file) {
  constexpr std::size_t kMost = 600;
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  return text.size() > kMost ? text.substr(text.size() - kMost) : text;
}

/// Runs a command to its end, its words going to a file.
void run_program(const std::vector<std::string>& command, const fs::path& words) {
  const FileDescriptor errors(open(words.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  SpawnedProcess process = spawn_process(command, whole_environment(), errors.get());
  std::array<char, 4096> ignored{};
  while (true) {  // its table: a full pipe would stop it
    const ssize_t count = read(process.output.get(), ignored.data(), ignored.size());
    if (count == 0 || (count < 0 && errno != EINTR)) break;
  }
  int status = 0;
  while (waitpid(process.process_id, &status, 0) < 0) {
    if (errno != EINTR) throw RunError("lost the process of a run");
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  throw RunError("starpmc run failed: " + last_lines(words));
}

double update_seconds(const nlohmann::json& update) {
  return update.at("seconds_embedding").get<double>() + update.at("seconds_scf").get<double>() +
         update.at("seconds_density").get<double>();
}

WholeRun read_summary(const fs::path& file, WholeRun run) {
  std::ifstream stream(file);
  const nlohmann::json summary = nlohmann::json::parse(stream);
  run.wall_seconds = summary.at("wall_seconds");
  const nlohmann::json chains =
      summary.contains("chains") ? summary.at("chains") : nlohmann::json::array({summary});
  double first = 0;
  double later = 0;
  std::size_t later_count = 0;
  for (const auto& chain : chains) {
    const auto& updates = chain.at("qm_updates");
    if (updates.size() != run.updates) throw RunError("a run made another number of QM updates");
    for (std::size_t i = 0; i < updates.size(); ++i) {
      (i == 0 ? first : later) += update_seconds(updates[i]);
      if (i > 0) ++later_count;
    }
  }
  run.first_update_seconds = first / static_cast<double>(chains.size());
  if (later_count > 0) run.update_seconds = later / static_cast<double>(later_count);
  const auto& workers = summary.at("worker_tasks");
  for (const auto& worker : workers) {
    run.share_qm += worker.at("share_qm").get<double>() / static_cast<double>(workers.size());
    run.share_sampling +=
        worker.at("share_sampling").get<double>() / static_cast<double>(workers.size());
  }
  return run;
}

}  // namespace

WholeRun run_whole(unsigned chains, unsigned updates, std::uint64_t steps) {
  const TemporaryFolder folder;
  const fs::path output = folder.path() / "run";
  std::vector<std::string> command{fs::read_symlink("/proc/self/exe").string(), "run",
                                   (configs_folder() / "bench-R.cfg").string()};
  const auto option = [&](const char* name, const std::string& value) {
    command.insert(command.end(), {std::string("--") + name, value});
  };
  option("sampling.chains", std::to_string(chains));
  option("sampling.steps", std::to_string(steps * updates));
  option("qm.interval", std::to_string(steps));
  option("output.folder", output.string());
  run_program(command, folder.path() / "words");
  return read_summary(output / "summary.json", {chains, updates, steps, 0, 0, 0, 0, 0});
}

unsigned whole_run_chains(unsigned cpu_workers) {
  std::ifstream file("/proc/meminfo");
  std::string word;
  double kilobytes = 0;
  while (file >> word) {
    if (word == "MemAvailable:") file >> kilobytes;
  }
  const double fitting = kMemoryShare * kilobytes / 1024 / kWorkerMegabytes;
  if (kilobytes == 0 || fitting >= cpu_workers) return std::max(1U, cpu_workers);
  return std::max(1U, static_cast<unsigned>(fitting));
}

double extrapolate_whole_run(const WholeRun& one, const WholeRun& several, double cycle_seconds) {
  const double later = (several.wall_seconds - one.wall_seconds) /
                       static_cast<double>(several.updates - one.updates);
  // Runs of milliseconds may differ by less than what is in them for certain.
  const double iteration = std::max(later, several.update_seconds) + cycle_seconds;
  const double updates = kPaperUpdates / several.chains;
  return one.wall_seconds + cycle_seconds +
         (updates - static_cast<double>(one.updates)) * iteration;
}

}  // namespace starpmc
