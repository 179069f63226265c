#include "qm/frozen_engine.hpp"

#include <fmt/format.h>

#include <numeric>
#include <string>
#include <vector>

#include "kernels/base/error.hpp"
#include "qm/result_check.hpp"

namespace starpmc {

namespace {

ResultCheck check_of(const Solute& solute, int charge) {
  QmRequest request;
  request.elements = solute.elements;
  request.positions = solute.positions;
  request.charge = charge;
  return ResultCheck(request);
}

}  // namespace

DensityGrid read_density_of(const Solute& solute, int charge, const std::filesystem::path& file) {
  DensityGrid grid = read_density_grid(file);
  const std::string problem = check_of(solute, charge).problem_of_stored(grid);
  if (problem.empty()) return grid;
  throw InputError(
      file.string(),
      fmt::format("not a density of the QM molecule {} as it lies in the "
                  "coordinates: {}",
                  solute.name, problem),
      "",
      "take for qm.grid-file the grid that a run of the same coordinates and qm.charge "
      "has saved (output.save-grid), or for system.coordinates those of that run");
}

FrozenEngine::FrozenEngine(const Solute& solute, int charge,
                           const std::filesystem::path& grid_file) {
  result_.grid = read_density_of(solute, charge, grid_file);
  const std::vector<double>& charges = result_.grid.charge;
  result_.electrons_on_grid = -std::accumulate(charges.begin(), charges.end(), 0.0);
  result_.expected_electrons = check_of(solute, charge).electrons();
  result_.converged = true;
}

QmResult FrozenEngine::update(std::span<const double>, std::span<const double>,
                              const PointCharges&) {
  return result_;
}

}  // namespace starpmc
