#pragma once

#include <memory>
#include <optional>

#include "kernels/molecule_pairs.hpp"
#include "kernels/pair_row.hpp"
#include "kernels/potential.hpp"

/// What the SIMD kernels evaluate the user's functions with: machine code where prepare() has made
/// it, else the block evaluator.
namespace starpmc {

namespace compiled {
template <class T>
class MoleculeFunction;
}

/// Rows of grid points.
template <class T>
struct GridRows {
  PairRow<T> inside;  ///< surely inside the cutoff, and not too near
  PairRow<T> cut;
};

/// The user's functions as machine code, as far as it can be made.
struct PreparedPotential {
  std::shared_ptr<const compiled::MoleculeFunction<double>> molecules;
  /// Where Potential::mm_as_pairs.
  std::shared_ptr<const compiled::MoleculeFunction<float>> molecules_in_single;
  std::optional<GridRows<double>> grid;
  std::optional<GridRows<float>> grid_in_single;  ///< where Potential::grid_as_pairs
  std::optional<PairRow<double>> nuclei_coulomb;
  std::optional<PairRow<double>> nuclei_vdw;
};

/// @tparam T float or double
template <class T>
std::unique_ptr<MoleculePairs<T>> make_molecule_pairs(const Potential& potential);

/// Sites of molecules that a row of grid points meets at a time.
inline constexpr std::uint32_t kGridTargets = 4;

/// The Coulomb function times the points' charges (the varying input), summed over the points.
/// @tparam T float or double
template <class T>
GridRows<T> grid_rows(const Potential& potential);
/// The Coulomb function, for each source.
PairRow<double> nuclei_coulomb_row(const Potential& potential);
/// The van der Waals function with its coefficients (uniform), for each source.
PairRow<double> nuclei_vdw_row(const Potential& potential);

}  // namespace starpmc
