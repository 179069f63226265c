#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/block_average.hpp"
#include "analysis/ensemble.hpp"
#include "base/checked_file.hpp"
#include "io/energy_terms.hpp"

namespace starpmc {

/// What the QM program says of the configuration at the end of a block of steps.
struct BlockEnd {
  std::uint64_t step = 0;
  EnergyTerms terms;  ///< as sampled
  /// True less sampled energy, kJ/mol: of the solute and its electrostatics, all else is the same.
  double difference_kj_per_mol = 0;
  double sampled_energy_kj_per_mol = 0;  ///< total QM/MM energy
  std::array<double, 3> dipole_debye{};
  std::optional<double> polarisation_energy_kj_per_mol = {};
  int iterations = 0;
  double seconds = 0;  ///< of the SCF and its embedding

  double true_energy_kj_per_mol() const {
    return sampled_energy_kj_per_mol + difference_kj_per_mol;
  }
};

/// A block and its test. The first one has no steps: the configuration that production begins with.
struct QmBlock {
  BlockEnd end;            ///< that was proposed
  EnergyTerms mean_terms;  ///< over all its steps
  double probability = 1;
  bool accepted = true;
};

/// blocks.csv: a line per block.
class BlockTable {
 public:
  /// @param blocks that are known: of a resumed chain those of its checkpoint, which the file is
  ///               made from anew
  BlockTable(const std::filesystem::path& path, std::span<const QmBlock> blocks);
  void append(std::size_t number, const QmBlock& block);
  void close() { file_.close(); }

 private:
  CheckedFile file_;
};

nlohmann::json blocks_state(std::span<const QmBlock> blocks);
/// @throws RunError, nlohmann::json::exception where it is not one
std::vector<QmBlock> blocks_from(const nlohmann::json& state);

/// How many blocks a chain takes to forget the sampled ensemble, in which production begins, as its
/// true less sampled energies D say: until what the start still changes,
/// kT ln <exp(v exp(-2n/g))> over the blocks n that are kept, is small beside the error of a mean
/// of D; v is its variance over (kT)^2, g its inefficiency. All blocks may be accepted while D
/// hardly changes. As in src/profile/blocks.py, but of one chain: g is what it seems to be, whose
/// upper end would be far too large; and the error is that of sixteen, so that it serves their
/// mean, too.
struct Forgetting {
  std::size_t blocks = 0;
  bool enough = true;  ///< no more than a quarter was needed
};
/// @param kt kJ/mol
Forgetting forgetting(std::span<const QmBlock> blocks, double kt);
/// Of how many of so many blocks forgetting() is found: changed at every 16th to 8th of them, so
/// that a run need not ask at every test.
std::size_t blocks_of_forgetting(std::size_t blocks);

/// The first block of a chain whose end, once tested, is of the true ensemble: as many are left out
/// as it takes to accept two, and to forget; no more than a quarter.
std::size_t first_of_true_ensemble(std::uint64_t tests, std::uint64_t accepted,
                                   const Forgetting& found);

/// The same of these blocks: the first one that averages at block ends are of. @param kt kJ/mol
std::size_t first_averaged(std::span<const QmBlock> blocks, double kt);

/// Above so many kT the first order of energy_of_steps may be off by more than its error.
inline constexpr double kWidthOfFirstOrder = 0.25;

/// Shares of accepted blocks below it are low: a reference and a response that fit have far more.
inline constexpr double kLowBlockAcceptance = 0.7;

/// Whether a quarter left out does not forget the sampled ensemble. @param kt kJ/mol
bool remembers_start(std::span<const QmBlock> blocks, double kt);

/// Of one chain, over its blocks. Averages are over block ends, where a rejected block counts the
/// configuration before it again: samples of the exact ensemble from first_of_true_ensemble() on,
/// and those over steps are of the blocks that begin there.
struct BlockAverages {
  std::uint64_t blocks = 0;
  std::uint64_t accepted = 0;
  AverageEstimate difference;   ///< true less sampled energy, of all ends proposed
  double width_kj_per_mol = 0;  ///< standard deviation of that
  AverageEstimate energy;       ///< true total energy
  std::array<AverageEstimate, EnergyTerms::names.size()> terms;
  AverageEstimate dipole_debye;  ///< of its magnitude
  std::array<AverageEstimate, 3> dipole_components_debye;
  AverageEstimate polarisation_energy;  ///< count 0: not known
  /// Over all steps, which are between the sampled and the true ensemble, corrected to first order;
  /// the error is of the statistics alone.
  AverageEstimate energy_of_steps;
  std::array<AverageEstimate, EnergyTerms::names.size()> terms_of_steps;
};
/// @param kt kJ/mol
BlockAverages average_blocks(std::span<const QmBlock> blocks, double kt);

/// The true total energy at the same block ends, for the error that ends a run and for several
/// chains; with remembers_start(). @param kt kJ/mol
ChainStatistics energies_of(std::span<const QmBlock> blocks, double kt);

}  // namespace starpmc
