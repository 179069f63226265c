#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

namespace starpmc {

/// Electron density on the engine's atom-centred grid as point charges: charge = -weight * density,
/// in elementary charges; positions in angstrom in the box's frame. Structure of arrays, equal
/// sizes.
struct DensityGrid {
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> z;
  std::vector<double> charge;

  std::size_t size() const { return charge.size(); }
};

/// Points of |charge| below `charge_threshold` (elementary charges) are removed.
/// @return the sum of the charges removed
double drop_small_charges(DensityGrid& grid, double charge_threshold);

/// Stored grid file: magic "STARPMCG", uint32 version 1, uint32 reserved, uint64 count,
/// then count * (x, y, z, charge) little-endian doubles, then a uint32 CRC-32 of everything before.
/// @throws InputError for a missing, truncated or foreign file, or non-finite numbers
DensityGrid read_density_grid(const std::filesystem::path& path);
void write_density_grid(const std::filesystem::path& path, const DensityGrid& grid);

}  // namespace starpmc
