#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "kernels/common/energy_terms.h"

namespace starpmc {

#define STARPMC_TERM_MEMBER(constant, name, symbol, unit, title) double name = 0;
#define STARPMC_TERM_VALUE(constant, name, symbol, unit, title) name,
#define STARPMC_TERM_FROM(constant, name, symbol, unit, title) values[TERM_##constant],
#define STARPMC_TERM_NAME(constant, name, symbol, unit, title) #name,
#define STARPMC_TERM_TITLE(constant, name, symbol, unit, title) title,
#define STARPMC_TERM_UNIT(constant, name, symbol, unit, title) unit,

/// The terms of the energy, kJ/mol (eq. 1 of the perturbative Monte Carlo method), or of the
/// virial: a member for each row of the table.
struct EnergyTerms {
  STARPMC_ENERGY_TERMS(STARPMC_TERM_MEMBER)

  static constexpr std::array<std::string_view, TERMS> names = {
      STARPMC_ENERGY_TERMS(STARPMC_TERM_NAME)};
  static constexpr std::array<std::string_view, TERMS> titles = {
      STARPMC_ENERGY_TERMS(STARPMC_TERM_TITLE)};
  static constexpr std::array<std::string_view, TERMS> units = {
      STARPMC_ENERGY_TERMS(STARPMC_TERM_UNIT)};

  /// How many of them a run has, from the first on.
  /// @param reference whether it has a fixed one, to which the response's terms belong
  static constexpr std::size_t count(bool reference) {
    return reference ? TERMS : TERMS - RESPONSE_TERMS;
  }

  /// @param values indexed by TERM_...
  template <class Values>
  static constexpr EnergyTerms of(const Values& values) {
    return {STARPMC_ENERGY_TERMS(STARPMC_TERM_FROM)};
  }
  /// In the order of `names`.
  constexpr std::array<double, TERMS> values() const {
    return {STARPMC_ENERGY_TERMS(STARPMC_TERM_VALUE)};
  }
  /// With the whole solute: nuclei and electrons are large and nearly cancel.
  constexpr double qmmm_coulomb() const { return qmmm_nuclei + qmmm_grid; }
  constexpr double total() const {
    double sum = 0;
    for (const double value : values()) sum += value;
    return sum;
  }

  friend constexpr EnergyTerms operator+(const EnergyTerms& a, const EnergyTerms& b) {
    std::array<double, TERMS> sum = a.values();
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += b.values()[i];
    return of(sum);
  }
  friend constexpr EnergyTerms operator-(const EnergyTerms& a, const EnergyTerms& b) {
    std::array<double, TERMS> difference = a.values();
    for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= b.values()[i];
    return of(difference);
  }
};

#undef STARPMC_TERM_MEMBER
#undef STARPMC_TERM_VALUE
#undef STARPMC_TERM_FROM
#undef STARPMC_TERM_NAME
#undef STARPMC_TERM_TITLE
#undef STARPMC_TERM_UNIT

/// Energies, and the virials of the same terms, kJ/mol.
struct VirialTerms {
  EnergyTerms energies;
  EnergyTerms virials;
};

}  // namespace starpmc
