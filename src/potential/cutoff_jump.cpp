#include "potential/cutoff_jump.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/constants.hpp"

namespace starpmc {
namespace {

constexpr double kLargestOfThermalEnergy = 0.1;

}  // namespace

bool CutoffJump::see(double energy, const std::string& between) {
  if (std::abs(energy) <= std::abs(energy_)) return false;
  energy_ = energy;
  between_ = between;
  return true;
}

std::optional<std::string> CutoffJump::warning(const std::string& place, double cutoff,
                                               const std::string& treatment,
                                               const Settings::SamplingSection& sampling) const {
  const double of_thermal_energy = std::abs(energy_) / (kGasConstant * sampling.temperature_kelvin);
  if (of_thermal_energy <= kLargestOfThermalEnergy) return std::nullopt;
  return fmt::format(
      "{}: the energy{} jumps by {:.3g} kJ/mol ({:.2g} kT) at the cutoff of {:.4g} A; write {} = "
      "shift, force-shift or switch, or an expression that goes to 0",
      place, between_, -energy_, of_thermal_energy, cutoff, treatment);
}

}  // namespace starpmc
