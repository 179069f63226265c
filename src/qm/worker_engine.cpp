#include "qm/worker_engine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kernels/base/error.hpp"
#include "kernels/base/logging.hpp"
#include "kernels/base/shown_text.hpp"
#include "qm/errors.hpp"
#include "qm/worker_messages.hpp"

namespace starpmc {

namespace {

/// numpy's BLAS stays single: the workers have threads of their own, and both together would
/// oversubscribe the cores. Passive waiting leaves the cores to the sampling next to it; bound to
/// the first ones, the threads of all workers would share a few.
std::vector<std::string> worker_environment(const QmRequest& request, DeviceServer* server) {
  std::vector<std::string> variables{fmt::format("OMP_NUM_THREADS={}", request.threads),
                                     "OPENBLAS_NUM_THREADS=1",
                                     "MKL_NUM_THREADS=1",
                                     "OMP_WAIT_POLICY=passive",
                                     "OMP_PROC_BIND=false",
                                     "PYTHONUNBUFFERED=1",
                                     "PYTHONDONTWRITEBYTECODE=1"};
  if (server != nullptr && request.device != "cpu") {
    for (std::string& each : server->environment()) variables.push_back(std::move(each));
  }
  return variables;
}

nlohmann::json init_header(const QmRequest& request) {
  return {{"type", "init"},
          {"elements", request.elements},
          {"charge", request.charge},
          {"multiplicity", request.multiplicity},
          {"method", request.method},
          {"basis", request.basis},
          {"density_fitting", request.density_fitting},
          {"grid_radial", request.grid_radial},
          {"grid_angular", request.grid_angular},
          {"grid_needed", request.grid_needed},
          {"scf_grid_radial", request.scf_grid_radial},
          {"scf_grid_angular", request.scf_grid_angular},
          {"energy_convergence_hartree", request.energy_convergence_hartree},
          {"max_iterations", request.max_iterations},
          {"embedding", request.analytic_embedding ? "analytic" : "quadrature"},
          {"threads", request.threads},
          {"memory_mb", request.memory_mb},
          {"device", request.device},
          {"device_workers", request.device_workers},
          {"device_number", request.device_number},
          {"device_required", request.device_required}};
}

void check_length(const char* what, std::size_t found, std::size_t expected) {
  if (found != expected) {
    throw RunError(
        fmt::format("QM update: {} values of the {}, expected {}", found, what, expected));
  }
}

}  // namespace

WorkerEngine::WorkerEngine(const WorkerCommand& command, const QmRequest& request)
    : WorkerEngine(command, request, HelloOnly()) {
  initialise(request, command.on_forecast);
}

WorkerVersion WorkerEngine::version_of(const WorkerCommand& command) {
  const WorkerEngine worker(command, QmRequest(), HelloOnly());
  return worker.worker_.version;
}

WorkerEngine::WorkerEngine(const WorkerCommand& command, const QmRequest& request,
                           HelloOnly /*unused*/)
    : time_limit_seconds_(command.time_limit_seconds),
      cancel_(command.cancel_signal ? command.cancel_signal : std::make_shared<CancelSignal>()),
      idle_(command.idle),
      server_(command.server),
      kind_{command.command, worker_environment(request, server_.get()), request.device_number},
      check_(request),
      atom_count_(request.positions.size()),
      max_iterations_(request.max_iterations),
      energy_convergence_hartree_(request.energy_convergence_hartree),
      remedy_if_missing_(command.remedy_if_missing) {
  find_worker(command);
}

WorkerEngine::~WorkerEngine() {
  try {
    if (idle_ && answered_ && !cancel_->raised()) {
      idle_->give(kind_, std::move(worker_));
      return;
    }
    const auto soon = WorkerProcess::Deadline::clock::now() + std::chrono::milliseconds(200);
    send_message(process(), {{{"type", "quit"}}, {}}, soon);
    process().close_input_and_wait(std::chrono::milliseconds(500));
  } catch (const std::exception&) {
    // It has gone or is busy: the process's destructor kills it.
  }
}

WorkerProcess::Deadline WorkerEngine::deadline() const {
  const double bounded = std::clamp(time_limit_seconds_, 0.0, 1e8);
  return WorkerProcess::Deadline::clock::now() +
         std::chrono::milliseconds(static_cast<long long>(1000 * bounded));
}

void WorkerEngine::send(const Message& message) {
  answered_ = false;
  send_message(process(), message, deadline());
}

Message WorkerEngine::receive(const std::string& expected_type,
                              std::initializer_list<std::string_view> or_types) {
  Message message = receive_message(process(), deadline());
  if (message.type() == "error") {
    const std::string reason = text(message, "reason");
    const std::string said = text(message, "message");
    if (reason == "missing") {
      throw InputError("qm.engine", "the QM program is not installed: " + said, "",
                       remedy_if_missing_);
    }
    if (reason == "bad-request") {
      throw InputError("[qm]", said, "", "change the qm section or the solute");
    }
    if (reason == "not-converged") {
      state_.clear();
      process().report(
          "the SCF did not converge: " + said,
          fmt::format(
              "a larger qm.max-iterations (now {}; a run that is resumed may have another), "
              "or in a new run a larger qm.energy-convergence (now {:g} Hartree), another "
              "qm.method or qm.basis; check qm.charge and qm.multiplicity, too",
              max_iterations_, energy_convergence_hartree_));
    }
    if (reason == "device-server" && server_) {
      server_->give_up(said);
      process().fail("the MPS server that it uses the GPU by has failed: " + said);
    }
    process().report(fmt::format("{}: {}", reason, said));
  }
  const std::string type = message.type();
  if (type != expected_type && std::ranges::find(or_types, type) == or_types.end()) {
    process().fail(
        fmt::format("it answered '{}' where '{}' was due", text(message, "type"), expected_type));
  }
  answered_ = type == expected_type;
  return message;
}

/// What is shown to the user: of bounded length, and without control characters.
std::string WorkerEngine::text(const Message& message, const std::string& name) {
  constexpr std::size_t kLongest = 4096;
  const std::string whole = name == "type" ? message.type() : field<std::string>(message, name);
  return shown_text(whole.substr(0, kLongest), "\n\t") + (whole.size() > kLongest ? "..." : "");
}

const MessageArray& WorkerEngine::array(const Message& message, const std::string& name,
                                        std::size_t rows) {
  const auto found = std::find_if(message.arrays.begin(), message.arrays.end(),
                                  [&](const auto& array) { return array.name == name; });
  if (found == message.arrays.end()) process().fail(fmt::format("array {} is missing", name));
  if (found->shape.size() != 2 || found->shape[0] != rows || found->shape[1] == 0) {
    process().fail(fmt::format("array {} has the wrong shape ({}), expected ({}, points)", name,
                               fmt::join(found->shape, ", "), rows));
  }
  return *found;
}

bool WorkerEngine::has_array(const Message& message, const std::string& name) {
  return std::ranges::any_of(message.arrays, [&](const auto& a) { return a.name == name; });
}

void WorkerEngine::find_worker(const WorkerCommand& command) {
  if (idle_) worker_ = idle_->take(kind_, cancel_);
  const bool found = worker_.process != nullptr;
  if (!found) {
    worker_.process =
        idle_ ? idle_->start(kind_, cancel_)
              : std::make_unique<WorkerProcess>(kind_.command, kind_.environment, cancel_);
  }
  if (command.on_spawn) command.on_spawn();
  if (!found) hear_hello();
}

/// What says none is something else than a worker, or a Python that cannot run it.
Message WorkerEngine::receive_hello() {
  try {
    return receive("hello");
  } catch (const WorkerKilled&) {
    throw;
  } catch (const WorkerLost& lost) {
    throw WorkerLost(fmt::format("{}\nit was started as '{}'\nremedy: {}", lost.what(),
                                 shown_text(fmt::format("{}", fmt::join(kind_.command, " "))),
                                 remedy_if_missing_));
  }
}

void WorkerEngine::hear_hello() {
  const Message hello = receive_hello();
  const int protocol = field<int>(hello, "protocol");
  if (protocol != worker_protocol_version) {
    process().fail(fmt::format("it speaks version {} of the protocol, this program version {}",
                               protocol, worker_protocol_version));
  }
  worker_.version.name = text(hello, "worker");
  worker_.version.version = text(hello, "version");
  if (!hello.header.contains("libraries")) return;
  for (const auto& [name, version] :
       field<std::map<std::string, std::string>>(hello, "libraries")) {
    worker_.version.libraries[shown_text(name)] = shown_text(version);
  }
}

void WorkerEngine::initialise(const QmRequest& request,
                              const std::function<void(const QmForecast&)>& on_forecast) {
  Message init{init_header(request), {positions_array("positions", request.positions)}};
  send(init);
  Message ready = receive("ready", {"forecast"});
  if (ready.type() == "forecast") {
    const QmForecast forecast{
        field<int>(ready, "basis_functions"),
        field<double>(ready, "memory_mb"),
        field<double>(ready, "seconds_first"),
        field<double>(ready, "seconds_update"),
        optional_field<bool>(ready, "exact").value_or(false),
        ready.header.contains("device") ? text(ready, "device") : std::string(),
        optional_field<bool>(ready, "repeatable").value_or(true)};
    if (on_forecast) on_forecast(forecast);
    ready = receive("ready");
  }
  expected_electrons_ = field<int>(ready, "expected_electrons");
  if (expected_electrons_ != check_.electrons()) {
    process().fail(fmt::format("it expects {} electrons; elements and charge make {}",
                               expected_electrons_, check_.electrons()));
  }
  basis_functions_ = optional_field<int>(ready, "basis_functions").value_or(0);
  has_state_ = optional_field<bool>(ready, "has_state").value_or(false);
  if (ready.header.contains("device")) device_ = text(ready, "device");
  tell_of_device(ready);
  exact_ = has_state_ && optional_field<bool>(ready, "exact").value_or(false);
  points_ = read_points(array(ready, "points", 3));
  if (has_array(ready, "coarse_points")) {
    coarse_points_ = read_points(array(ready, "coarse_points", 3));
  }
}

DensityGrid WorkerEngine::read_points(const MessageArray& array) {
  DensityGrid points;
  points.x = row_of(array, 0);
  points.y = row_of(array, 1);
  points.z = row_of(array, 2);
  points.charge.assign(array.shape[1], 0.0);
  if (const auto problem = check_.problem_of_points(points); !problem.empty()) {
    process().fail(problem);
  }
  return points;
}

void WorkerEngine::send_potential(nlohmann::json header, const DensityGrid& points,
                                  std::span<const double> potential,
                                  std::span<const double> nuclear_potential,
                                  const PointCharges& charges) {
  check_length("potential", potential.size(), points.size());
  check_length("nuclear potential", nuclear_potential.size(), atom_count_);
  check_length("point charges", charges.charges.size(), charges.positions.size());
  header["coulomb_pole"] = charges.coulomb_pole;
  const Vector3& box = charges.box;
  if (box.x > 0) header["box"] = {box.x, box.y, box.z};
  const Message request{
      std::move(header),
      {vector_array("potential", potential), vector_array("nuclear_potential", nuclear_potential),
       positions_array("charge_positions", charges.positions),
       vector_array("charges", charges.charges)}};
  send(request);
}

QmResult WorkerEngine::update(std::span<const double> potential,
                              std::span<const double> nuclear_potential,
                              const PointCharges& charges) {
  send_potential({{"type", "update"}}, points_, potential, nuclear_potential, charges);
  Message answer = receive("result");
  QmResult result = read_scf(answer);
  const bool has_grid = !held_ || has_array(answer, "grid");
  if (has_grid) {
    read_grid(answer, result);
  } else {
    result.electrons_on_grid = result.expected_electrons;
  }
  const double largest =
      std::max(largest_magnitude(potential), largest_magnitude(nuclear_potential));
  const auto problem =
      has_grid ? check_.problem_of(result, largest) : check_.problem_without_grid(result, largest);
  if (!problem.empty()) process().fail(problem);
  if (!held_) keep_state(answer);
  return result;
}

void WorkerEngine::keep_state(Message& message) {
  if (!has_state_) return;
  const auto state = std::find_if(message.arrays.begin(), message.arrays.end(),
                                  [](const auto& array) { return array.name == "state"; });
  if (state == message.arrays.end() || state->values.empty()) {
    process().fail("array state of 'result' is missing or empty");
  }
  state_ = std::move(state->values);
}

void WorkerEngine::restore(std::span<const double> state) {
  if (!has_state_) return QmEngine::restore(state);
  send({{{"type", "restore"}}, {vector_array("state", state)}});
  receive("restored");
  held_ = false;
  state_.assign(state.begin(), state.end());
}

/// What keeps the SCF off a GPU, or has made it leave one.
void WorkerEngine::tell_of_device(const Message& message) {
  if (message.header.contains("device_warning")) {
    spdlog::warn("QM engine {}: {}", name(), text(message, "device_warning"));
  }
}

QmResult WorkerEngine::read_scf(const Message& message) {
  QmResult result;
  tell_of_device(message);
  result.energy_kj_per_mol = field<double>(message, "energy");
  result.expected_electrons = expected_electrons_;
  result.iterations = field<int>(message, "iterations");
  result.converged = field<bool>(message, "converged");
  result.seconds_embedding = field<double>(message, "seconds_embedding");
  result.seconds_scf = field<double>(message, "seconds_scf");
  result.seconds_density = field<double>(message, "seconds_density");
  result.memory_mb = field<double>(message, "memory_mb");
  result.peak_memory_mb = optional_field<double>(message, "peak_memory_mb").value_or(0);
  if (message.header.contains("fallback")) result.fallback = text(message, "fallback");
  read_interactions(message, result);
  const auto dipole = field<std::vector<double>>(message, "dipole");
  if (dipole.size() != 3) process().fail("field dipole of 'result' has not three components");
  std::copy(dipole.begin(), dipole.end(), result.dipole_debye);
  if (!result.converged) process().report("the SCF did not converge");
  return result;
}

void WorkerEngine::read_grid(const Message& message, QmResult& result) {
  result.electrons_on_grid = field<double>(message, "electrons_on_grid");
  const MessageArray& grid = array(message, "grid", 5);
  result.grid = {row_of(grid, 0), row_of(grid, 1), row_of(grid, 2), row_of(grid, 3),
                 row_of(grid, 4)};
  for (double& extent : result.grid.extent) {
    if (!(extent >= 0)) process().fail("array grid of 'result' has a negative extent");
    extent = std::min(extent, kLargestExtentAngstrom);
  }
}

void WorkerEngine::read_interactions(const Message& message, QmResult& result) {
  const auto number = [&](const char* name) { return optional_field<double>(message, name); };
  result.interaction_electrons_kj_per_mol = number("interaction_electrons");
  result.interaction_nuclei_kj_per_mol = number("interaction_nuclei");
  result.previous_interaction_kj_per_mol = number("previous_interaction");
  result.isolated_energy_kj_per_mol = number("isolated_energy");
  result.polarisation_energy_kj_per_mol = number("polarisation_energy");
  const auto dipole = optional_field<std::vector<double>>(message, "isolated_dipole");
  if (!dipole) return;
  if (dipole->size() != 3) {
    process().fail("field isolated_dipole of 'result' has not three components");
  }
  result.isolated_dipole_debye = {(*dipole)[0], (*dipole)[1], (*dipole)[2]};
}

void check_electrons(const QmResult& result, double tolerance) {
  const double error = result.electrons_on_grid - result.expected_electrons;
  if (std::abs(error) <= tolerance) return;
  throw RunError(fmt::format(
      "QM update: {:.6f} electrons on the density grid instead of {}, more than "
      "qm.electron-tolerance = {:g} away; use a finer grid (qm.grid-radial, qm.grid-angular), or "
      "check qm.charge and, with the engine frozen, qm.grid-file",
      result.electrons_on_grid, result.expected_electrons, tolerance));
}

}  // namespace starpmc
