#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "qm/density_grid.hpp"
#include "qm/errors.hpp"
#include "qm/solute_response.hpp"
#include "system/system.hpp"

namespace starpmc {

/// What an engine needs to know before its first update. Angstrom and elementary charges; the
/// workers convert to bohr at their own boundary.
struct QmRequest {
  std::vector<std::string> elements;
  std::vector<Vector3> positions;
  int charge = 0;
  int multiplicity = 1;
  std::string method = "pbe";
  std::string basis = "def2-svp";
  bool density_fitting = true;
  int grid_radial = 50;    ///< density grid: Mura-Knowles shells per atom
  int grid_angular = 974;  ///< density grid: Lebedev points per shell
  /// Whether the density on this grid is asked for; if not, an engine that serves the exact
  /// ensemble may keep none, or a smaller one.
  bool grid_needed = true;
  int scf_grid_radial = 50;  ///< quadrature of functional and embedding
  int scf_grid_angular = 194;
  double energy_convergence_hartree = 1e-8;
  int max_iterations = 100;
  bool analytic_embedding = false;
  int threads = 1;
  int memory_mb = 4000;
  std::string device = "cpu";   ///< auto, cpu, gpu
  unsigned device_workers = 1;  ///< of this run that may come to share the devices
  unsigned device_number = 0;   ///< which of them, counted round
  bool device_required = true;  ///< false: the CPU where the device of `gpu` has gone
};

/// The MM charges of an update: those near the solute enter the SCF by analytic integrals for the
/// 1/r part of their potential, all of them with QmRequest::analytic_embedding.
struct PointCharges {
  std::vector<Vector3> positions;  ///< angstrom, wrapped to the image nearest the solute
  std::vector<double> charges;     ///< elementary charges
  /// Coefficient of the 1/r part of the potential: Potential::coulomb_pole. 0: it has none.
  double coulomb_pole = 0;
  Vector3 box = {};  ///< edges, angstrom; 0: no periodic images
};

/// What an update returns.
struct QmResult {
  double energy_kj_per_mol =
      0;             ///< embedded energy: QM + QM/MM electrostatics (electrons and nuclei)
  DensityGrid grid;  ///< charge = -w rho
  double electrons_on_grid = 0;  ///< -sum of charges, before any point is dropped
  int expected_electrons = 0;
  int iterations = 0;
  bool converged = false;
  double dipole_debye[3] = {0, 0, 0};  ///< about the solute's nuclear-charge centre
  double seconds_embedding = 0;
  double seconds_scf = 0;
  double seconds_density = 0;
  double memory_mb = 0;       ///< the worker's resident set
  double peak_memory_mb = 0;  ///< the largest so far; 0: the worker does not say
  std::string fallback;       ///< what the SCF needed to converge; empty: it went as usual

  // What the engine does not say is absent. All of one V, the SCF's own matrix of this update's
  // potential, so that they and the energy are of one energy function.
  std::optional<double> interaction_electrons_kj_per_mol;  ///< Tr(D V)
  std::optional<double> interaction_nuclei_kj_per_mol;     ///< sum over nuclei of Z phi
  /// Tr(D' V) + sum Z phi with D' the density of the update before: absent at the first.
  std::optional<double> previous_interaction_kj_per_mol;
  std::optional<double> isolated_energy_kj_per_mol;  ///< the solute in vacuum; constant
  std::optional<std::array<double, 3>> isolated_dipole_debye;
  /// Embedded energy less that of the isolated solute's density in the same potential: the gain by
  /// polarisation, at most 0.
  std::optional<double> polarisation_energy_kj_per_mol;

  /// Electrons and nuclei.
  std::optional<double> interaction_kj_per_mol() const {
    if (!interaction_electrons_kj_per_mol || !interaction_nuclei_kj_per_mol) return std::nullopt;
    return *interaction_electrons_kj_per_mol + *interaction_nuclei_kj_per_mol;
  }
};

/// A configuration's potential in an engine's own form: numbers for engines of the same settings.
struct Embedding {
  std::vector<double> numbers;
  double largest_potential = 0;  ///< magnitude, kJ/mol per e
};

/// The density in the mean potential of the configurations that the engine keeps.
struct ReferenceDensity {
  QmResult scf;  ///< without a grid; its energy contains the interaction with the mean potential
  double solute_energy_kj_per_mol = 0;  ///< E_QM[D0]: without that interaction
};

/// What a QM program expects of the calculation ahead; estimates, good to a factor of three.
struct QmForecast {
  int basis_functions = 0;
  double memory_mb = 0;       ///< largest resident set
  double first_seconds = 0;   ///< until it is ready: grids, integrals, the isolated solute's SCF
  double update_seconds = 0;  ///< of one update
  bool exact = false;         ///< QmEngine::serves_exact_ensemble() of what is about to start
  std::string device = {};    ///< QmEngine::device() of what is about to start
  bool repeatable = true;     ///< the same bits each time; else the last digits depend on timing
};

/// By which of its quadratures an engine embeds a configuration.
enum class Quadrature {
  fine,   ///< as its SCF does in update()
  coarse  ///< on fewer points, where the energy of that configuration does not count
};

/// A QM program that keeps its density from update to update (one per chain). All but cancel() is
/// called by one thread at a time.
class QmEngine {
 public:
  virtual ~QmEngine() = default;
  /// Positions (angstrom) at which update() expects the potential: the engine's quadrature points.
  /// Empty for a frozen engine. Shape: x, y, z arrays of equal length.
  virtual const DensityGrid& quadrature_points() const = 0;
  /// Those of Quadrature::coarse; of an engine without one quadrature_points().
  virtual const DensityGrid& coarse_points() const { return quadrature_points(); }
  /// @param potential        potential of the MM charges, kJ/mol per elementary charge, at
  ///                         quadrature_points()
  /// @param nuclear_potential the same at the solute's nuclei, in their order
  /// @throws RunError with the worker's last lines when it dies, hangs or does not converge;
  ///         Cancelled after cancel()
  virtual QmResult update(std::span<const double> potential,
                          std::span<const double> nuclear_potential,
                          const PointCharges& charges) = 0;

