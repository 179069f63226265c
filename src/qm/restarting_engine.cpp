#include "qm/restarting_engine.hpp"

#include <fmt/format.h>

#include <utility>

#include "kernels/base/logging.hpp"
#include "qm/shared_device.hpp"

namespace starpmc {

namespace {

bool same_points(const DensityGrid& one, const DensityGrid& other) {
  return one.x == other.x && one.y == other.y && one.z == other.z;
}

/// @throws WorkersLost where that was the last try
void announce_restart(const char* what, unsigned tries, const WorkerLost& lost) {
  constexpr unsigned most = RestartingEngine::most_restarts_per_update;
  if (tries > most) {
    throw WorkersLost(
        fmt::format("the QM {} was tried {} times, with a fresh worker each, and failed every "
                    "time; at last: {}",
                    what, tries, lost.what()));
  }
  spdlog::warn("QM worker lost; the {} is repeated by a fresh one (restart {} of at most {}): {}",
               what, tries, most, lost.what());
}

}  // namespace

RestartingEngine::RestartingEngine(Factory factory, std::shared_ptr<CancelSignal> signal)
    : factory_(std::move(factory)),
      signal_(signal ? std::move(signal) : std::make_shared<CancelSignal>()),
      engine_(start()),
      points_(engine_->quadrature_points()),
      coarse_points_(engine_->coarse_points()),
      basis_functions_(engine_->basis_functions()),
      name_(engine_->name()),
      version_(engine_->version()),
      device_(engine_->device()),
      exact_(engine_->serves_exact_ensemble()) {}

std::unique_ptr<QmEngine> RestartingEngine::start() {
  for (unsigned tries = 1;; ++tries) {
    try {
      return factory_(signal_);
    } catch (const WorkerKilled& killed) {
      if (signal_->raised()) throw Cancelled();
      announce_restart("worker's start", tries, killed);
      ++restarts_;
    }
  }
}

void RestartingEngine::start_again() {
  ++restarts_;
  std::unique_ptr<QmEngine> fresh = factory_(signal_);
  if (!same_points(points_, fresh->quadrature_points()) ||
      !same_points(coarse_points_, fresh->coarse_points())) {
    throw RunError(fmt::format(
        "the QM engine {} has other quadrature points after its restart ({} before): has its "
        "installation changed?",
        name_, points_.size()));
  }
  take_device(fresh->device());
  const std::vector<double>& start = before_reference_ ? *before_reference_ : state_;
  if (!start.empty()) fresh->restore(start);
  for (const Embedding& kept : configurations_) fresh->add_configuration(kept);
  if (before_reference_) fresh->reference(reference_threads_);
  if (response_) fresh->response(*response_, {}, nullptr);
  if (adopted_) fresh->adopt(*adopted_);
  if (!equations_.empty()) fresh->take_equations(equations_);
  if (held_) fresh->hold_density();
  engine_ = std::move(fresh);
}

/// A worker that replaces another need not find the GPU again (QmRequest::device_required).
void RestartingEngine::take_device(const std::string& device) {
  const std::string before = std::exchange(device_, device);
  if (device == before || (!is_gpu(device) && !is_gpu(before))) return;
  spdlog::warn(
      "the QM worker that replaces the one lost runs on another device: {}, before on {}{}", device,
      before,
      is_gpu(device) ? ""
                     : "; updates take longer, and a run that is resumed asks for a "
                       "GPU again");
}

void RestartingEngine::retire() {
  if (engine_ == nullptr) return;
  log_of_lost_ = engine_->log();
  engine_.reset();
}

template <typename Work>
auto RestartingEngine::repeat(const char* what, const Work& work) {
  for (unsigned tries = 1;; ++tries) {
    if (signal_->raised()) throw Cancelled();
    try {
      if (engine_ == nullptr) start_again();
      return work(*engine_);
    } catch (const WorkerLost& lost) {
      retire();
      if (signal_->raised()) throw Cancelled();
      announce_restart(what, tries, lost);
    }
  }
}

QmResult RestartingEngine::update(std::span<const double> potential,
                                  std::span<const double> nuclear_potential,
                                  const PointCharges& charges) {
  try {
    QmResult result = repeat("update", [&](QmEngine& engine) {
      return engine.update(potential, nuclear_potential, charges);
    });
    keep_state();
    return result;
  } catch (const RunError&) {
    // Without convergence the worker has no density left to go on from.
    if (engine_ != nullptr) keep_state();
    throw;
  }
}

void RestartingEngine::restore(std::span<const double> state) {
  repeat("restore", [&](QmEngine& engine) { engine.restore(state); });
  held_ = false;
  before_reference_.reset();
  response_.reset();
  adopted_.reset();
  state_ = engine_->state();
}

void RestartingEngine::keep_state() {
  if (!held_) state_ = engine_->state();
}

Embedding RestartingEngine::embedding(std::span<const double> potential,
                                      std::span<const double> nuclear_potential,
                                      const PointCharges& charges, Quadrature quadrature) {
  return repeat("embedding", [&](QmEngine& engine) {
    return engine.embedding(potential, nuclear_potential, charges, quadrature);
  });
}

std::uint64_t RestartingEngine::add_configuration(const Embedding& embedding) {
  const auto kept = repeat("configuration",
                           [&](QmEngine& engine) { return engine.add_configuration(embedding); });
  configurations_.push_back(embedding);
  return kept;
}

void RestartingEngine::forget_configurations() {
  repeat("worker's configurations", [](QmEngine& engine) { engine.forget_configurations(); });
  configurations_.clear();
  equations_.clear();
  before_reference_.reset();
  response_.reset();
  adopted_.reset();
}

ReferenceDensity RestartingEngine::reference(int threads) {
  ReferenceDensity reference =
      repeat("reference", [&](QmEngine& engine) { return engine.reference(threads); });
  response_.reset();
  adopted_.reset();
  equations_.clear();
  before_reference_ = state_;
  reference_threads_ = threads;
  keep_state();
  return reference;
}

SoluteResponse RestartingEngine::response(const ResponseRequest& request,
                                          const WorkProgress& progress, ProductHelpers* helpers) {
  response_.reset();
  SoluteResponse response = repeat(
      "response", [&](QmEngine& engine) { return engine.response(request, progress, helpers); });
  response_ = request;
  return response;
}

void RestartingEngine::take_equations(std::span<const double> equations) {
  equations_.clear();
  repeat("response's equations", [&](QmEngine& engine) { engine.take_equations(equations); });
  equations_.assign(equations.begin(), equations.end());
}

std::vector<double> RestartingEngine::multiply(std::span<const double> vector) {
  return repeat("response's product", [&](QmEngine& engine) { return engine.multiply(vector); });
}

std::vector<double> RestartingEngine::potentials(std::span<const Vector3> positions) {
  return repeat("potentials", [&](QmEngine& engine) { return engine.potentials(positions); });
}

double RestartingEngine::energy(std::uint64_t configuration) {
  return repeat("energy", [&](QmEngine& engine) { return engine.energy(configuration); });
}

SharedDensity RestartingEngine::shared_density() {
  return repeat("shared density", [](QmEngine& engine) { return engine.shared_density(); });
}

void RestartingEngine::adopt(const SharedDensity& density) {
  repeat("shared density", [&](QmEngine& engine) { engine.adopt(density); });
  adopted_ = density;
  equations_.clear();
}

void RestartingEngine::hold_density() {
  repeat("worker's density", [](QmEngine& engine) { engine.hold_density(); });
  held_ = true;
}

std::string RestartingEngine::log() const {
  return log_of_lost_ + (engine_ == nullptr ? std::string() : engine_->log());
}

}  // namespace starpmc
