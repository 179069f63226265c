#include "qm/result_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "system/elements.hpp"

namespace starpmc {
namespace {

constexpr double kHartreeInKjPerMol = 2625.4996394799;
/// Sums of a million charges in another order differ by far less.
constexpr double kChargeSumTolerance = 1e-6;
/// No density reaches further from the nuclei; radial quadratures do, with points of no charge.
constexpr double kReachAngstrom = 15;
constexpr double kFarElectrons = 1e-3;
constexpr double kFarthestPointAngstrom = 1e6;
/// Energies may be as many times what a generous estimate says.
constexpr double kSafety = 10;
constexpr double kDebyePerElectronAngstrom = 4.80320471;
constexpr double kNonsense = 0.5;  ///< of the electrons: no grid is that coarse
constexpr double kMostIterations = 1e7;
constexpr double kMostSeconds = 1e9;
constexpr double kMostMegabytes = 1e9;
/// Points that stand for a density have its charge; no fit is that far off.
constexpr double kChargeOfPoints = 0.1;
/// Of a Gaussian charge of one e, narrower than any that is smooth on a lattice, kJ/mol.
constexpr double kLargestPotentialOfCharge = 1e5;
constexpr double kLargestResponse = 1e6;
/// PySCF's pruning takes as many angular points halfway to the nucleus, for the smallest grids that
/// it prunes more than were asked for.
constexpr int kPrunedAngularPoints = 86;
constexpr int kSmallestPrunedAngularPoints = 50;
constexpr double kCoreAngstrom = 0.4;

std::size_t most_angular_points(int asked) {
  const int most = asked < kSmallestPrunedAngularPoints ? 0 : kPrunedAngularPoints;
  return static_cast<std::size_t>(std::max(asked, most));
}

/// Electrons within kCoreAngstrom of a nucleus. Even of five shells per atom, the coarsest grid
/// there is, lithium has 0.8 and carbon 2.2, heavier atoms more, hydrogen 0.2; half an angstrom
/// beside there are fewer than is asked for.
double least_electrons_near(double nuclear_charge) {
  return nuclear_charge < 3 ? 0.05 : nuclear_charge < 5 ? 0.6 : 1;
}

}  // namespace

ResultCheck::ResultCheck(const QmRequest& request)
    : elements_(request.elements),
      nuclei_(request.positions),
      most_grid_points_(request.positions.size() * static_cast<std::size_t>(request.grid_radial) *
                        static_cast<std::size_t>(request.grid_angular)),
      most_quadrature_points_(request.positions.size() *
                              static_cast<std::size_t>(request.scf_grid_radial) *
                              most_angular_points(request.scf_grid_angular)) {
  for (const std::string& symbol : request.elements) {
    const Element* const element = element_by_symbol(symbol);
    const double charge = element == nullptr ? 0 : element->atomic_number;
    nuclear_charges_.push_back(charge);
    nuclear_charge_ += charge;
    // The Thomas-Fermi energy of a neutral atom is 0.77 Z^(7/3) Hartree.
    energy_scale_ += std::pow(charge, 7.0 / 3) * kHartreeInKjPerMol;
  }
  electrons_ = static_cast<int>(nuclear_charge_) - request.charge;
}

double ResultCheck::distance_to_nuclei(double x, double y, double z) const {
  double nearest = INFINITY;
  for (const Vector3& r : nuclei_) {
    nearest =
        std::min(nearest, (r.x - x) * (r.x - x) + (r.y - y) * (r.y - y) + (r.z - z) * (r.z - z));
  }
  return std::sqrt(nearest);
}

std::string ResultCheck::problem_of_points(const DensityGrid& points) const {
  if (points.size() > most_quadrature_points_) {
    return fmt::format("it announces {} quadrature points, the grid asked for has {} at most",
                       points.size(), most_quadrature_points_);
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double distance = distance_to_nuclei(points.x[i], points.y[i], points.z[i]);
    if (distance <= kFarthestPointAngstrom) continue;
    return fmt::format("its quadrature point {} is {:.3g} A from the nearest nucleus", i, distance);
  }
  return {};
}

std::string ResultCheck::problem_of_grid(const QmResult& result) const {
  const DensityGrid& grid = result.grid;
  if (grid.size() > most_grid_points_) {
    return fmt::format("its density grid has {} points, the one asked for {}", grid.size(),
                       most_grid_points_);
  }
  return problem_of_density(grid, result.electrons_on_grid);
}

std::string ResultCheck::problem_of_density(const DensityGrid& grid, double electrons) const {
  double sum = 0;
  double positive = 0;
  double far = 0;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    const double distance = distance_to_nuclei(grid.x[i], grid.y[i], grid.z[i]);
    if (!(distance <= kFarthestPointAngstrom)) {
      return fmt::format("its density point {} is {:.3g} A from the nearest nucleus", i, distance);
    }
    sum += grid.charge[i];
    positive += std::max(grid.charge[i], 0.0);
    if (distance > kReachAngstrom) far += std::abs(grid.charge[i]);
  }
  if (!(std::abs(sum + electrons) <= kChargeSumTolerance * std::max(1.0, std::abs(electrons)))) {
    return fmt::format("its density grid has {:.6g} electrons, it announces {:.6g}", -sum,
                       electrons);
  }
  // How near is near enough is the user's to say (qm.electron-tolerance): this is about nonsense.
  if (!(std::abs(electrons - electrons_) <= kNonsense * electrons_)) {
    return fmt::format("it announces {:.6g} electrons, where {} are due", electrons, electrons_);
  }
  // Some Lebedev grids have negative weights, which add up to less than that.
  if (!(positive <= electrons_)) {
    return fmt::format("its density grid has {:.6g} e of positive charge", positive);
  }
  if (!(far <= kFarElectrons)) {
    return fmt::format("{:.6g} electrons of its density grid are more than {:g} A from any nucleus",
                       far, kReachAngstrom);
  }
  return {};
}

