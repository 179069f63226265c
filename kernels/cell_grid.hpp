#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "kernels/arguments.hpp"

namespace starpmc {

/// How a box is cut into cells, those of a column along x side by side: the molecules within reach
/// of a centre, sorted by cell, are one or two runs per column.
class CellGrid {
 public:
  std::size_t divisions[3] = {1, 1, 1};

  CellGrid() = default;
  /// Chooses the columns that let a search for all within `reach` load the fewest vectors.
  CellGrid(const Interaction& interaction, std::size_t molecules, double reach, std::size_t lanes) {
    const double* const edge = interaction.box;
    const double count = static_cast<double>(molecules);
    double least = count / static_cast<double>(lanes);
    for (std::size_t along_y = 2; along_y * along_y <= molecules && along_y <= kMostDivisions;
         ++along_y) {
      const double width = edge[1] / static_cast<double>(along_y);
      const auto along_z = static_cast<std::size_t>(
          std::clamp(std::rint(edge[2] / width), 1.0, static_cast<double>(kMostDivisions)));
      const double all = static_cast<double>(along_y * along_z);
      const double depth = edge[2] / static_cast<double>(along_z);
      const double columns =
          std::min(all, 3.14 * (reach + width / 2) * (reach + depth / 2) / (width * depth));
      const double chord = std::min(edge[0], 1.33 * reach + kCellWidth);
      const double vectors =
          columns * (count / all * chord / edge[0] / static_cast<double>(lanes) + kRaggedness);
      if (vectors >= least) continue;
      least = vectors;
      divisions[1] = along_y;
      divisions[2] = along_z;
      divisions[0] = static_cast<std::size_t>(
          std::clamp(edge[0] / kCellWidth, 1.0, static_cast<double>(kMostDivisions)));
    }
  }

  std::size_t cells() const { return divisions[0] * divisions[1] * divisions[2]; }
  /// Step from one cell to the next along an axis.
  std::size_t stride(std::size_t axis) const {
    return axis == 0 ? 1 : axis == 1 ? divisions[0] : divisions[0] * divisions[1];
  }

  static constexpr std::size_t kMostDivisions = 64;

 private:
  static constexpr double kCellWidth = 2.0;   ///< along x, angstrom
  static constexpr double kRaggedness = 0.6;  ///< vectors lost per column
};

}  // namespace starpmc
