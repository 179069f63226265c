#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/block_average.hpp"
#include "analysis/ensemble.hpp"
#include "analysis/equilibration.hpp"
#include "io/energy_terms.hpp"
#include "io/qm_blocks.hpp"
#include "io/qm_updates.hpp"
#include "qm/solute_reference.hpp"

namespace starpmc {

/// Averages over production of each term and of the total, kJ/mol, and of the pressure.
struct EnergyAverages {
  std::array<AverageEstimate, EnergyTerms::names.size()>
      terms;                     ///< in the order of EnergyTerms::names
  AverageEstimate qmmm_coulomb;  ///< nuclei and electrons together
  AverageEstimate solute;        ///< ChainSummary::final_solute_energy_kj_per_mol
  AverageEstimate total;         ///< the QM/MM energy
  AverageEstimate pressure_bar;  ///< count 0: none was asked for
};

/// Time spent in one implementation of one codelet.
struct CodeletTiming {
  std::string codelet;
  std::string implementation;  ///< scalar, simd, opencl, ...
  std::uint64_t count = 0;
  double total_seconds = 0;

  double mean_microseconds() const {
    return count == 0 ? 0 : 1e6 * total_seconds / static_cast<double>(count);
  }
};

/// Steps whose energy change was near its threshold, evaluated again exactly.
struct CertifiedDecisions {
  bool active = false;
  double bound_kj_per_mol = 0;
  std::uint64_t steps = 0;  ///< equilibration included
  double largest_error_in_bounds = 0;
};

/// What a StarPU worker did; the rest of the run's time it was idle.
struct WorkerTasks {
  std::string worker;  ///< StarPU's name of it
  std::uint64_t tasks = 0;
  double qm_seconds = 0;
  double sampling_seconds = 0;
  double waited_for_data_seconds = 0;  ///< while it had no task
  double without_tasks_seconds = 0;    ///< no worker had one: there was nothing to do
};

/// How well the tasks were spread over the workers.
struct Schedule {
  double area_bound_seconds = 0;   ///< had all workers shared them out without any gap
  double chain_bound_seconds = 0;  ///< of a chain's tasks that wait for each other
  std::uint64_t bytes_moved = 0;   ///< between memories
  std::uint64_t moves = 0;

  /// No schedule takes less, by the performance models.
  double bound_seconds() const { return std::max(area_bound_seconds, chain_bound_seconds); }
};

/// What ended a chain's equilibration.
enum class EquilibrationEnd {
  given,        ///< the number of steps that the user asked for
  settled,      ///< found: energies and step sizes have settled
  not_settled,  ///< they had not within the most steps that were allowed
};

/// How far a chain's molecules came in its production.
struct Movement {
  /// Root of the mean square, between the positions at its beginning and its end by the nearest
  /// image.
  double displacement_angstrom = 0;
  double size_angstrom = 0;  ///< mean of the molecules, at least 1
  std::uint64_t molecules = 0;
  std::uint64_t never_moved = 0;  ///< of them: those that are where they were
};

/// One chain's results.
struct ChainSummary {
  std::uint64_t equilibration_steps = 0;
  EquilibrationEnd equilibration_end = EquilibrationEnd::given;
  std::uint64_t steps = 0;    ///< production
  double acceptance = 0;      ///< production
  bool reference = false;     ///< whether it has a fixed one, and the response's terms with it
  TableError table_error;     ///< of the reference
  TableError response_error;  ///< of its response
  EnergyAverages averages;
  EnergyTerms final_energies;  ///< recomputed
  /// The solute's own energy, which all electrostatics with the MM molecules is not part of;
  /// constant between updates.
  double final_solute_energy_kj_per_mol = 0;
  double dispersion_correction_kj_per_mol = 0;  ///< part of every total energy
  /// The zero of the QM/MM energy; none: the QM program's own.
  std::optional<double> isolated_energy_kj_per_mol;
  std::optional<std::array<double, 3>> isolated_dipole_debye;
  EnergyTerms drift;  ///< accumulated - recomputed, kJ/mol, at the end
  double final_max_translation_angstrom = 0;
  double final_max_rotation_degrees = 0;
  std::optional<Movement> movement;  ///< none: not known

