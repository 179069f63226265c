#include "app/movement.hpp"

#include <algorithm>
#include <cmath>

namespace starpmc {
namespace {

constexpr double kSmallestSizeAngstrom = 1;  ///< of a molecule of one site

}  // namespace

Movement movement_of(const System& system, std::span<const Molecule> before,
                     std::span<const Molecule> after) {
  Movement movement;
  double squares = 0;
  double sizes = 0;
  for (std::size_t m = 0; m < after.size(); ++m) {
    const Vector3 way = system.box.minimum_image(after[m].centre - before[m].centre);
    squares += dot(way, way);
    sizes +=
        std::max(kSmallestSizeAngstrom, 2 * system.molecule_types[after[m].type].radius_angstrom());
    const bool same =
        after[m].centre == before[m].centre && after[m].orientation == before[m].orientation;
    movement.never_moved += same ? 1 : 0;
  }
  const auto count = static_cast<double>(after.size());
  movement.molecules = after.size();
  movement.displacement_angstrom = std::sqrt(squares / count);
  movement.size_angstrom = sizes / count;
  return movement;
}

}  // namespace starpmc
