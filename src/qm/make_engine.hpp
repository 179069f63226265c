#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "config/settings.hpp"
#include "qm/cancel_signal.hpp"
#include "qm/engine.hpp"
#include "qm/shared_device.hpp"
#include "qm/worker_engine.hpp"

namespace starpmc {

/// What an engine hears and tells while it starts and works.
struct EngineWatch {
  /// Ends its start and all that is asked of it; none: QmEngine::cancel() alone does.
  std::shared_ptr<CancelSignal> cancel = {};
  /// Told by every worker that starts, before what may take long; by the thread that starts it.
  std::function<void(const QmForecast&)> on_forecast = {};
  /// Told when a worker's process has been started, before it is waited for; by the same thread.
  std::function<void()> on_spawn = {};
  /// Of all engines of a run; none: this engine's own.
  std::shared_ptr<SharedDevice> device = {};
  unsigned number = 0;  ///< of the engine: of several GPUs it takes one by that
  /// Of which its workers are, and become, one; none: they are started and end.
  std::shared_ptr<IdleWorkers> idle = {};
  /// Behind which its workers use a GPU; none: each has the GPU's driver to itself.
  std::shared_ptr<DeviceServer> server = {};
};

/// The engine that `settings` names: pyscf and psi4 in a worker process, which is started again
/// when it is lost (RestartingEngine); frozen from a grid file.
///
/// Python: qm.python, then $STARPMC_PYTHON, the one found at build time, python3 of the PATH (psi4:
/// qm.python, then /usr/bin/python3, for which Debian packages it). Worker scripts:
/// $STARPMC_WORKERS, the source tree, the installation, ../share/starpmc/workers beside the
/// program.
/// @param watch    who else is concerned
/// @param grid_needed QmRequest::grid_needed
/// @return nullptr for the engine "none"
/// @throws InputError for an unknown engine or embedding, and where Python, the worker's script or
///         the QM program is missing
/// @throws RunError when the worker does not start properly
/// @throws Cancelled once `watch.cancel` is raised
std::unique_ptr<QmEngine> make_engine(const Settings::QmSection& settings, const Solute& solute,
                                      const EngineWatch& watch = {}, bool grid_needed = true);

/// How to start the worker of an engine (pyscf or psi4), with the settings' time limit.
/// @throws InputError where Python or the worker's script is missing
WorkerCommand worker_command(const Settings::QmSection& settings);

/// The Python of the QM workers, as make_engine() finds it.
/// @throws InputError where there is none
std::filesystem::path find_worker_python(const Settings::QmSection& settings);

}  // namespace starpmc