  std::vector<QmUpdateRecord> qm_updates;
  std::vector<QmBlock> blocks;          ///< of the exact ensemble
  int response_components = 0;          ///< of its reference
  std::uint64_t qm_interval_steps = 0;  ///< of production; 0: no updates
  unsigned qm_restarts = 0;             ///< of a worker that was lost
  CertifiedDecisions certified;
  std::string decisions_sha256;
  std::string final_coordinates_sha256;
};

/// Everything summary.json says about a run.
struct RunSummary {
  std::string title;
  std::filesystem::path output_folder;
  std::vector<ChainSummary> chains;
  EnsembleEstimate total_energy;  ///< kJ/mol, over all chains
  EnsembleEstimate pressure_bar;  ///< the same; count 0: none
  /// Of the total energy, kJ/mol, per chain; empty: not known.
  std::vector<Equilibration> equilibrations;
  std::vector<std::string> warnings;  ///< of the input, and of the results
  double until_error_kj_per_mol = 0;  ///< sampling.until-error
  bool energy_known = false;          ///< to within that

  std::vector<CodeletTiming> codelet_timings;
  std::vector<WorkerTasks> worker_tasks;
  Schedule schedule;
  double steps_per_second = 0;  ///< of all chains, equilibration included, per wall second
  double wall_seconds = 0;      ///< of the chains, in this process where it was resumed
  double startup_seconds = 0;   ///< from the start of the process to that of the chains
  double total_seconds = 0;     ///< since the start of the process

  std::uint64_t seed = 0;
  double temperature_kelvin = 0;
  std::string precision;

  std::string starpmc_version;
  std::string starpu_version;
  std::string hdf5_version;
  std::string qm_engine;  ///< empty: none
  std::string qm_engine_version;
  std::string qm_device;  ///< QmEngine::device()
};

/// Where the total energy is 0, MM molecules apart from each other and from the solute.
enum class EnergyZero {
  no_solute,
  stored_density,   ///< whatever the energy of that is: frozen
  isolated_solute,  ///< as it is without MM molecules
  qm_program,       ///< its own, which does not know the isolated solute's energy
};
EnergyZero energy_zero(const RunSummary& summary);

/// Of the run's wall time.
struct WorkerShares {
  double qm;
  double sampling;
  double idle;
  double data;        ///< of the idle time: waiting for data
  double dependency;  ///< of it: other tasks were under way, of which it had none
  double nothing;     ///< of it: no task was under way
};
WorkerShares shares_of(const WorkerTasks& worker, double wall_seconds);

/// One chain's results lie at the top, those of more in "chains".
void to_json(nlohmann::json& document, const RunSummary& summary);

/// The steps of a chain's production that its mean total energy is of: all, or in the exact
/// ensemble those of the blocks that are not left out.
struct StepsOfEnergy {
  double first = 0;
  double count = 0;
};
StepsOfEnergy steps_of_energy(const ChainSummary& chain, double temperature_kelvin);
/// Steps of production after which a chain's total energy has relaxed. @param summary with
/// equilibrations
double equilibrated_after(const RunSummary& summary, std::size_t chain);
/// The mean of all chains without what is better left out of each. @param summary with
/// equilibrations
double mean_total_energy_equilibrated(const RunSummary& summary);

/// Version of the HDF5 library in use, "1.10.8".
std::string hdf5_library_version();

/// Of all chains: the magnitude of the dipole, debye, and the gain by polarisation, kJ/mol; count
/// 0: not known.
struct QmEnsemble {
  EnsembleEstimate dipole_debye;
  EnsembleEstimate polarisation_energy_kj_per_mol;
  EnsembleEstimate jump_kj_per_mol;
};
QmEnsemble average_updates(const RunSummary& summary);
/// The same of one chain. In the exact ensemble of the ends of its blocks, without jumps.
QmAverages average_updates(const ChainSummary& chain, double temperature_kelvin);

/// Whether the run's averages are over the ends of blocks of the exact ensemble.
bool is_exact(const RunSummary& summary);

/// Of a chain's blocks, for summary.json.
nlohmann::json blocks_json(const ChainSummary& chain, double temperature_kelvin);
/// The same for the terminal.
std::string block_lines(const ChainSummary& chain, double temperature_kelvin);
/// A mean and its error with digits down to the error's second, right-aligned as in a table.
std::string with_error(const AverageEstimate& average);
/// The same of all chains, in a line.
std::string with_error(const EnsembleEstimate& estimate, std::string_view unit);
nlohmann::json average_json(const AverageEstimate& average);

/// A short table for the terminal: averages and their errors, acceptance, QM updates, drift, speed
/// and where the results lie.
std::string result_table(const RunSummary& summary);

}  // namespace starpmc
