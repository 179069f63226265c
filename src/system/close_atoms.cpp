#include "system/close_atoms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/base/error.hpp"

namespace starpmc {

void require_apart(std::span<const Vector3> positions,
                   const std::function<std::string(std::size_t)>& place) {
  // Sorted, so that a long molecule takes no time either.
  std::vector<std::size_t> order(positions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t atom) { return positions[atom].x; });
  for (std::size_t k = 0; k < order.size(); ++k) {
    for (std::size_t l = k + 1; l < order.size(); ++l) {
      const Vector3 d = positions[order[l]] - positions[order[k]];
      if (d.x >= kNearestNucleiAngstrom) break;
      const double distance = norm(d);
      if (distance >= kNearestNucleiAngstrom) continue;
      const auto [first, second] = std::minmax(order[k], order[l]);
      throw InputError(place(second),
                       fmt::format("atoms {} and {} of the molecule for the QM program lie on each "
                                   "other",
                                   first + 1, second + 1),
                       fmt::format("{:.3f} angstrom apart", distance),
                       "correct the coordinates, which are in angstrom in an .xyz file and in "
                       "nanometre in a .gro file");
    }
  }
}

}  // namespace starpmc
