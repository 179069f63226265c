#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "app/inputs.hpp"
#include "app/interruption.hpp"
#include "app/move_sample.hpp"
#include "app/preparation_chains.hpp"
#include "app/preparation_checkpoint.hpp"
#include "app/reference_lattices.hpp"
#include "io/progress.hpp"
#include "qm/solute_reference.hpp"
#include "sampling/chain.hpp"

namespace starpmc {

/// As many as can be told from so many configurations, some of which are kept for tests.
int most_response_components(std::uint64_t configurations);

/// Those of so many that are kept for tests, by increasing number: spread over the ones held out,
/// as each is like its neighbours.
std::vector<std::uint64_t> test_configurations(std::uint64_t configurations);

/// What a reference of this solute at this level of theory is called by.
ReferenceIdentity reference_identity(const System& system, const Settings& settings);

/// Finds the reference density of a run: the one in the mean potential of the solvent that its own
/// sampled Hamiltonian gives. Chains of its own, whose steps are a function of input and seed,
/// are sampled in rounds: each gives a mean potential, an SCF in it, and the next round's
/// Hamiltonian, until two rounds agree. The last round's configurations give the response.
/// After each round it is kept where it is, and one that was killed goes on from there.
class ReferencePreparation {
 public:
  /// @param engine that finds the density and its response
  /// @param team   shares in what is independent
  /// @param checkpoint where it goes on from, and is kept
  /// @param name   of what is made, in the log
  /// @param report told how far it has come
  ReferencePreparation(const Inputs& inputs, const Interruption& interruption, QmEngine& engine,
                       EngineTeam& team, const PreparationCheckpoint& checkpoint, std::string name,
                       std::function<void(const ProgressState&)> report);

  /// @throws Cancelled where the run is interrupted; RunError, InputError as the engine
  SoluteReference make();

 private:
  /// What rounds are compared by.
  struct Round {
    std::array<double, 3> dipole_debye;
    double solute_energy_kj_per_mol;
  };
  bool agree(const Round& one, const Round& other) const;

  void find_density();
  Round make_density(std::uint64_t configurations, Quadrature of_last);
  Round find_in_mean(std::uint64_t configurations);
  void warn_of_disagreement() const;
  void keep(int round, bool settled);
  Round go_on_from(PreparationState state);
  void make_tables(Fineness fineness, int most_components);
  void sample_configurations(std::uint64_t configurations, Quadrature of_last);
  std::vector<double> energies_of_tests();
  void sample_with_density();
  int threads() const;
  void tell(const std::string& phase, std::uint64_t done, std::uint64_t total);

  const Inputs& inputs_;
  const Interruption& interruption_;
  QmEngine& engine_;
  EngineTeam& team_;
  const PreparationCheckpoint& checkpoint_;
  std::string name_;
  std::function<void(const ProgressState&)> report_;
  std::uint64_t sweep_;
  Settings settings_;  ///< of the chains
  PreparationChains chains_;
  std::vector<std::uint64_t> tests_;   ///< of the configurations that the engine keeps
  std::vector<Embedding> embeddings_;  ///< of the last configurations
  MoveSample moves_;                   ///< of the configurations that the engine keeps
  SoluteReference reference_;
  std::vector<double> state_before_;  ///< the engine's, before the last SCF
  nlohmann::json kept_chains_;        ///< that the chains go on from at their next reference
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double seconds_before_ = 0;  ///< until it was killed
};

}  // namespace starpmc
