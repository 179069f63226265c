#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/settings.hpp"
#include "qm/density_grid.hpp"
#include "system/solvated_files.hpp"
#include "system/system.hpp"

namespace starpmc {

/// A box the benchmark can make. bench-A to bench-R are those of the paper's table 1.
struct BenchPreset {
  std::string_view key;  ///< for the command line
  std::string_view name;
  std::string_view solute;  ///< geometry in configs/; empty: pure MM
  std::size_t copies;       ///< of the solute, side by side
  int charge;               ///< of all copies
  std::string_view model;   ///< of the water
  std::size_t waters;
  std::size_t points;      ///< of the density grid
  double cutoff_angstrom;  ///< 0: half the edge
};
std::span<const BenchPreset> bench_presets();

/// Writes box.gro and box.top, and the solute's geometry, as `starpmc solvate` would.
/// @param folder exists and has none of them
/// @throws InputError where GROMACS's data are missing
SolvatedFiles write_preset_box(const BenchPreset& preset, std::size_t waters,
                               const std::filesystem::path& folder);

/// What the command line changes about a preset.
struct BenchOverrides {
  std::optional<std::size_t> waters;
  std::optional<std::size_t> points;
  std::filesystem::path grid_file;  ///< where `grid` is from
  std::optional<DensityGrid> grid;  ///< instead of a synthetic one
};

/// A box with its density, ready to sample.
struct BenchSystem {
  std::string name;
  System system;
  Settings settings;  ///< cutoffs resolved
  DensityGrid grid;   ///< empty without a solute
  bool synthetic_grid = true;
};

/// Makes the box as `starpmc solvate` would, and its density.
/// @throws InputError for a grid file that does not belong to the system
BenchSystem make_bench_system(const BenchPreset& preset, const BenchOverrides& overrides);

}  // namespace starpmc
