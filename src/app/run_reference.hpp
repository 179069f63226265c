#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "app/engine_team.hpp"
#include "app/inputs.hpp"
#include "app/interruption.hpp"
#include "io/progress.hpp"
#include "qm/engine.hpp"
#include "qm/solute_reference.hpp"

namespace starpmc {

class ReferenceTables;

/// What is wrong with the options of the exact ensemble by themselves.
/// @throws InputError naming the option
void check_exact_options(const Inputs& inputs, const OptionPlaces& places);

/// Settles what sampling.ensemble = auto is: exact wherever it can be.
/// @param engine                of the run, by its name
/// @param serves_exact_ensemble whether it does
/// @return which ensemble is sampled and why, for the log; empty without a QM molecule
/// @throws InputError where exact was asked for and the engine does not serve it
std::string settle_ensemble(Inputs& inputs, const std::string& engine, bool serves_exact_ensemble);

/// Whether the run samples the exact ensemble, once that is settled.
bool samples_exactly(const Inputs& inputs);
/// Whether it will, as soon as an engine says that it serves it: what is known before
/// settle_ensemble().
bool exact_if_served(const Inputs& inputs);

/// What qm.reference holds, where a run would sample about it: not where a run would be
/// perturbative or without a QM program.
/// @throws InputError where it cannot be used
std::optional<SoluteReference> given_reference(const Inputs& inputs);

/// The reference density that all chains of a run share. One chain makes it, or reads
/// qm.reference, and it lies in the run's folder from then on; the other chains, of other
/// processes, too, wait for that.
class RunReference {
 public:
  struct Shared {
    SoluteReference reference;
    std::string digest;
    std::shared_ptr<const ReferenceTables> tables;
  };

  /// Further QM programs that help with it.
  struct Helpers {
    EngineTeam::Start start;
    std::function<unsigned()> count;  ///< asked for when the making begins
  };

  /// @param make_here where there is none: by the first chain of this process, while the QM
  /// programs
  ///                  of the others help; otherwise another process makes it
  /// @param name of it in the log
  RunReference(const Inputs& inputs, const Interruption& interruption, bool make_here,
               Helpers helpers, std::string name = "reference");

  /// Whether the file that there is can be used, before anything is written.
  /// @param resumed whether the run's folder may hold it
  /// @throws InputError
  static void check(const Inputs& inputs, bool resumed);

  /// Called by the chain that has made it, or read it, when it is there; to be said before.
  void when_there(std::function<void()> call) { when_there_ = std::move(call); }

  /// @param engine of the chain
  /// @param report of the making
  /// @throws InputError where it is another solute's, cut or damaged; Cancelled where the run is
  ///         interrupted meanwhile, or another engine failed in making it; what making it throws
  std::shared_ptr<const Shared> get(QmEngine& engine,
                                    std::function<void(const ProgressState&)> report);

  /// reference.h5 of a run.
  static std::filesystem::path path_in(const std::filesystem::path& folder);

 private:
  SoluteReference find_or_make(QmEngine& engine, std::function<void(const ProgressState&)> report);
  SoluteReference make(QmEngine& engine, std::function<void(const ProgressState&)> report);
  void await_file() const;
  std::shared_ptr<const Shared> await_shared(std::unique_lock<std::mutex>& lock, QmEngine& engine);

  const Inputs& inputs_;
  const Interruption& interruption_;
  std::filesystem::path path_;
  bool make_here_;
  Helpers helpers_;
  std::string name_;
  EngineTeam team_;
  std::function<void()> when_there_;
  std::mutex mutex_;  ///< of what follows
  std::condition_variable changed_;
  bool sought_ = false;
  bool failed_ = false;
  std::shared_ptr<const Shared> shared_;
};

}  // namespace starpmc
