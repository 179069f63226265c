#include "potential/coulomb_pole.hpp"

#include <cmath>
#include <vector>

#include "kernels/scalar/evaluate.hpp"
#include "kernels/scalar/functions.hpp"

namespace starpmc {

double coulomb_pole_of(const Program& coulomb) {
  // r V(r) is smooth near 0 where the pole is simple: two small distances, extrapolated.
  constexpr double kNear = 1e-5;
  std::vector<double> values;
  const auto product = [&](double r) {
    const double squared = r * r;
    double value = 0;
    scalar::evaluate_exact(coulomb, {&squared, 1}, {&value, 1}, values);
    return r * value;
  };
  const double near = product(kNear);
  const double farther = product(2 * kNear);
  const double pole = 2 * near - farther;
  if (!std::isfinite(pole) || std::abs(near - farther) > 1e-3 * (std::abs(near) + 1e-3)) return 0;
  constexpr double kUnit = 1073741824;  // 2^30
  return std::nearbyint(pole * kUnit) / kUnit;
}

}  // namespace starpmc
