#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/input_errors.hpp"
#include "config/option_places.hpp"
#include "config/settings.hpp"
#include "kernels/common/layout.h"
#include "kernels/pair_derivatives.hpp"
#include "kernels/potential.hpp"
#include "potential/site_parameters.hpp"
#include "system/system.hpp"

namespace starpmc {

/// The pair energies of a system: the user's functions, and the coefficients of every pair of site
/// kinds. Without functions, kinds are the atom types and coefficients the built-in four.
struct PairPotential {
  Potential functions;
  PairLayout layout{};
  std::vector<SiteKind> kinds;
  std::vector<double> pairs;  ///< 4 + layout.more values per pair of kinds, row-major
  bool by_charge = false;     ///< whether kinds of one atom type differ in charge
  std::vector<std::string> warnings;

  bool has_functions() const {
    return functions.in_mm() || functions.in_nuclei() || functions.in_grid();
  }
  /// Index of a site's kind. Atoms of the QM molecule have charge 0 here.
  std::size_t kind(std::size_t type, double charge) const;
};

/// Reads the expressions of [potential]. They are translated for r^2; what does not depend on the
/// distance becomes coefficients of each pair of kinds, computed here.
/// @param settings cutoffs resolved
/// @param places   of the options, for messages
/// @throws InputError naming the option, or the line of the table of parameters
PairPotential make_pair_potential(const System& system, const Settings& settings,
                                  const OptionPlaces& places = OptionPlaces());

/// Whether the expressions can be read; more can be wrong with them for a system's pairs of sites.
/// @param settings cutoffs resolved
/// @param errors   of each expression
bool check_expressions(const System& system, const Settings& settings, const OptionPlaces& places,
                       InputErrors& errors);

/// The same functions and the built-in ones with their derivatives, for the virial: of the kinds of
/// make_pair_potential().
PairDerivatives make_pair_derivatives(const System& system, const Settings& settings,
                                      const OptionPlaces& places = OptionPlaces());

/// Of expressions that have energies but no derivative somewhere: the virial would be nonsense.
std::vector<std::string> virial_warnings(const System& system, const Settings& settings,
                                         const OptionPlaces& places = OptionPlaces());

}  // namespace starpmc