std::string ResultCheck::problem_of_stored(const DensityGrid& grid) const {
  const double sum = -std::accumulate(grid.charge.begin(), grid.charge.end(), 0.0);
  if (std::string problem = problem_of_density(grid, sum); !problem.empty()) return problem;
  std::vector<double> near(nuclei_.size());
  Vector3 of_density;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    const Vector3 point{grid.x[i], grid.y[i], grid.z[i]};
    of_density = of_density - grid.charge[i] / sum * point;
    for (std::size_t k = 0; k < nuclei_.size(); ++k) {
      if (norm(point - nuclei_[k]) < kCoreAngstrom) near[k] -= grid.charge[i];
    }
  }
  Vector3 of_nuclei;
  for (std::size_t k = 0; k < nuclei_.size(); ++k) {
    of_nuclei = of_nuclei + nuclear_charges_[k] / nuclear_charge_ * nuclei_[k];
  }
  const double distance = norm(of_density - of_nuclei);
  for (std::size_t k = 0; k < nuclei_.size() && electrons_ > 0; ++k) {
    const double least = least_electrons_near(nuclear_charges_[k]);
    if (near[k] >= least) continue;
    return fmt::format(
        "it has {:.2g} electrons within {:g} A of nucleus {} ({} at {:.2f} {:.2f} {:.2f}), where "
        "{:g} at least are due; the centres of density and nuclei are {:.2f} A apart",
        near[k], kCoreAngstrom, k + 1, elements_[k], nuclei_[k].x, nuclei_[k].y, nuclei_[k].z,
        least, distance);
  }
  return {};
}

