#pragma once

#include <optional>
#include <string>

#include "config/settings.hpp"

namespace starpmc {

/// The largest value of a user's function at its cutoff, for all pairs of sites that were seen.
class CutoffJump {
 public:
  /// @param energy  at the cutoff, kJ/mol
  /// @param between " between atom types ... and ..."
  /// @return whether it is the largest so far
  bool see(double energy, const std::string& between);

  /// What to say of a jump of more than a tenth of kT: a site that crosses the cutoff changes the
  /// energy by it. Lennard-Jones at 2.5 sigma stays below.
  /// @param place    of the function's option
  /// @param cutoff   A
  /// @param treatment the option that would mend it
  std::optional<std::string> warning(const std::string& place, double cutoff,
                                     const std::string& treatment,
                                     const Settings::SamplingSection& sampling) const;

 private:
  double energy_ = 0;
  std::string between_;
};

}  // namespace starpmc
