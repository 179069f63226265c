#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "qm/density_grid.hpp"
#include "system/geometry.hpp"

namespace starpmc {

/// What is asked of the solute's linear response to its surroundings.
struct ResponseRequest {
  int most_components = 0;  ///< 0: none, the density itself only
  /// Fewer components serve where the root mean square of (true - predicted) energy is below this.
  double tolerance_kj_per_mol = 0.25;
  int threads = 1;
  /// Configurations for measuring that width, and their energies (QmEngine::energy). Those before
  /// the first of them give the components.
  std::vector<std::uint64_t> tests = {};
  std::vector<double> energies_kj_per_mol = {};
  bool rough = false;  ///< of a density that leads to the next reference: fewer points serve
};

/// How well so many components predict the energies of the test configurations, kJ/mol.
struct ResponseWidth {
  int components = 0;
  double mean = 0;
  double width = 0;  ///< standard deviation
};

/// The density D0 and its response, as charges far from it.
struct SoluteResponse {
  int components = 0;
  std::vector<ResponseWidth> widths;
  std::vector<Vector3> points;  ///< angstrom
  /// [1 + components][points]: first the charges of D0 and the nuclei, e; then those of the
  /// response densities, sqrt(mol/kJ) kJ/mol/e over Coulomb's constant.
  std::vector<double> strengths;
  std::vector<double> mean;      ///< Y0: a component each
  std::string note;              ///< why it is not better; empty: it is as asked for
  std::vector<double> spectrum;  ///< of the response to the sampled potentials, as the worker tells
};

/// Density matrices, of D0 and of the response, in an engine's own form.
struct SharedDensity {
  std::size_t rows = 0;  ///< 1 + components
  std::vector<double> matrices;
  std::vector<double> cores;
};

/// Other engines of the same settings, which make products of the response's equations: what they
/// make has the same bits as the engine's own.
class ProductHelpers {
 public:
  virtual ~ProductHelpers() = default;
  /// How many there are.
  virtual std::size_t count() const = 0;
  /// Those that all products are of from here on, in an engine's own form.
  virtual void take_equations(std::vector<double> equations) = 0;
  /// @param vectors so many rows
  /// @return as many of the same length, or nothing: no other engine is left
  virtual std::optional<std::vector<double>> multiply(std::size_t rows,
                                                      std::vector<double> vectors) = 0;
};

/// Parts of a long piece of work that are done, and all of them.
using WorkProgress =
    std::function<void(const std::string& what, std::uint64_t done, std::uint64_t total)>;

}  // namespace starpmc
