#pragma once

#include <array>
#include <string_view>

namespace starpmc {

/// The five terms of the energy, kJ/mol (eq. 1 of the perturbative Monte Carlo method).
struct EnergyTerms {
  double mm_coulomb = 0;   ///< MM-MM Coulomb
  double mm_vdw = 0;       ///< MM-MM van der Waals
  double qmmm_vdw = 0;     ///< QM-MM van der Waals
  double qmmm_nuclei = 0;  ///< QM-MM Coulomb with the nuclei
  double qmmm_grid = 0;    ///< QM-MM Coulomb with the density grid

  static constexpr std::array<std::string_view, 5> names = {"mm_coulomb", "mm_vdw", "qmmm_vdw",
                                                            "qmmm_nuclei", "qmmm_grid"};

  /// In the order of `names`.
  constexpr std::array<double, 5> values() const {
    return {mm_coulomb, mm_vdw, qmmm_vdw, qmmm_nuclei, qmmm_grid};
  }
  /// With the whole solute: nuclei and electrons are large and nearly cancel.
  constexpr double qmmm_coulomb() const { return qmmm_nuclei + qmmm_grid; }
  constexpr double total() const {
    return mm_coulomb + mm_vdw + qmmm_vdw + qmmm_nuclei + qmmm_grid;
  }
};

/// Energies, and the virials of the same terms, kJ/mol.
struct VirialTerms {
  EnergyTerms energies;
  EnergyTerms virials;
};

}  // namespace starpmc
