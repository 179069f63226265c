#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/bench_system.hpp"

namespace starpmc {

/// The inputs of configs/bench-A.cfg, -B, -C and -R: too large for the source tree, so they are
/// made when they are needed and kept in the cache. Files are complete when they have their names.
struct PaperInputFiles {
  std::filesystem::path coordinates;  ///< .gro
  std::filesystem::path topology;     ///< .top
  std::filesystem::path density;      ///< the density grid of the starting configuration
  std::filesystem::path facts;        ///< JSON: how the density was made, its energy, electrons
};
PaperInputFiles paper_input_files(const BenchPreset& preset);

/// The presets of the paper: A, B, C, R.
std::vector<BenchPreset> paper_presets();

/// Makes the box as `starpmc solvate` would, unless it is there.
/// @throws InputError where GROMACS's data are missing; RunError where the cache cannot be written
void make_paper_box(const BenchPreset& preset);

/// Makes the boxes that a configuration file names and that are not in the cache.
void make_paper_boxes_of(const std::filesystem::path& configuration);

/// One thing of an input that is compared with configs/bench-inputs.json.
struct InputCheck {
  std::string what;
  std::string found;
  std::string expected;  ///< empty: none is known
  bool same = false;
};
/// SHA-256 of coordinates and topology; where there is a density, that of all its points'
/// positions (to 1e-6 A), its energy (to 0.01 kJ/mol) and its electrons (to 1e-4): a density is not
/// the same to the last bit on every machine.
std::vector<InputCheck> check_paper_input(const BenchPreset& preset);

/// SHA-256 of positions in units of 1e-6 A, as 64-bit integers, x of all, y of all, z of all.
std::string positions_digest(const DensityGrid& grid);

/// Whether the density lies in the cache, so that load_paper_input() takes a moment only.
bool has_paper_density(const BenchPreset& preset);

/// A benchmark as its configuration file says, without a density.
/// @throws InputError or RunError where the box cannot be made
BenchSystem read_paper_system(const BenchPreset& preset);

/// A benchmark as its configuration file says, with the density of its starting configuration by
/// the QM worker. Under a running StarpuRuntime.
/// @throws InputError or RunError where the box or the density cannot be made
BenchSystem load_paper_input(const BenchPreset& preset);

}  // namespace starpmc
