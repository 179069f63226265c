#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

namespace starpmc {

/// Electron density on the engine's atom-centred grid as point charges: charge = -weight * density,
/// in elementary charges; positions in angstrom in the box's frame. A point is the centre of a
/// cloud of radius `extent` (angstrom; EXTENT_C0 in kernels/common/layout.h), or bare where that is
/// 0. Structure of arrays, equal sizes.
struct DensityGrid {
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> z;
  std::vector<double> charge;
  std::vector<double> extent = {};

  std::size_t size() const { return charge.size(); }
};

/// Points of |charge| below `charge_threshold` (elementary charges) are removed.
/// @return the sum of the charges removed
double drop_small_charges(DensityGrid& grid, double charge_threshold);

/// Extent of the points of a grid as the quadrature's cells ask for (see protocol.md), at most
/// this: the sparse cells far out have next to no charge.
inline constexpr double kLargestExtentAngstrom = 1.5;

/// A file of more is refused; it would hold 26 million points.
inline constexpr std::size_t kMostGridFileBytes = std::size_t{1} << 30U;

/// Stored grid file: magic "STARPMCG", uint32 version 2, uint32 reserved, uint64 count,
/// then count * (x, y, z, charge, extent) little-endian doubles, then a uint32 CRC-32 of everything
/// before. Version 1 has no extents: all points are bare.
/// @throws InputError for a missing, truncated or foreign file, or non-finite numbers
DensityGrid read_density_grid(const std::filesystem::path& path);
void write_density_grid(const std::filesystem::path& path, const DensityGrid& grid);

}  // namespace starpmc
