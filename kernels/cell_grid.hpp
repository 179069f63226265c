#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "kernels/arguments.hpp"

namespace starpmc {

/// A box cut into cells, those of a column along x side by side: molecules sorted by cell that lie
/// within reach of a centre are one or two runs per column.
class CellGrid {
 public:
  std::size_t divisions[3] = {1, 1, 1};

  CellGrid() = default;
  /// Chooses the columns that let a search for all within `reach` load the fewest vectors.
  CellGrid(const Interaction& interaction, std::size_t molecules, double reach, std::size_t lanes) {
    std::copy_n(interaction.box, 3, edge_);
    const double count = static_cast<double>(molecules);
    double least = count / static_cast<double>(lanes);
    for (std::size_t along_y = 2; along_y * along_y <= molecules && along_y <= kMostDivisions;
         ++along_y) {
      const double width = edge_[1] / static_cast<double>(along_y);
      const auto along_z = static_cast<std::size_t>(
          std::clamp(std::rint(edge_[2] / width), 1.0, static_cast<double>(kMostDivisions)));
      const double all = static_cast<double>(along_y * along_z);
      const double depth = edge_[2] / static_cast<double>(along_z);
      const double columns =
          std::min(all, 3.14 * (reach + width / 2) * (reach + depth / 2) / (width * depth));
      const double chord = std::min(edge_[0], 1.33 * reach + kCellWidth);
      const double vectors =
          columns * (count / all * chord / edge_[0] / static_cast<double>(lanes) + kRaggedness);
      if (vectors >= least) continue;
      least = vectors;
      divisions[1] = along_y;
      divisions[2] = along_z;
      divisions[0] = static_cast<std::size_t>(
          std::clamp(edge_[0] / kCellWidth, 1.0, static_cast<double>(kMostDivisions)));
    }
  }

  std::size_t cells() const { return divisions[0] * divisions[1] * divisions[2]; }
  /// Step from one cell to the next along an axis.
  std::size_t stride(std::size_t axis) const {
    return axis == 0 ? 1 : axis == 1 ? divisions[0] : divisions[0] * divisions[1];
  }

  /// Calls visit(first, last) with ranges of cells that hold every position within reach.
  template <class Visit>
  void visit(const double* centre, double reach, Visit&& visit) const {
    // Cells are found from the upper 16 bits of a fixed_coordinate().
    const double radius = reach + *std::max_element(edge_, edge_ + 3) * 0x1p-15;
    const double squared = radius * radius;
    const double width = edge_[0] / static_cast<double>(divisions[0]);
    const double x = centre[0] - edge_[0] * std::floor(centre[0] / edge_[0]);
    for (std::size_t iz = 0; iz < divisions[2]; ++iz) {
      const double left_z = squared - gap_squared(centre[2], 2, iz);
      if (left_z < 0) continue;
      for (std::size_t iy = 0; iy < divisions[1]; ++iy) {
        const double left = left_z - gap_squared(centre[1], 1, iy);
        if (left < 0) continue;
        const std::size_t column = (iz * divisions[1] + iy) * divisions[0];
        const double half = std::sqrt(left);
        visit_column(column, std::floor((x - half) / width), std::floor((x + half) / width), visit);
      }
    }
  }

 private:
  static constexpr std::size_t kMostDivisions = 64;
  static constexpr double kCellWidth = 2.5;   ///< along x, angstrom
  static constexpr double kRaggedness = 0.6;  ///< vectors lost per column

  /// Squared distance of a coordinate from a cell, to the nearest image.
  double gap_squared(double x, std::size_t axis, std::size_t cell) const {
    const double width = edge_[axis] / static_cast<double>(divisions[axis]);
    double d = (static_cast<double>(cell) + 0.5) * width - x;
    d -= edge_[axis] * std::rint(d / edge_[axis]);
    const double gap = std::max(0.0, std::abs(d) - width / 2);
    return gap * gap;
  }

  /// first and last: cells of the column's periodic continuation.
  template <class Visit>
  void visit_column(std::size_t column, double first, double last, Visit&& visit) const {
    const auto n = static_cast<double>(divisions[0]);
    const auto cell = [column](double i) { return column + static_cast<std::size_t>(i); };
    if (last - first + 1 >= n) {
      visit(column, column + divisions[0]);
    } else if (first < 0) {
      visit(column, cell(last + 1));
      visit(cell(first + n), column + divisions[0]);
    } else if (last >= n) {
      visit(column, cell(last - n + 1));
      visit(cell(first), column + divisions[0]);
    } else {
      visit(cell(first), cell(last + 1));
    }
  }

  double edge_[3] = {1, 1, 1};
};

}  // namespace starpmc
