#include "potential/potential_options.hpp"

#include <fmt/format.h>

#include <string>

#include "config/value_names.hpp"
#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

using PotentialSection = Settings::PotentialSection;

bool is_expression(const std::string& replacing) {
  return replacing != kBuiltInPotential && replacing != kNoPotential;
}

/// Treatments act on expressions only; for the built-in functions there are other options.
void check_treatments(const PotentialSection& potential, const OptionPlaces& places) {
  const bool vdw = is_expression(potential.mm_vdw) || is_expression(potential.qmmm_vdw) ||
                   !potential.mm_additional.empty() || !potential.qmmm_additional.empty();
  const bool coulomb = is_expression(potential.coulomb);
  const auto refuse = [&](const char* option, const std::string& found, const char* remedy) {
    throw InputError(places(option), "there is no expression that it acts on", found, remedy);
  };
  constexpr const char* kModifier =
      "leave it out; what is done to the built-in van der Waals energy at the cutoff is "
      "interaction.vdw-modifier";
  if (potential.treatment != CutoffTreatment::truncate && !vdw) {
    refuse("potential.treatment", value_name(potential.treatment), kModifier);
  }
  if (potential.coulomb_treatment != CutoffTreatment::truncate && !coulomb) {
    refuse("potential.coulomb-treatment", value_name(potential.coulomb_treatment),
           "leave it out: the built-in Coulomb energy ends at the cutoff with its slope");
  }
  if (potential.switch_distance_angstrom != 0 && !vdw && !coulomb) {
    refuse("potential.switch-distance", fmt::format("{} A", potential.switch_distance_angstrom),
           kModifier);
  }
}

void check_switch(const Settings& settings, const OptionPlaces& places) {
  const PotentialSection& potential = settings.potential;
  const double distance = potential.switch_distance_angstrom;
  const auto check = [&](CutoffTreatment treatment, double cutoff) {
    if (treatment != CutoffTreatment::switching) return;
    const std::string place = places("potential.switch-distance");
    if (distance == 0) {
      throw InputError(place, "where switch begins is missing", "",
                       "write a distance below the cutoff");
    }
    if (distance < cutoff) return;
    throw InputError(place, "not below the cutoff", fmt::format("{} A", distance),
                     fmt::format("write less than the cutoff, {} A", cutoff));
  };
  check(potential.treatment, settings.interaction.vdw_cutoff_angstrom);
  check(potential.coulomb_treatment, settings.interaction.coulomb_cutoff_angstrom);
}

}  // namespace

void check_potential_options(const System& system, const Settings& settings,
                             const OptionPlaces& places) {
  const std::string& coulomb = settings.potential.coulomb;
  if (coulomb != kBuiltInPotential && system.solute && settings.qm.embedding == "analytic") {
    throw InputError(places("potential.coulomb"), "not known to the engine's analytic integrals",
                     coulomb, "write qm.embedding = quadrature, or coulomb = built-in");
  }
  check_treatments(settings.potential, places);
  check_switch(settings, places);
}

}  // namespace starpmc
