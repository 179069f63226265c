#include "app/run_reference.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "app/reference_preparation.hpp"
#include "io/reference_file.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/logging.hpp"
#include "qm/errors.hpp"
#include "sampling/reference_tables.hpp"

namespace starpmc {
namespace {

constexpr std::chrono::milliseconds kPatience{200};

SoluteReference checked(const Inputs& inputs, const std::filesystem::path& path,
                        const std::string& place, const std::string& remedy) {
  SoluteReference reference = read_reference(path, place, remedy);
  const std::string differs =
      difference(reference.identity, reference_identity(inputs.system, inputs.settings));
  if (!differs.empty()) {
    throw InputError(place, "this reference density cannot be used here: " + differs, path.string(),
                     remedy);
  }
  return reference;
}

SoluteReference of_folder(const Inputs& inputs) {
  const std::filesystem::path path = RunReference::path_in(inputs.settings.output.folder);
  return checked(inputs, path, path.string(),
                 "put the file back as the run made it; without it begin a new run in another "
                 "folder");
}

SoluteReference given(const Inputs& inputs) {
  return checked(
      inputs, inputs.settings.qm.reference, "qm.reference",
      "reference.h5 of a run of this solute at this level of theory, or leave it out, so "
      "that it is made");
}

}  // namespace

bool samples_exactly(const Inputs& inputs) {
  const std::string& engine = inputs.settings.qm.engine;
  return inputs.settings.sampling.ensemble == Ensemble::exact && inputs.system.solute &&
         engine != "frozen" && engine != "none";
}

void require_exact_engine(const std::string& name, bool serves_exact_ensemble) {
  if (serves_exact_ensemble) return;
  throw InputError("sampling.ensemble",
                   fmt::format("the QM engine {} cannot serve the exact ensemble", name), "exact",
                   "sampling.ensemble = perturbative, or qm.engine = pyscf");
}

void check_exact_options(const Inputs& inputs, const OptionPlaces& places) {
  if (!samples_exactly(inputs)) return;
  const Settings::QmSection& qm = inputs.settings.qm;
  const std::uint64_t steps = inputs.settings.sampling.steps;
  if (qm.interval > steps) {
    throw InputError(places("qm.interval"),
                     fmt::format("a block is longer than the {} steps of production", steps),
                     std::to_string(qm.interval),
                     "a smaller qm.interval, auto, or more sampling.steps");
  }
  if (!qm.reference.empty()) return;
  const int most = most_response_components(qm.configurations);
  if (qm.response_components.value_or(0) > most) {
    throw InputError(
        places("qm.response-components"),
        fmt::format("so many components cannot be told from {} configurations, some of which are "
                    "kept for tests: {} at most",
                    qm.configurations, most),
        std::to_string(*qm.response_components),
        "fewer components, auto, or more qm.configurations");
  }
}

std::string describe_ensemble(const Inputs& inputs) {
  if (!inputs.system.solute) return {};
  if (samples_exactly(inputs)) {
    return "the exact ensemble of the QM/MM Hamiltonian is sampled: blocks of steps about a "
           "reference density, with a test after each";
  }
  if (inputs.settings.sampling.ensemble == Ensemble::exact) {
    return fmt::format(
        "sampling.ensemble = exact needs a QM program: with the engine {} the density stays as it "
        "is, and its ensemble is sampled",
        inputs.settings.qm.engine);
  }
  return "the density is replaced after each qm.interval, without a test (sampling.ensemble = "
         "perturbative): what is sampled is near the ensemble of the QM/MM Hamiltonian";
}

RunReference::RunReference(const Inputs& inputs, const Interruption& interruption, bool make_here,
                           Helpers helpers)
    : inputs_(inputs),
      interruption_(interruption),
      path_(path_in(inputs.settings.output.folder)),
      make_here_(make_here),
      helpers_(std::move(helpers)) {}

std::filesystem::path RunReference::path_in(const std::filesystem::path& folder) {
  return folder / "reference.h5";
}

/// Another process makes it.
void RunReference::await_file() const {
  while (!std::filesystem::exists(path_)) {
    if (interruption_.requested()) throw Cancelled();
    std::this_thread::sleep_for(kPatience);
  }
}

void RunReference::check(const Inputs& inputs, bool resumed) {
  if (resumed && std::filesystem::exists(path_in(inputs.settings.output.folder))) {
    of_folder(inputs);
  } else if (!inputs.settings.qm.reference.empty()) {
    given(inputs);
  }
}

SoluteReference RunReference::find_or_make(QmEngine& engine,
                                           std::function<void(const ProgressState&)> report) {
  if (!make_here_) await_file();
  if (std::filesystem::exists(path_)) return of_folder(inputs_);
  SoluteReference reference;
  if (inputs_.settings.qm.reference.empty()) {
    reference = make(engine, std::move(report));
  } else {
    reference = given(inputs_);
    spdlog::info("reference density from {}: {} components", inputs_.settings.qm.reference.string(),
                 reference.components);
  }
  write_reference(path_, reference);
  return reference;
}

SoluteReference RunReference::make(QmEngine& engine,
                                   std::function<void(const ProgressState&)> report) {
  team_.start(helpers_.count(), helpers_.start);
  SoluteReference reference =
      ReferencePreparation(inputs_, interruption_, engine, team_, std::move(report)).make();
  team_.dismiss();
  return reference;
}

/// What another chain makes.
std::shared_ptr<const RunReference::Shared> RunReference::await_shared(
    std::unique_lock<std::mutex>& lock, QmEngine& engine) {
  if (shared_ != nullptr) return shared_;
  lock.unlock();
  {
    const EngineTeam::Loan loan(team_, engine);
    lock.lock();
    while (shared_ == nullptr && !interruption_.requested()) changed_.wait_for(lock, kPatience);
    lock.unlock();
  }
  if (interruption_.requested()) throw Cancelled();
  engine.forget_configurations();
  lock.lock();
  return shared_;
}

std::shared_ptr<const RunReference::Shared> RunReference::get(
    QmEngine& engine, std::function<void(const ProgressState&)> report) {
  std::unique_lock lock(mutex_);
  if (sought_) return await_shared(lock, engine);
  sought_ = true;
  lock.unlock();
  auto shared = std::make_shared<Shared>();
  shared->reference = find_or_make(engine, std::move(report));
  shared->digest = digest(shared->reference);
  shared->tables = std::make_shared<const ReferenceTables>(shared->reference);
  lock.lock();
  shared_ = std::move(shared);
  changed_.notify_all();
  return shared_;
}

}  // namespace starpmc
