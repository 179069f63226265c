#pragma once

#include <span>
#include <string>
#include <vector>

#include "qm/engine.hpp"

namespace starpmc {

/// Whether an answer of a QM program can be one about this solute. It knows nothing of quantum
/// chemistry: bounds are those that no calculation comes near. Each function returns what is wrong,
/// or an empty text.
class ResultCheck {
 public:
  explicit ResultCheck(const QmRequest& request);

  /// Nuclear charges less the solute's charge: workers treat all electrons.
  int electrons() const { return electrons_; }

  std::string problem_of_points(const DensityGrid& points) const;
  /// @param largest_potential the largest magnitude of the MM charges' potential that the worker
  ///                          was given, kJ/mol per elementary charge
  std::string problem_of(const QmResult& result, double largest_potential) const;
  /// The same of a result that has no density grid.
  std::string problem_without_grid(const QmResult& result, double largest_potential) const;
  /// Of a density that no worker has made for this solute: whether it lies where the nuclei are.
  std::string problem_of_stored(const DensityGrid& grid) const;
  std::string problem_of_response(const SoluteResponse& response) const;
  /// @param values QmEngine::potentials()
  std::string problem_of_potentials(std::span<const double> values, std::size_t positions) const;

 private:
  std::string problem_of_grid(const QmResult& result) const;
  std::string problem_of_density(const DensityGrid& grid, double electrons) const;
  std::string problem_of_energies(const QmResult& result, double largest_potential) const;
  std::string problem_of_counts(const QmResult& result) const;
  double distance_to_nuclei(double x, double y, double z) const;

  std::vector<std::string> elements_;
  std::vector<Vector3> nuclei_;
  std::vector<double> nuclear_charges_;
  int electrons_ = 0;
  double nuclear_charge_ = 0;
  double energy_scale_ = 0;  ///< kJ/mol: the binding energy of the electrons, at most
  std::size_t most_grid_points_;
  std::size_t most_quadrature_points_;
};

}  // namespace starpmc
