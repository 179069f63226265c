#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include <nlohmann/json_fwd.hpp>

#include "analysis/block_average.hpp"

namespace starpmc {

/// One QM update.
struct QmUpdateRecord {
  std::uint64_t step = 0;  ///< Monte Carlo step it was made at
  double qm_energy_kj_per_mol = 0;
  double electrons_on_grid = 0;   ///< before small charges were dropped
  double dropped_charge = 0;      ///< elementary charges lost below the threshold
  std::uint64_t grid_points = 0;  ///< kept
  /// Embedded energy of the new density less that of the one before it, both with the present MM
  /// charges: what the electrons gain by relaxing. 0: the first, or no QM program.
  double jump_kj_per_mol = 0;
  /// Change of the electrostatic energy since the last update as it was sampled, less the same
  /// change by the QM program's own quadrature. None: the program does not tell; the jump then
  /// contains it.
  std::optional<double> sampling_error_kj_per_mol = {};
  /// Of this density with the MM charges, electrons and nuclei, by the QM program.
  std::optional<double> interaction_kj_per_mol = {};
  std::optional<double> polarisation_energy_kj_per_mol = {};
  /// About the centre of nuclear charge; none: there is no QM program.
  std::optional<std::array<double, 3>> dipole_debye = {};
  int iterations = 0;
  double seconds_embedding = 0;
  double seconds_scf = 0;
  double seconds_density = 0;
};

/// No jump is above 0 by the variational principle, but for what the SCF leaves unconverged.
inline constexpr double kLargestJumpKjPerMol = 0.02;

nlohmann::json to_json_record(const QmUpdateRecord& update);
QmUpdateRecord qm_update_from(const nlohmann::json& record);

/// Averages over the updates of production, that at its beginning included.
struct QmAverages {
  AverageEstimate dipole_debye;  ///< of its magnitude; count 0: none is known
  std::array<AverageEstimate, 3> dipole_components_debye;
  AverageEstimate polarisation_energy_kj_per_mol;  ///< count 0: none is known
  AverageEstimate jump_kj_per_mol;                 ///< the same
};
QmAverages average_updates(std::span<const QmUpdateRecord> updates,
                           std::uint64_t equilibration_steps);

}  // namespace starpmc
