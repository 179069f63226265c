#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "kernels/arguments.hpp"
#include "kernels/molecule_reach.hpp"
#include "kernels/scalar/user_terms.hpp"

namespace starpmc {

/// Energy of charged sites with every point of a grid, in exact units.
using ExactGridSum = std::uint64_t (*)(const ExactGridArguments& arguments);

/// Energy changes of single steps, in fp64 and in an arithmetic whose result has the same bits
/// wherever it is computed (src/sampling/README.md, "The same trajectory everywhere").
class ExactEnergies {
 public:
  /// @param occupied entry each slot's molecule occupies at the step asked for
  using Occupied = std::function<int(int slot)>;

  ExactEnergies(const Window& window, const Certification& certification,
                std::span<const double> lattice, ExactGridSum grid_sum);

  /// Energy change of moving the molecule in `slot` from one entry to another, but for the grid
  /// term's, in exact units.
  std::uint64_t change_of_others(int slot, int from, int to, const Occupied& occupied);
  /// The grid term's.
  std::uint64_t change_of_grid(int from, int to) const;

 private:
  /// A rigid molecule somewhere.
  struct Placed {
    int type;
    double centre[3];
    std::vector<double> sites;  ///< x, y, z of each site
  };

  Placed place_entry(int entry) const;
  Placed place_lattice(int molecule) const;
  void place_sites(const double* displacements, Placed& placed) const;
  std::uint64_t with_nuclei(const Placed& placed) const;
  std::uint64_t with_grid(const Placed& placed) const;
  std::uint64_t user_with_nucleus(double r2, double charges, int type, int nucleus_type) const;
  std::uint64_t with_molecule(const Placed& a, const Placed& b) const;
  /// False only where no pair of sites has energy: their nearest images are never nearer than the
  /// centres' less the molecules' radii.
  bool in_reach(const Placed& placed, int type, const double* centre) const;
  int slot_of(int molecule);

  const Window& window_;
  const Certification& certification_;
  std::span<const double> lattice_;
  ExactGridSum grid_sum_;
  double inverse_box_[3];
  MoleculeReach reach_;
  std::optional<scalar::UserTerms<scalar::Arithmetic::exact>> user_;
  bool user_mm_ = false;               ///< whether the user's functions are part of the MM energies
  bool user_nuclei_ = false;           ///< of those with the nuclei
  std::vector<int> slot_of_molecule_;  ///< made at the first change asked for
};

}  // namespace starpmc
