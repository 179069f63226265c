#include "qm/make_engine.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/environment.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/installation.hpp"
#include "qm/errors.hpp"
#include "qm/find_program.hpp"
#include "qm/frozen_engine.hpp"
#include "qm/restarting_engine.hpp"
#include "qm/shared_device.hpp"

namespace starpmc {

namespace {

namespace fs = std::filesystem;

constexpr const char* setup_remedy = "./quickstart setup";

fs::path worker_script(const std::string& engine) {
  const std::string name = engine + "_worker.py";
  return installed_file({"STARPMC_WORKERS", "workers", "src/qm/workers", name.c_str()},
                        "qm.engine");
}

bool analytic(const std::string& embedding) {
  if (embedding == "analytic") return true;
  if (embedding == "quadrature") return false;
  throw InputError("qm.embedding", "unknown embedding", embedding, "quadrature or analytic");
}

QmRequest make_request(const Settings::QmSection& settings, const Solute& solute) {
  QmRequest request;
  request.elements = solute.elements;
  request.positions = solute.positions;
  request.charge = settings.charge;
  request.multiplicity = settings.multiplicity;
  request.method = settings.method;
  request.basis = settings.basis;
  request.density_fitting = settings.density_fitting;
  request.grid_radial = settings.grid_radial;
  request.grid_angular = settings.grid_angular;
  request.scf_grid_radial = settings.scf_grid_radial;
  request.scf_grid_angular = settings.scf_grid_angular;
  request.energy_convergence_hartree = settings.energy_convergence_hartree;
  request.max_iterations = settings.max_iterations;
  request.analytic_embedding = analytic(settings.embedding);
  request.threads = settings.threads;
  request.memory_mb = settings.memory_mb;
  request.device = settings.device;
  return request;
}

std::unique_ptr<QmEngine> make_frozen(const Settings::QmSection& settings, const Solute& solute) {
  if (settings.grid_file.empty()) {
    throw InputError("qm.grid-file", "the frozen engine needs a density grid", "",
                     "the path of a grid saved by output.save-grid");
  }
  return std::make_unique<FrozenEngine>(solute, settings.charge, settings.grid_file);
}

/// Starts an engine's workers, one after the other.
class WorkerStart {
 public:
  WorkerStart(WorkerCommand command, QmRequest request, std::shared_ptr<SharedDevice> device)
      : command_(std::move(command)), request_(std::move(request)), device_(std::move(device)) {}

  std::unique_ptr<QmEngine> operator()(const std::shared_ptr<CancelSignal>& signal) {
    command_.cancel_signal = signal;
    // Whatever ended the last one may have been the server.
    if (std::exchange(tried_, true)) command_.server = nullptr;
    std::unique_ptr<QmEngine> engine = start();
    again_ = true;
    return engine;
  }

 private:
  std::unique_ptr<QmEngine> start() {
    try {
      return device_->start(command_, request_, again_);
    } catch (const WorkerLost&) {
      if (!command_.server || !command_.server->given_up()) throw;
    }
    command_.server = nullptr;
    return device_->start(command_, request_, again_);
  }

  WorkerCommand command_;
  QmRequest request_;
  std::shared_ptr<SharedDevice> device_;
  bool tried_ = false;
  bool again_ = false;  ///< it replaces one that was ready
};

}  // namespace

fs::path find_worker_python(const Settings::QmSection& settings) {
  fs::path python = settings.python;
  std::string place = "qm.python";
  if (python.empty() && settings.engine == "psi4") python = "/usr/bin/python3";
  if (python.empty()) {
    python = environment("STARPMC_PYTHON");
    place = "environment variable STARPMC_PYTHON";
  }
  if (python.empty()) {
    python = STARPMC_DEFAULT_PYTHON;
    place = "the Python set at build time (STARPMC_DEFAULT_PYTHON)";
  }
  if (python.empty()) {
    python = "python3";
    place = "qm.python is not set and PATH was searched";
  }
  const auto found = find_program(python);
  if (!found) {
    throw InputError(
        place, "no such program, or it may not be executed", python.string(),
        fmt::format("{}, or set qm.python to a Python that has the QM program", setup_remedy));
  }
  return *found;
}

WorkerCommand worker_command(const Settings::QmSection& settings) {
  WorkerCommand command;
  command.command = {find_worker_python(settings).string(),
                     worker_script(settings.engine).string()};
  command.time_limit_seconds = settings.time_limit_seconds;
  if (settings.engine == "psi4") {
    command.remedy_if_missing =
        "apt install psi4 (Psi4 1.3 of Debian and Ubuntu; its Python, /usr/bin/python3, is the "
        "default), or set qm.python = the Python of another Psi4 1.3; or write qm.engine = pyscf";
  }
  return command;
}

std::unique_ptr<QmEngine> make_engine(const Settings::QmSection& settings, const Solute& solute,
                                      const EngineWatch& watch, bool grid_needed) {
  if (settings.engine == "none") return nullptr;
  if (settings.engine == "frozen") return make_frozen(settings, solute);
  if (settings.engine != "pyscf" && settings.engine != "psi4") {
    throw InputError("qm.engine", "unknown QM engine", settings.engine,
                     "one of pyscf, psi4, frozen, none");
  }
  QmRequest request = make_request(settings, solute);
  request.grid_needed = grid_needed;
  request.device_number = watch.number;
  WorkerCommand command = worker_command(settings);
  command.on_forecast = watch.on_forecast;
  command.on_spawn = watch.on_spawn;
  command.idle = watch.idle;
  command.server = watch.server;
  return std::make_unique<RestartingEngine>(
      WorkerStart(std::move(command), std::move(request),
                  watch.device ? watch.device : std::make_shared<SharedDevice>()),
      watch.cancel);
}

}  // namespace starpmc
