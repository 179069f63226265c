#include <iterator>

#include "config/option_kinds.hpp"

namespace starpmc::config {
namespace {

#define STARPMC_FIELD(member) \
  [](auto& settings) -> auto& { return settings.member; }

std::vector<Option> system_options() {
  return {
      required(input_path(
          {"system", "coordinates", "",
           "GROMACS .gro file with the box and the positions; or the output folder of a run, whose "
           "last positions are taken exactly, or a trajectory.h5md"},
          false, STARPMC_FIELD(system.coordinates))),
      optional_integer({"system", "frame", "",
                        "frame of the trajectory.h5md that coordinates names, the first being 0; "
                        "auto: the last"},
                       {0}, STARPMC_FIELD(system.frame)),
      required(input_path(
          {"system", "topology", "", "GROMACS .top file with the force field and the molecules"},
          false, STARPMC_FIELD(system.topology))),
      input_path({"system", "solute", "",
                  ".xyz or .gro file whose coordinates replace those of the QM molecule"},
                 true, STARPMC_FIELD(system.solute)),
      word({"system", "qm-molecule", "",
            "moleculetype of the topology that is treated by quantum mechanics; empty: none"},
           true, STARPMC_FIELD(system.qm_molecule)),
      defines({"system", "defines", "",
               "symbols defined for the topology's #ifdef, as NAME or NAME=VALUE"},
              STARPMC_FIELD(system.defines)),
      path_list(
          {"system", "chain-coordinates", "",
           "where further chains begin: the second with the first of these, and so on, then "
           "from system.coordinates on again; of the same kinds, with the same box and the QM "
           "molecule in the same place. Empty: all begin with system.coordinates"},
          STARPMC_FIELD(system.chain_coordinates)),
      path_list({"system", "reference-coordinates", "",
                 "where the chains begin that the reference density of the exact ensemble is made "
                 "from, in turn; files as for chain-coordinates. Empty: as the run's chains do"},
                STARPMC_FIELD(system.reference_coordinates)),
      path_list({"system", "include-folders", "",
                 "folders searched for the topology's #include before those of GROMACS"},
                STARPMC_FIELD(system.include_folders)),
      words({"system", "rigid", "",
             "moleculetypes kept rigid as the coordinates have them though the topology does not "
             "constrain them"},
            STARPMC_FIELD(system.rigid)),
  };
}

std::vector<Option> interaction_options() {
  return {
      real({"interaction", "coulomb-cutoff", "A",
            "cutoff of the shifted-force Coulomb terms; 0: half the shortest edge of the box"},
           {.minimum = 0}, STARPMC_FIELD(interaction.coulomb_cutoff_angstrom)),
      real({"interaction", "vdw-cutoff", "A",
            "cutoff of the van der Waals terms; 0: the same as coulomb-cutoff"},
           {.minimum = 0}, STARPMC_FIELD(interaction.vdw_cutoff_angstrom)),
      enumeration({"interaction", "vdw-modifier", "",
                   "what is done to the van der Waals terms at the cutoff"},
                  {"truncate", "potential-shift", "force-shift"},
                  STARPMC_FIELD(interaction.vdw_modifier)),
      enumeration({"interaction", "dispersion-correction", "",
                   "what gets the average dispersion energy that the van der Waals cutoff leaves "
                   "out: as GROMACS' DispCorr no, Ener, EnerPres"},
                  {"none", "energy", "energy-pressure"},
                  STARPMC_FIELD(interaction.dispersion_correction)),
  };
}

std::vector<Option> potential_options() {
  const std::vector<std::string> treatments{"truncate", "shift", "force-shift", "switch"};
  return {
      expression(
          {"potential", "coulomb", "1/A",
           "energy of two unit charges over the Coulomb constant, a function of r and cutoff, "
           "of all Coulomb terms and of the potential for the QM engine"},
          {"built-in", "none"}, STARPMC_FIELD(potential.coulomb)),
      expression({"potential", "mm-vdw", "kJ/mol",
                  "energy of two sites of MM molecules instead of the Lennard-Jones energy: a "
                  "function of r, cutoff and the sites' parameters"},
                 {"built-in", "none"}, STARPMC_FIELD(potential.mm_vdw)),
      expression({"potential", "qmmm-vdw", "kJ/mol",
                  "the same of a site of an MM molecule (1) and an atom of the QM molecule (2)"},
                 {"built-in", "none"}, STARPMC_FIELD(potential.qmmm_vdw)),
      expression({"potential", "mm-additional", "kJ/mol", "added to the energy of mm-vdw"}, {},
                 STARPMC_FIELD(potential.mm_additional)),
      expression({"potential", "qmmm-additional", "kJ/mol", "added to the energy of qmmm-vdw"}, {},
                 STARPMC_FIELD(potential.qmmm_additional)),
      enumeration({"potential", "treatment", "",
                   "what is done to the van der Waals expressions at interaction.vdw-cutoff"},
                  treatments, STARPMC_FIELD(potential.treatment)),
      enumeration({"potential", "coulomb-treatment", "",
                   "what is done to the expression of coulomb at interaction.coulomb-cutoff"},
                  treatments, STARPMC_FIELD(potential.coulomb_treatment)),
      real({"potential", "switch-distance", "A", "where switch begins to lead the energy to 0"},
           {.minimum = 0}, STARPMC_FIELD(potential.switch_distance_angstrom)),
      input_path({"potential", "parameters", "",
                  "table of more parameters: a line of names, the first `type`, then a line for "
                  "each atom type"},
                 true, STARPMC_FIELD(potential.parameters)),
  };
}

std::vector<Option> sampling_options() {
  return {
      real({"sampling", "temperature", "K", "temperature"}, {.minimum = 0, .minimum_open = true},
           STARPMC_FIELD(sampling.temperature_kelvin)),
      required(integer({"sampling", "steps", "steps", "Monte Carlo steps of production"}, {1},
                       STARPMC_FIELD(sampling.steps))),
      optional_integer({"sampling", "equilibration-steps", "steps",
                        "steps before production, in which the step sizes are tuned; auto: until "
                        "energies, with the solute's electrostatics, and step sizes have settled, "
                        "at most as many as steps"},
                       {0}, STARPMC_FIELD(sampling.equilibration_steps)),
      unsigned_integer({"sampling", "seed", "", "seed of the random numbers"},
                       STARPMC_FIELD(sampling.seed)),
      real({"sampling", "max-translation", "A",
            "half-edge of the cube a molecule's move is drawn from"},
           {.minimum = 0, .maximum = 100}, STARPMC_FIELD(sampling.max_translation_angstrom)),
      real({"sampling", "max-rotation", "degrees", "largest angle a molecule is turned by"},
           {.minimum = 0, .maximum = 180}, STARPMC_FIELD(sampling.max_rotation_degrees)),
      real({"sampling", "target-acceptance", "", "acceptance the step sizes are tuned towards"},
           {.minimum = 0, .maximum = 1, .minimum_open = true, .maximum_open = true},
           STARPMC_FIELD(sampling.target_acceptance)),
      real({"sampling", "near-share", "",
            "share of each block's steps that move only molecules near the QM molecule, which are "
            "what its energy depends on; the ensemble is the same"},
           {.minimum = 0, .maximum = 0.9}, STARPMC_FIELD(sampling.near_share)),
      real({"sampling", "near-shell", "A",
            "near are molecules with their centres in a sphere that is so much larger than the QM "
            "molecule"},
           {.minimum = 0, .maximum = 100}, STARPMC_FIELD(sampling.near_shell_angstrom)),
      integer(
          {"sampling", "tune-interval", "steps", "steps between two adjustments of the step sizes"},
          {1}, STARPMC_FIELD(sampling.tune_interval)),
      integer_or_auto({"sampling", "window", "steps",
                       "steps evaluated together (the chain is the same whatever it is)"},
                      {1, 1000}, STARPMC_FIELD(sampling.window)),
      boolean(
          {"sampling", "certified", "",
           "evaluate steps whose energy change is near its threshold again, exactly, so that the "
           "trajectory is the same on every device and in every precision"},
          STARPMC_FIELD(sampling.certified)),
      integer_or_auto({"sampling", "chains", "",
                       "independent chains, each with random numbers, QM worker and output of its "
                       "own; auto: one per CPU worker, as far as the memory allows"},
                      {1, 10000}, STARPMC_FIELD(sampling.chains)),
      real({"sampling", "until-error", "kJ/mol",
            "stop when the mean total energy of all chains is known to within this; 0: never"},
           {.minimum = 0}, STARPMC_FIELD(sampling.until_error_kj_per_mol)),
      enumeration({"sampling", "ensemble", "",
                   "exact: that of the QM/MM Hamiltonian, by a reference density with its linear "
                   "response and a test after each interval; perturbative: the density is replaced "
                   "after each interval, without a test (the published method); auto: exact where "
                   "the QM program serves it and an interval fits into the run"},
                  {"auto", "exact", "perturbative"}, STARPMC_FIELD(sampling.ensemble)),
  };
}

std::vector<Option> qm_engine_options() {
  return {
      choice({"qm", "engine", "",
              "program that updates the density; frozen reads it from grid-file. Without a "
              "system.qm-molecule the default is none"},
             {"pyscf", "psi4", "frozen", "none"}, STARPMC_FIELD(qm.engine)),
      integer_or_auto(
          {"qm", "interval", "steps",
           "steps between two updates of the density, so few that the mean jump of an "
           "update stays below kT/2; auto: found from the jumps during equilibration. In the exact "
           "ensemble between two tests; auto: about as many as make the solute's "
           "surroundings independent of what they were"},
          {1}, STARPMC_FIELD(qm.interval)),
      integer({"qm", "charge", "e", "charge of the QM molecule"}, {-1000, 1000},
              STARPMC_FIELD(qm.charge)),
      integer({"qm", "multiplicity", "", "spin multiplicity 2S+1 of the QM molecule"}, {1, 100},
              STARPMC_FIELD(qm.multiplicity)),
      words({"qm", "elements", "",
             "elements of atoms of the QM molecule whose names, types and masses in the topology "
             "do not tell them alike, as NAME=ELEMENT or NUMBER=ELEMENT"},
            STARPMC_FIELD(qm.elements)),
      word({"qm", "method", "", "functional or method, by the engine's name for it"}, false,
           STARPMC_FIELD(qm.method)),
      word({"qm", "basis", "", "basis set, by the engine's name for it"}, false,
           STARPMC_FIELD(qm.basis)),
      boolean({"qm", "density-fitting", "", "fit the density in the Coulomb integrals"},
              STARPMC_FIELD(qm.density_fitting)),
      choice(
          {"qm", "embedding", "",
           "how the MM charges enter the QM Hamiltonian: their potential at the quadrature points, "
           "or analytic integrals (for checks)"},
          {"quadrature", "analytic"}, STARPMC_FIELD(qm.embedding)),
      real({"qm", "energy-convergence", "Hartree",
            "change of the energy at which the SCF has converged"},
           // Less is rounding: an energy of 1,000 Hartree has 16 digits.
           {.minimum = 1e-12, .maximum = 0.01}, STARPMC_FIELD(qm.energy_convergence_hartree)),
      integer({"qm", "max-iterations", "", "most iterations of the SCF"}, {1, 100000},
              STARPMC_FIELD(qm.max_iterations)),
  };
}

std::vector<Option> qm_reference_options() {
  return {
      input_path({"qm", "reference", "",
                  "reference density of the exact ensemble, reference.h5 of another run of this "
                  "solute at this level of theory; empty: it is made at the beginning"},
                 true, STARPMC_FIELD(qm.reference)),
      integer({"qm", "configurations", "",
               "configurations of the solvent that the reference density and its response are "
               "made from"},
              {2, 100000}, STARPMC_FIELD(qm.configurations)),
      optional_integer({"qm", "response-components", "",
                        "numbers per molecule that the response of the density is represented by; "
                        "auto: as few as response-tolerance allows"},
                       {0, 1024}, STARPMC_FIELD(qm.response_components)),
      real({"qm", "response-tolerance", "kJ/mol",
            "root mean square of true less sampled energy, on configurations that the response's "
            "components were not made from, though the mean potential was, below which no more "
            "components are taken; so that few of them do not deceive, what is looked at is its "
            "upper limit at 95 % confidence"},
           {.minimum = 0}, STARPMC_FIELD(qm.response_tolerance_kj_per_mol)),
  };
}

std::vector<Option> qm_grid_options() {
  return {
      integer({"qm", "grid-radial", "", "radial shells per atom of the density grid"}, {5, 1000},
              STARPMC_FIELD(qm.grid_radial)),
      lebedev({"qm", "grid-angular", "", "angular points per shell of the density grid"},
              STARPMC_FIELD(qm.grid_angular)),
      integer({"qm", "scf-grid-radial", "", "radial shells per atom of the SCF's quadrature"},
              {5, 1000}, STARPMC_FIELD(qm.scf_grid_radial)),
      lebedev({"qm", "scf-grid-angular", "", "angular points per shell of the SCF's quadrature"},
              STARPMC_FIELD(qm.scf_grid_angular)),
      real({"qm", "charge-threshold", "e",
            "points of the density grid with less charge are dropped"},
           {.minimum = 0, .maximum = 1}, STARPMC_FIELD(qm.charge_threshold)),
      real({"qm", "electron-tolerance", "e",
            "largest deviation of the grid's charge from the number of electrons"},
           {.minimum = 0, .maximum = 1000, .minimum_open = true},
           STARPMC_FIELD(qm.electron_tolerance)),
      input_path({"qm", "grid-file", "", "density grid of the engine frozen"}, true,
                 STARPMC_FIELD(qm.grid_file)),
      real({"qm", "time-limit", "s", "longest time one update may take"},
           {.minimum = 0, .maximum = 1e7, .minimum_open = true},
           STARPMC_FIELD(qm.time_limit_seconds)),
      program_path(
          {"qm", "python", "", "Python that runs the engine; empty: the one found at build time"},
          STARPMC_FIELD(qm.python)),
      optional_integer(
          {"qm", "workers", "",
           "processes of the engine pyscf, which chains use in turn where there are "
           "more chains; auto: one for each chain, as far as there are cores, and with "
           "qm.device = gpu eight at most"},
          {1, 4096}, STARPMC_FIELD(qm.workers)),
      integer({"qm", "threads", "", "threads of the engine"}, {1, 4096}, STARPMC_FIELD(qm.threads)),
      integer({"qm", "memory", "MB", "memory the engine may use"}, {100, 100'000'000},
              STARPMC_FIELD(qm.memory_mb)),
      choice(
          {"qm", "device", "",
           "where the SCF of the engine pyscf runs; auto: on a GPU where there is one and it pays, "
           "so that the trajectory depends on the machine, to rounding"},
          {"cpu", "gpu", "auto"}, STARPMC_FIELD(qm.device)),
  };
}

std::vector<Option> run_options() {
  return {
      enumeration({"run", "precision", "",
                   "of the pair terms: all fp64; fp32 with fp64 sums; or the same with 32-bit "
                   "fixed-point coordinates"},
                  {"fp64", "mixed", "fixed"}, STARPMC_FIELD(run.precision)),
      enumeration({"run", "implementation", "", "codelet implementations StarPU may choose from"},
                  {"any", "scalar", "simd", "opencl"}, STARPMC_FIELD(run.implementation)),
      integer_or_auto(
          {"run", "grid-blocks", "",
           "blocks the density grid is cut into, each a task; auto: by StarPU's performance "
           "model, about a millisecond each on the fastest worker, and one where that is faster "
           "than all others together"},
          {1, 4096}, STARPMC_FIELD(run.grid_blocks)),
      enumeration(
          {"run", "tasks", "",
           "what a StarPU task is: an energy term of a window; several whole windows (for one fast "
           "device, or for windows that take less than a millisecond, by StarPU's performance "
           "model); or a device's part of windows that several devices share (team), which auto "
           "tries where one chain has several"},
          {"auto", "terms", "windows", "team"}, STARPMC_FIELD(run.tasks)),
  };
}

std::vector<Option> output_options() {
  return {
      output_path(
          {"output", "folder", "", "folder of the results, relative to the working directory"},
          STARPMC_FIELD(output.folder)),
      boolean({"output", "overwrite", "", "remove the results of an earlier run in that folder"},
              STARPMC_FIELD(output.overwrite)),
      integer({"output", "energy-interval", "steps", "steps between two lines of energies.csv"},
              {1}, STARPMC_FIELD(output.energy_interval)),
      integer(
          {"output", "trajectory-interval", "steps", "steps between two frames of trajectory.h5md"},
          {1}, STARPMC_FIELD(output.trajectory_interval)),
      integer({"output", "pressure-interval", "steps",
               "steps between two evaluations of the virial and the pressure, a multiple of "
               "energy-interval; 0: none"},
              {0}, STARPMC_FIELD(output.pressure_interval)),
      choice({"output", "log-level", "", "least important messages that go to run.log"},
             {"trace", "debug", "info", "warning", "error"}, STARPMC_FIELD(output.log_level)),
      boolean({"output", "save-grid", "",
               "keep the density grid of every update as grid-N.bin (not in the exact ensemble)"},
              STARPMC_FIELD(output.save_grid)),
      real({"output", "checkpoint-interval", "s",
            "longest time between two checkpoints; a QM update of more than a moment makes one, "
            "too"},
           {.minimum = 0.1, .maximum = 1e6}, STARPMC_FIELD(output.checkpoint_interval_seconds)),
      boolean({"output", "trace", "",
               "write when and where each task ran: timeline.csv, timeline.svg, paje.trace; "
               "`--trace` for short"},
              STARPMC_FIELD(output.trace)),
  };
}

std::vector<Option> profile_options() {
  return {
      input_path({"profile", "path", "",
                  ".xyz file with the images of the QM molecule, one after the other, as `starpmc "
                  "path` writes it"},
                 true, STARPMC_FIELD(profile.path)),
      path_list({"profile", "topologies", "",
                 "GROMACS .top files, one for each image, that differ in the Lennard-Jones "
                 "parameters of the QM molecule; empty: system.topology for all"},
                STARPMC_FIELD(profile.topologies)),
      real({"profile", "until-error", "kJ/mol",
            "images that the error of the free energies comes from most are sampled on until the "
            "largest is known to within this, and those with few independent samples in any case; "
            "0: each gets sampling.steps"},
           {.minimum = 0}, STARPMC_FIELD(profile.until_error_kj_per_mol)),
      integer({"profile", "most-steps", "steps",
               "steps of production that until-error may give one image; 0: ten times "
               "sampling.steps"},
              {0}, STARPMC_FIELD(profile.most_steps)),
      real({"profile", "least-overlap", "",
            "neighbours whose ensembles overlap by less, as MBAR weighs them, get an image in the "
            "middle between them; 0: none is added"},
           {.minimum = 0, .maximum = 1, .maximum_open = true},
           STARPMC_FIELD(profile.least_overlap)),
      integer({"profile", "most-added-images", "",
               "images that least-overlap may add; 0: as many as path has"},
              {0}, STARPMC_FIELD(profile.most_added_images)),
      integer(
          {"profile", "most-frames", "",
           "frames of an image, evenly spread over its production, that are evaluated under the "
           "Hamiltonians of all images; more than four for each independent one add nothing, fewer "
           "than two lose some. 0: all"},
          {0}, STARPMC_FIELD(profile.most_frames)),
  };
}

#undef STARPMC_FIELD

std::vector<Option> all_options() {
  std::vector<Option> all;
  for (auto part :
       {system_options, interaction_options, potential_options, sampling_options, qm_engine_options,
        qm_reference_options, qm_grid_options, run_options, output_options, profile_options}) {
    std::vector<Option> group = part();
    std::ranges::move(group, std::back_inserter(all));
  }
  return all;
}

}  // namespace

std::span<const Option> options() {
  static const std::vector<Option> table = all_options();
  return table;
}

}  // namespace starpmc::config