  /// What the exact ensemble needs (sampling.ensemble = exact): whether the engine can do what
  /// follows. Others throw RunError naming the engine.
  virtual bool serves_exact_ensemble() const { return false; }
  /// Whether what follows can be asked of this one, and not only of others of its settings.
  virtual bool helps_with_reference() const { return true; }
  /// A configuration's potential as the SCF takes it. The same bits by any engine of the same
  /// settings; changes nothing.
  /// @param potential at the quadrature's points; all else as to update()
  virtual Embedding embedding(std::span<const double> potential,
                              std::span<const double> nuclear_potential,
                              const PointCharges& charges, Quadrature quadrature);
  /// Keeps a configuration, of this engine or another. @return how many it keeps now
  virtual std::uint64_t add_configuration(const Embedding& embedding);
  /// Drops the configurations, not the density.
  virtual void forget_configurations();
  /// SCF in the mean potential of the configurations, from the last density.
  /// @param threads for what follows the SCF; its result has the same bits for any number
  virtual ReferenceDensity reference(int threads);
  /// The linear response of the present density to what the configurations differ in.
  /// @param progress may be empty
  /// @param helpers  make a part of it where that is worth it; null: there are none
  virtual SoluteResponse response(const ResponseRequest& request, const WorkProgress& progress,
                                  ProductHelpers* helpers);
  /// What another engine's response tells its helpers; multiply() is by them until configurations
  /// are forgotten, or there is another reference or adopted density.
  virtual void take_equations(std::span<const double> equations);
  /// The equations' matrix times one vector. The same bits as the engine's that makes the response.
  virtual std::vector<double> multiply(std::span<const double> vector);
  /// Potentials of the density, its nuclei included, and of the response's components, by the plain
  /// 1/r law, smooth inside the solute: [1 + components][positions]; kJ/mol per e, then
  /// sqrt(kJ/mol) per e.
  virtual std::vector<double> potentials(std::span<const Vector3> positions);
  /// The energy of a configuration that the engine keeps, by an SCF from the density held.
  /// @param configuration as they were added, from 0 on
  virtual double energy(std::uint64_t configuration);
  /// What potentials() of another engine of the same settings needs to be this engine's.
  virtual SharedDensity shared_density();
  /// potentials() is about this from here on, until configurations are forgotten or there is
  /// another state or reference. The same bits as the one that shares it.
  virtual void adopt(const SharedDensity& density);
  /// From here on every update starts from the present density, so that its result is a function of
  /// the configuration alone.
  virtual void hold_density();

  /// What the result of the next update depends on besides its arguments: for an SCF its last
  /// density. Opaque numbers, which mean something to an engine of the same settings only. Empty:
  /// no update yet, or the engine has none.
  virtual std::vector<double> state() const { return {}; }
  /// Goes on from a state(), of this engine or of another of the same settings; empty: afresh.
  /// @throws RunError naming the engine when it has no state, or when `state` does not fit
  virtual void restore(std::span<const double> state);

  /// From any thread, and for good: an update() in progress ends with Cancelled in less than a
  /// second, with the worker killed; later ones do so at once.
  virtual void cancel() noexcept {}

  virtual int basis_functions() const { return 0; }  ///< 0: it has none
  virtual std::string name() const = 0;              ///< "pyscf", ...
  virtual std::string version() const = 0;           ///< of the QM program
  /// Where its SCF runs, "CPU" or a GPU's name, as chosen when it started; empty: it does not say.
  virtual std::string device() const { return {}; }
  /// What the QM program has said so far (its standard error), where that is kept in memory.
  virtual std::string log() const { return {}; }
  /// How often the QM program had to be started again. From any thread.
  virtual unsigned restarts() const { return 0; }
};

}  // namespace starpmc
