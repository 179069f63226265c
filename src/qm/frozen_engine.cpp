#include "qm/frozen_engine.hpp"

#include <numeric>

namespace starpmc {

FrozenEngine::FrozenEngine(const std::filesystem::path& grid_file, int expected_electrons) {
  result_.grid = read_density_grid(grid_file);
  const auto& charge = result_.grid.charge;
  result_.electrons_on_grid = -std::accumulate(charge.begin(), charge.end(), 0.0);
  result_.expected_electrons = expected_electrons;
  result_.converged = true;
}

QmResult FrozenEngine::update(std::span<const double>, std::span<const double>,
                              const PointCharges&) {
  return result_;
}

}  // namespace starpmc
