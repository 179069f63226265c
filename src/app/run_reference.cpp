#include "app/run_reference.hpp"

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <thread>

#include "app/preparation_checkpoint.hpp"
#include "app/reference_preparation.hpp"
#include "io/reference_file.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/logging.hpp"
#include "qm/errors.hpp"
#include "sampling/reference_tables.hpp"

namespace starpmc {
namespace {

constexpr std::chrono::milliseconds kPatience{200};
constexpr const char* kExactRemedy =
    "sampling.ensemble = perturbative or auto, or qm.engine = pyscf";
constexpr const char* kPerturbative =
    "the density is replaced after each qm.interval, without a test (sampling.ensemble = "
    "perturbative): what is sampled is near the ensemble of the QM/MM Hamiltonian";

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

/// A stored density, or none, is never made anew.
bool has_qm_program(const Settings::QmSection& qm) {
  return qm.engine != "frozen" && qm.engine != "none";
}

/// Where exact was asked for.
void check_exactness(const Settings& settings, const OptionPlaces& places) {
  if (!has_qm_program(settings.qm)) {
    throw InputError(places("sampling.ensemble"),
                     fmt::format("the exact ensemble needs a QM program, and qm.engine is {}",
                                 settings.qm.engine),
                     "exact", kExactRemedy);
  }
  if (settings.qm.interval > settings.sampling.steps) {
    throw InputError(
        places("qm.interval"),
        fmt::format("a block is longer than the {} steps of production", settings.sampling.steps),
        std::to_string(settings.qm.interval),
        "a smaller qm.interval, auto, or more sampling.steps");
  }
}

/// Why auto is not exact; empty: it is.
std::string obstacle_to_exactness(const Settings& settings, const std::string& engine,
                                  bool serves_exact_ensemble) {
  if (!serves_exact_ensemble) {
    return fmt::format("the QM engine {} cannot serve the exact ensemble", engine);
  }
  if (settings.qm.interval > settings.sampling.steps) {
    return fmt::format("the exact ensemble takes at least one whole qm.interval ({} steps)",
                       settings.qm.interval);
  }
  return {};
}

/// Where blocks are not sampled: what only they have must not be asked for.
/// @param places of options, for a message
/// @param why    blocks are not sampled; empty: nobody asked for them
void require_no_exact_options(const Inputs& inputs,
                              const std::function<std::string(std::string)>& places,
                              const std::string& why) {
  const double share = inputs.settings.sampling.near_share;
  const std::string remedy =
      why.empty() ? "leave it out, or sampling.ensemble = exact" : "leave it out: " + why;
  if (share != 0) {
    throw InputError(places("sampling.near-share"),
                     "only blocks of the exact ensemble have steps near the QM molecule",
                     fmt::format("{}", share), remedy);
  }
  const std::filesystem::path& reference = inputs.settings.qm.reference;
  if (!reference.empty()) {
    throw InputError(places("qm.reference"), "only the exact ensemble has a reference density",
                     reference.string(), remedy);
  }
}

}  // namespace

std::optional<SoluteReference> given_reference(const Inputs& inputs) {
  const Settings& settings = inputs.settings;
  const bool serves = inputs.system.solute && has_qm_program(settings.qm) &&
                      settings.sampling.ensemble != Ensemble::perturbative;
  if (!serves || settings.qm.reference.empty()) return {};
  return given(inputs);
}

bool samples_exactly(const Inputs& inputs) {
  return inputs.settings.sampling.ensemble == Ensemble::exact && inputs.system.solute;
}

bool exact_if_served(const Inputs& inputs) {
  if (!inputs.system.solute || !has_qm_program(inputs.settings.qm)) return false;
  const Ensemble ensemble = inputs.settings.sampling.ensemble;
  if (ensemble != Ensemble::automatic) return ensemble == Ensemble::exact;
  return obstacle_to_exactness(inputs.settings, inputs.settings.qm.engine, true).empty();
}

void check_exact_options(const Inputs& inputs, const OptionPlaces& places) {
  const Settings::QmSection& qm = inputs.settings.qm;
  const Ensemble ensemble = inputs.settings.sampling.ensemble;
  // Where auto is not exact for another reason, settle_ensemble() tells.
  if (!inputs.system.solute) {
    require_no_exact_options(inputs, places, "there is no QM molecule");
  } else if (!has_qm_program(qm)) {
    require_no_exact_options(inputs, places, fmt::format("qm.engine is {}", qm.engine));
  } else if (ensemble == Ensemble::perturbative) {
    require_no_exact_options(inputs, places, "");
  }
  if (!inputs.system.solute || ensemble == Ensemble::perturbative) return;
  if (ensemble == Ensemble::exact) check_exactness(inputs.settings, places);
  if (!has_qm_program(qm) || !qm.reference.empty()) return;
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

std::string settle_ensemble(Inputs& inputs, const std::string& engine, bool serves_exact_ensemble) {
  Ensemble& ensemble = inputs.settings.sampling.ensemble;
  if (!inputs.system.solute) return {};
  if (ensemble == Ensemble::exact && !serves_exact_ensemble) {
    throw InputError("sampling.ensemble",
                     fmt::format("the QM engine {} cannot serve the exact ensemble", engine),
                     "exact", kExactRemedy);
  }
  if (ensemble == Ensemble::perturbative) return kPerturbative;
  if (ensemble == Ensemble::automatic) {
    const std::string obstacle =
        obstacle_to_exactness(inputs.settings, engine, serves_exact_ensemble);
    ensemble = obstacle.empty() ? Ensemble::exact : Ensemble::perturbative;
    if (!obstacle.empty()) require_no_exact_options(inputs, std::identity(), obstacle);
    if (!has_qm_program(inputs.settings.qm)) {
      return fmt::format("{}: the density stays as it is, and its ensemble is sampled", obstacle);
    }
    if (!obstacle.empty()) return fmt::format("{}: {}", obstacle, kPerturbative);
  }
  if (inputs.settings.output.save_grid) {
    inputs.warnings.emplace_back(
        "output.save-grid keeps nothing: blocks of the exact ensemble have no density on a grid. "
        "Updates of sampling.ensemble = perturbative have one");
  }
  return "the exact ensemble of the QM/MM Hamiltonian is sampled: blocks of steps about a "
         "reference density, with a test after each";
}

RunReference::RunReference(const Inputs& inputs, const Interruption& interruption, bool make_here,
                           Helpers helpers, std::string name)
    : inputs_(inputs),
      interruption_(interruption),
      path_(path_in(inputs.settings.output.folder)),
      make_here_(make_here),
      helpers_(std::move(helpers)),
      name_(std::move(name)) {}

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
  SoluteReference reference;
  if (std::filesystem::exists(path_)) {
    reference = of_folder(inputs_);
  } else if (inputs_.settings.qm.reference.empty()) {
    reference = make(engine, std::move(report));
    write_reference(path_, reference);
  } else {
    reference = given(inputs_);
    spdlog::info("reference density from {}: {} components", inputs_.settings.qm.reference.string(),
                 reference.components);
    write_reference(path_, reference);
  }
  // Also that of a run which was killed before this point.
  if (make_here_) {
    std::filesystem::remove(PreparationCheckpoint::path_in(inputs_.settings.output.folder));
  }
  return reference;
}

SoluteReference RunReference::make(QmEngine& engine,
                                   std::function<void(const ProgressState&)> report) {
  team_.start(helpers_.count(), helpers_.start);
  const PreparationCheckpoint checkpoint(inputs_);
  SoluteReference reference = ReferencePreparation(inputs_, interruption_, engine, team_,
                                                   checkpoint, name_, std::move(report))
                                  .make();
  team_.dismiss();
  return reference;
}

/// What another chain makes.
std::shared_ptr<const RunReference::Shared> RunReference::await_shared(
    std::unique_lock<std::mutex>& lock, QmEngine& engine) {
  if (shared_ != nullptr) return shared_;
  lock.unlock();
  {
    std::optional<EngineTeam::Loan> loan;
    if (engine.helps_with_reference()) loan.emplace(team_, engine);
    lock.lock();
    while (shared_ == nullptr && !failed_ && !interruption_.requested()) {
      changed_.wait_for(lock, kPatience);
    }
    if (failed_) throw Cancelled();
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
  if (sought_ || !engine.helps_with_reference()) return await_shared(lock, engine);
  sought_ = true;
  lock.unlock();
  auto shared = std::make_shared<Shared>();
  try {
    shared->reference = find_or_make(engine, std::move(report));
    shared->digest = digest(shared->reference);
    shared->tables = std::make_shared<const ReferenceTables>(shared->reference);
  } catch (...) {
    lock.lock();
    failed_ = true;
    changed_.notify_all();
    throw;
  }
  lock.lock();
  shared_ = std::move(shared);
  changed_.notify_all();
  lock.unlock();
  if (when_there_) when_there_();
  return shared_;
}

}  // namespace starpmc
