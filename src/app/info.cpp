#include "app/subcommands.hpp"

#include <fmt/format.h>

#include <iostream>

#include "app/subcommand_options.hpp"
#include "io/run_summary.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/shown_text.hpp"
#include "kernels/operations.hpp"
#include "qm/make_engine.hpp"
#include "runtime/starpu_runtime.hpp"

namespace starpmc {
namespace {

constexpr double kLongestAnswerSeconds = 60;

std::string versions(const WorkerVersion& worker) {
  std::string text = worker.version;
  for (const auto& [name, version] : worker.libraries)
    text += fmt::format(", {} {}", name, version);
  return text;
}

/// Of one engine: what its worker says, or why it says nothing.
void print_engine(const std::string& name, const std::string& python) {
  Settings::QmSection settings;
  settings.engine = name;
  settings.python = python;
  settings.time_limit_seconds = kLongestAnswerSeconds;
  std::string found;
  try {
    const WorkerCommand command = worker_command(settings);
    found = fmt::format("{} ({})", versions(WorkerEngine::version_of(command)),
                        shown_text(command.command.front()));
  } catch (const InputError& error) {
    found = error.what();
  } catch (const RunError& error) {
    found = shown_text(error.what(), "\t\n");
  }
  std::cout << fmt::format("  {:<7} {}\n", name, found);
}

}  // namespace

boost::program_options::options_description info_options() {
  boost::program_options::options_description described;
  described.add_options()("qm.python", boost::program_options::value<std::string>(),
                          "Python of the QM programs, as in a configuration");
  return described;
}

int run_info(std::span<const std::string> arguments) {
  if (!arguments.empty() && !arguments[0].starts_with("--")) {
    throw InputError("command line", "info takes no arguments but --qm.python", arguments[0],
                     "write: starpmc info [--qm.python PATH]");
  }
  const auto values = parse_subcommand("starpmc info", info_options(), arguments);
  const StarpuRuntime runtime(Precision::mixed, Implementation::any);
  std::cout << fmt::format("starpmc {}, StarPU {}, HDF5 {}\n", STARPMC_VERSION, starpu_version(),
                           hdf5_library_version());
  std::cout << fmt::format("scheduler: {} (STARPU_SCHED)\n", runtime.scheduler());
  std::cout << fmt::format("SIMD instruction set: {}\n", simd::instruction_set());
  std::cout << "workers:\n";
  for (const WorkerDescription& worker : runtime.workers()) {
    std::cout << fmt::format("  {:3}  {}\n", worker.id, worker.name);
  }
  if (runtime.opencl_workers() == 0) {
    std::cout << "no OpenCL device; PoCL's CPU device joins with STARPU_OPENCL_ON_CPUS=1\n";
  }
  for (const std::string& warning : runtime.warnings()) std::cout << "warning: " << warning << '\n';
  for (const std::string& note : runtime.notes()) std::cout << "note: " << note << '\n';
  std::cout << fmt::format(
      "performance models of this machine: {} in {}{}\n", runtime.models().count(),
      runtime.models().place().string(),
      runtime.models().count() == 0 ? " (the first run calibrates itself)" : "");
  std::cout << fmt::format("OpenCL kernels: {}\n", kernel_sources().string());
  std::cout << "QM engines (qm.engine; --qm.python names another Python):\n" << std::flush;
  const std::string python =
      values.contains("qm.python") ? values["qm.python"].as<std::string>() : std::string();
  for (const char* engine : {"pyscf", "psi4"}) print_engine(engine, python);
  std::cout << "  frozen  a stored density, without a QM program\n";
  return 0;
}

}  // namespace starpmc
