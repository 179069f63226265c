#include "potential/dispersion_correction.hpp"

#include <cmath>
#include <numbers>
#include <vector>

#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

constexpr const char* kOption = "interaction.dispersion-correction";

void refuse_expressions(const Settings::PotentialSection& potential, const OptionPlaces& places) {
  const auto refuse = [&](const std::string& value) {
    throw InputError(places(kOption),
                     "the correction is of Lennard-Jones energies, and [potential] has another",
                     value, "write none, and add what the expressions lack to the results");
  };
  for (const std::string& function : {potential.mm_vdw, potential.qmmm_vdw}) {
    if (function != "built-in") refuse(function);
  }
  for (const std::string& function : {potential.mm_additional, potential.qmmm_additional}) {
    if (!function.empty()) refuse(function);
  }
}

/// Sites of each type.
using Counts = std::vector<double>;

/// Sum of C6 over the pairs of a_i b_j sites.
double sum_of_c6(const ForceField& force_field, const Counts& a, const Counts& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == 0) continue;
    for (std::size_t j = 0; j < b.size(); ++j) {
      if (b[j] != 0) sum += a[i] * b[j] * force_field.pair(i, j).c6;
    }
  }
  return sum;
}

/// Sites of a system, and the averages over its pairs.
class Composition {
 public:
  explicit Composition(const System& system)
      : force_field_(system.force_field), all_(system.force_field.type_count()) {
    std::vector<double> molecules(system.molecule_types.size());
    for (const Molecule& molecule : system.molecules) molecules[molecule.type] += 1;
    for (std::size_t type = 0; type < molecules.size(); ++type) {
      Counts counts(all_.size());
      for (const Site& site : system.molecule_types[type].sites) counts[site.type] += 1;
      add(counts, molecules[type]);
    }
    if (!system.solute) return;
    Counts counts(all_.size());
    for (const std::size_t type : system.solute->types) counts[type] += 1;
    add(counts, 1);
  }

  double sites() const { return sites_; }
  double average_c6() const {
    const double pairs = sites_ * sites_ - pairs_within_;
    return pairs > 0 ? (sum_of_c6(force_field_, all_, all_) - c6_within_) / pairs : 0;
  }

 private:
  void add(const Counts& of_one, double molecules) {
    double sites = 0;
    for (std::size_t i = 0; i < of_one.size(); ++i) {
      all_[i] += molecules * of_one[i];
      sites += of_one[i];
    }
    sites_ += molecules * sites;
    pairs_within_ += molecules * sites * sites;
    c6_within_ += molecules * sum_of_c6(force_field_, of_one, of_one);
  }

  const ForceField& force_field_;
  Counts all_;
  double sites_ = 0;
  double pairs_within_ = 0;  ///< ordered, and every site with itself
  double c6_within_ = 0;     ///< over those
};

/// Of the header's table: I rc^3, d(0) rc^6, J rc^3.
struct Integrals {
  double energy;
  double self;
  double virial;
};

Integrals integrals(VdwModifier modifier) {
  constexpr double kPi = std::numbers::pi;
  switch (modifier) {
    case VdwModifier::truncate:
      break;
    case VdwModifier::potential_shift:
      return {-8 * kPi / 3, 1, -8 * kPi};
    case VdwModifier::force_shift:
      return {-14 * kPi / 3, 7, -14 * kPi};
  }
  return {-4 * kPi / 3, 0, -8 * kPi};
}

}  // namespace

DispersionCorrection dispersion_correction(const System& system, const Settings& settings,
                                           const OptionPlaces& places) {
  const LongRangeDispersion wanted = settings.interaction.dispersion_correction;
  if (wanted == LongRangeDispersion::none) return {};
  refuse_expressions(settings.potential, places);
  const Composition composition(system);
  const Integrals of = integrals(settings.interaction.vdw_modifier);
  const double inverse_volume = std::pow(settings.interaction.vdw_cutoff_angstrom, -3);
  const double density = composition.sites() / system.box.volume();
  DispersionCorrection result{composition.average_c6(), 0, 0};
  const double scale = 0.5 * composition.sites() * result.average_c6 * inverse_volume;
  result.energy_kj_per_mol = scale * (density * of.energy + of.self * inverse_volume);
  if (wanted == LongRangeDispersion::energy_pressure) {
    result.virial_kj_per_mol = scale * density * of.virial;
  }
  return result;
}

}  // namespace starpmc
