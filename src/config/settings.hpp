#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kernels/precision.hpp"

namespace starpmc {

enum class Implementation { any, scalar, simd, opencl };
/// What a StarPU task of the sampling is: one energy term of a window, or several whole windows.
enum class TaskSize { automatic, terms, windows, team };
/// What is sampled: the ensemble of the QM/MM Hamiltonian, or that of a density that is updated now
/// and then. A run settles which of them automatic is.
enum class Ensemble { automatic, exact, perturbative };
enum class VdwModifier { truncate, potential_shift, force_shift };
/// What the van der Waals energy beyond the cutoff is added to.
enum class LongRangeDispersion { none, energy, energy_pressure };
/// What is done to a user's pair function at its cutoff.
enum class CutoffTreatment { truncate, shift, force_shift, switching };

/// Everything a run can be told. One field per option of the table in options.cpp, which holds
/// units, defaults, ranges and meanings; the names are `section.key` there.
struct Settings {
  struct SystemSection {
    std::filesystem::path coordinates;
    std::optional<std::uint64_t> frame;  ///< none: the last
    /// Of further chains, in turn with `coordinates`.
    std::vector<std::filesystem::path> chain_coordinates;
    std::vector<std::filesystem::path> reference_coordinates;
    std::filesystem::path topology;
    std::filesystem::path solute;
    std::string qm_molecule;
    std::vector<std::string> defines;
    std::vector<std::filesystem::path> include_folders;
    std::vector<std::string> rigid;

    friend bool operator==(const SystemSection&, const SystemSection&) = default;
  } system;

  struct InteractionSection {
    double coulomb_cutoff_angstrom = 0;  ///< 0: half the shortest edge
    double vdw_cutoff_angstrom = 0;      ///< 0: the Coulomb cutoff
    VdwModifier vdw_modifier = VdwModifier::potential_shift;
    LongRangeDispersion dispersion_correction = LongRangeDispersion::none;

    friend bool operator==(const InteractionSection&, const InteractionSection&) = default;
  } interaction;

  struct PotentialSection {
    std::string coulomb = "built-in";  ///< built-in, none or an expression, as the next two
    std::string mm_vdw = "built-in";
    std::string qmmm_vdw = "built-in";
    std::string mm_additional;  ///< empty: none
    std::string qmmm_additional;
    CutoffTreatment treatment = CutoffTreatment::truncate;
    CutoffTreatment coulomb_treatment = CutoffTreatment::truncate;
    double switch_distance_angstrom = 0;
    std::filesystem::path parameters;

    friend bool operator==(const PotentialSection&, const PotentialSection&) = default;
  } potential;

  struct SamplingSection {
    double temperature_kelvin = 298.15;
    std::uint64_t steps = 0;  ///< production steps
    /// Before them, in which the step sizes are tuned; none: as many as it takes (auto).
    std::optional<std::uint64_t> equilibration_steps;
    std::uint64_t seed = 1;
    double max_translation_angstrom = 0.15;
    double max_rotation_degrees = 15;
    double target_acceptance = 0.4;
    double near_share = 0;
    double near_shell_angstrom = 4.5;
    std::uint64_t tune_interval = 500;
    std::uint32_t window = 0;  ///< 0: auto
    bool certified = true;
    std::uint32_t chains = 1;           ///< 0: auto
    double until_error_kj_per_mol = 0;  ///< 0: all steps are made
    Ensemble ensemble = Ensemble::automatic;

    friend bool operator==(const SamplingSection&, const SamplingSection&) = default;
  } sampling;

  struct QmSection {
    std::string engine = "pyscf";    ///< pyscf, psi4, frozen, none
    std::uint64_t interval = 10000;  ///< 0: auto
    int charge = 0;
    int multiplicity = 1;
    std::vector<std::string> elements;  ///< NAME=ELEMENT
    std::string method = "pbe";
    std::string basis = "def2-svp";
    bool density_fitting = true;
    int grid_radial = 50;
    int grid_angular = 974;
    int scf_grid_radial = 50;
    int scf_grid_angular = 194;
    std::string embedding = "quadrature";  ///< quadrature, analytic
    double charge_threshold = 1e-9;
    double electron_tolerance = 1e-3;
    std::filesystem::path grid_file;  ///< frozen engine: the density to use
    double time_limit_seconds = 3600;
    std::filesystem::path python;  ///< empty: the one found at build time
    std::optional<int> workers;    ///< none: one a chain, as far as there are cores
    int threads = 1;
    int memory_mb = 4000;
    std::string device = "cpu";  ///< auto, cpu, gpu
    double energy_convergence_hartree = 1e-8;
    int max_iterations = 100;
    std::filesystem::path reference;         ///< exact ensemble; empty: it is made
    std::uint64_t configurations = 120;      ///< that reference and response are made from
    std::optional<int> response_components;  ///< none: by the tolerance
    double response_tolerance_kj_per_mol = 0.25;

    friend bool operator==(const QmSection&, const QmSection&) = default;
  } qm;

  struct RunSection {
    Precision precision = Precision::mixed;
    Implementation implementation = Implementation::any;
    std::uint32_t grid_blocks = 0;  ///< 0: auto
    TaskSize tasks = TaskSize::automatic;

    friend bool operator==(const RunSection&, const RunSection&) = default;
  } run;

  struct OutputSection {
    std::filesystem::path folder = "starpmc-output";
    bool overwrite = false;
    std::uint64_t energy_interval = 100;
    std::uint64_t trajectory_interval = 1000;
    std::uint64_t pressure_interval = 0;  ///< 0: none
    std::string log_level = "info";
    bool save_grid = false;  ///< keep each update's density grid as grid-N.bin
    double checkpoint_interval_seconds = 60;
    bool trace = false;

    friend bool operator==(const OutputSection&, const OutputSection&) = default;
  } output;

  /// Of `starpmc profile`; a run takes no notice of it.
  struct ProfileSection {
    std::filesystem::path path;  ///< XYZ file with the images of the solute
    std::vector<std::filesystem::path>
        topologies;                       ///< one for each; empty: system.topology for all
    double until_error_kj_per_mol = 0;    ///< 0: each image gets sampling.steps
    std::uint64_t most_steps = 0;         ///< of one image; 0: ten times sampling.steps
    double least_overlap = 0.03;          ///< of neighbours; 0: no image is added
    std::uint64_t most_added_images = 0;  ///< 0: as many as the path has
    std::uint64_t most_frames = 4000;     ///< of one image, that are evaluated; 0: all

    friend bool operator==(const ProfileSection&, const ProfileSection&) = default;
  } profile;

  friend bool operator==(const Settings&, const Settings&) = default;
};

}  // namespace starpmc
