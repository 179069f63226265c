#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <nlohmann/json_fwd.hpp>

#include "analysis/block_average.hpp"
#include "config/settings.hpp"
#include "io/run_summary.hpp"
#include "sampling/chain.hpp"

namespace starpmc {

/// When a chain's equilibration ends: after the number of steps that the user gave, or
/// (sampling.equilibration-steps = auto) once its energies and step sizes have settled, at the
/// latest after as many steps as production has.
///
/// It looks every ten sweeps (steps per MM molecule) at energies that have the same bits wherever
/// they are computed, and judges in ordinary arithmetic of fixed order: the end is a function of
/// the input and the seed only. Each of these series has to be equilibrated
/// (is_at_rest()): the energy among the MM molecules, the van der Waals energy of the QM molecule
/// with them, which follows its first shell, and the electrostatic energy of the two, of the
/// solute's charges reduced to multipoles (SoluteMultipoles). The step sizes have settled when
/// their means over the third and the last quarter differ by at most a tenth. It judges after 100
/// looks, and again each time there are a quarter more.
class EquilibrationSearch {
 public:
  /// @param molecules of MM
  EquilibrationSearch(const Settings::SamplingSection& sampling, std::size_t molecules);

  bool automatic() const { return how_ != EquilibrationEnd::given; }
  /// Steps of equilibration; none: not known yet.
  std::optional<std::uint64_t> steps() const { return steps_; }
  EquilibrationEnd how() const { return how_; }
  /// Whether the end that was found is that of a search which may go on for longer, too.
  bool depends_on_most_steps() const;
  /// The most that steps() can become.
  std::uint64_t most_steps() const { return most_; }
  /// The next step to look() at. While steps() is not known.
  std::uint64_t next_look(std::uint64_t step) const;
  /// At `step` steps, in order.
  /// @param energies       Chain::reproducible_energies()
  /// @param solute_coulomb SoluteMultipoles::energy_kj_per_mol(); 0 without a solute
  void look(std::uint64_t step, const EnergyTerms& energies, double solute_coulomb,
            const StepSizes& sizes);

  nlohmann::json state() const;
  /// Of a search with the same settings.
  void restore(const nlohmann::json& state);

 private:
  enum Series : std::size_t {
    kAmongMm,
    kSoluteVdw,
    kSoluteCoulomb,
    kTranslation,
    kRotation,
    kSeries
  };
  bool settled() const;

  std::uint64_t interval_;  ///< steps between two looks
  std::uint64_t most_;
  std::optional<std::uint64_t> steps_;
  EquilibrationEnd how_;
  std::array<BlockAverage, kSeries> series_;
  std::uint64_t next_judgement_;  ///< looks
};

}  // namespace starpmc