std::string ResultCheck::problem_of_energies(const QmResult& result,
                                             double largest_potential) const {
  const double most =
      kSafety * (energy_scale_ + (electrons_ + nuclear_charge_) * largest_potential);
  const std::pair<const char*, std::optional<double>> energies[] = {
      {"energy", result.energy_kj_per_mol},
      {"interaction_electrons", result.interaction_electrons_kj_per_mol},
      {"interaction_nuclei", result.interaction_nuclei_kj_per_mol},
      {"previous_interaction", result.previous_interaction_kj_per_mol},
      {"isolated_energy", result.isolated_energy_kj_per_mol},
      {"polarisation_energy", result.polarisation_energy_kj_per_mol}};
  for (const auto& [name, energy] : energies) {
    if (!energy || std::abs(*energy) <= most) continue;
    return fmt::format(
        "its {} is {:.6g} kJ/mol, which is more than {:.3g}: no energy of {} electrons", name,
        *energy, most, electrons_);
  }
  const double most_debye = kDebyePerElectronAngstrom * electrons_ * kReachAngstrom;
  const auto is_dipole = [&](double component) { return std::abs(component) <= most_debye; };
  if (!std::ranges::all_of(result.dipole_debye, is_dipole)) {
    return fmt::format("its dipole ({:.6g}) debye is none of {} electrons",
                       fmt::join(result.dipole_debye, ", "), electrons_);
  }
  if (result.isolated_dipole_debye &&
      !std::ranges::all_of(*result.isolated_dipole_debye, is_dipole)) {
    return fmt::format("its isolated_dipole ({:.6g}) debye is none of {} electrons",
                       fmt::join(*result.isolated_dipole_debye, ", "), electrons_);
  }
  return {};
}

std::string ResultCheck::problem_of_counts(const QmResult& result) const {
  const struct {
    const char* name;
    double value;
    double most;
  } counts[] = {{"iterations", static_cast<double>(result.iterations), kMostIterations},
                {"seconds_embedding", result.seconds_embedding, kMostSeconds},
                {"seconds_scf", result.seconds_scf, kMostSeconds},
                {"seconds_density", result.seconds_density, kMostSeconds},
                {"memory_mb", result.memory_mb, kMostMegabytes},
                {"peak_memory_mb", result.peak_memory_mb, kMostMegabytes}};
  for (const auto& count : counts) {
    if (count.value >= 0 && count.value <= count.most) continue;
    return fmt::format("its {} is {:.6g}", count.name, count.value);
  }
  return {};
}

std::string ResultCheck::problem_of(const QmResult& result, double largest_potential) const {
  std::string problem = problem_of_grid(result);
  if (problem.empty()) problem = problem_without_grid(result, largest_potential);
  return problem;
}

std::string ResultCheck::problem_without_grid(const QmResult& result,
                                              double largest_potential) const {
  std::string problem = problem_of_energies(result, largest_potential);
  if (problem.empty()) problem = problem_of_counts(result);
  return problem;
}

std::string ResultCheck::problem_of_response(const SoluteResponse& response) const {
  const std::size_t count = response.points.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Vector3& r = response.points[i];
    const double distance = distance_to_nuclei(r.x, r.y, r.z);
    if (distance <= kReachAngstrom) continue;
    return fmt::format("point {} of its response is {:.3g} A from the nearest nucleus", i,
                       distance);
  }
  const double* const strengths = response.strengths.data();
  const double charge = std::accumulate(strengths, strengths + count, 0.0);
  if (!(std::abs(charge - (nuclear_charge_ - electrons_)) <= kChargeOfPoints)) {
    return fmt::format("the points of its density have a charge of {:.6g} e, the solute {:.6g}",
                       charge, nuclear_charge_ - electrons_);
  }
  for (const ResponseWidth& width : response.widths) {
    if (width.components >= 0 && width.width >= 0) continue;
    return fmt::format("its response of {} components has a width of {:.6g} kJ/mol",
                       width.components, width.width);
  }
  return {};
}

std::string ResultCheck::problem_of_potentials(std::span<const double> values,
                                               std::size_t positions) const {
  // Of all charges in one place, spread as widely as is allowed.
  const double most = (electrons_ + nuclear_charge_) * kLargestPotentialOfCharge;
  for (std::size_t i = 0; i < positions; ++i) {
    if (std::abs(values[i]) <= most) continue;
    return fmt::format("its potential at position {} is {:.6g} kJ/mol per e, more than {:.3g}", i,
                       values[i], most);
  }
  for (std::size_t i = positions; i < values.size(); ++i) {
    if (std::abs(values[i]) <= kLargestResponse) continue;
    return fmt::format("the potential of its response at position {} is {:.6g} sqrt(kJ/mol) per e",
                       i % positions, values[i]);
  }
  return {};
}

}  // namespace starpmc
