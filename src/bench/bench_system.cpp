#include "bench/bench_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "base/checked_file.hpp"
#include "bench/synthetic_grid.hpp"
#include "config/options.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/temporary_folder.hpp"
#include "system/data_folder.hpp"
#include "system/read_system.hpp"
#include "system/xyz_file.hpp"

namespace starpmc {
namespace {

namespace fs = std::filesystem;

constexpr std::array<BenchPreset, 7> kPresets{{
    {"A", "bench-A", "arginine.xyz", 1, 1, "tip3p", 1301, 1'772'972, 0},
    {"B", "bench-B", "arginine.xyz", 1, 1, "tip3p", 5000, 1'772'972, 0},
    {"C", "bench-C", "arginine.xyz", 2, 2, "tip3p", 5000, 2'992'458, 0},
    {"R", "bench-R", "chorismate.xyz", 1, -2, "tip3p", 500, 183'356, 0},
    {"quick", "quick", "chorismate.xyz", 1, -2, "tip3p", 200, 20'000, 0},
    {"tip3p", "TIP3P", "", 0, 0, "tip3p", 500, 0, 0},
    {"spce", "SPC/E", "", 0, 0, "spce", 500, 0, 10},
}};

/// Gap between the copies of a solute, angstrom.
constexpr double kGap = 4;
/// A density further from the nuclei than this, angstrom, is another system's.
constexpr double kFarthestCentre = 1;

/// Copies of a molecule side by side along z.
Geometry side_by_side(const Geometry& molecule, std::size_t copies) {
  const auto by_z = [](const Vector3& a, const Vector3& b) { return a.z < b.z; };
  const auto [low, high] =
      std::minmax_element(molecule.positions.begin(), molecule.positions.end(), by_z);
  const double distance = high->z - low->z + kGap;
  Geometry all{molecule.title, {}, {}};
  for (std::size_t copy = 0; copy < copies; ++copy) {
    for (std::size_t i = 0; i < molecule.elements.size(); ++i) {
      all.elements.push_back(molecule.elements[i]);
      all.positions.push_back(molecule.positions[i] +
                              Vector3{0, 0, distance * static_cast<double>(copy)});
    }
  }
  return all;
}

System make_system(const BenchPreset& preset, std::size_t waters) {
  const TemporaryFolder folder;
  const SolvatedFiles files = write_preset_box(preset, waters, folder.path());
  return read_system({files.coordinates, files.topology, {}, files.qm_molecule, {}, {}});
}

int nuclear_charge(const Solute& solute) {
  return std::accumulate(solute.atomic_numbers.begin(), solute.atomic_numbers.end(), 0);
}

/// A stored grid has the positions of the box it was made for.
void check_place(const fs::path& file, const DensityGrid& grid, const Solute& solute) {
  Vector3 electrons;
  double charge = 0;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    electrons = electrons + grid.charge[i] * Vector3{grid.x[i], grid.y[i], grid.z[i]};
    charge += grid.charge[i];
  }
  Vector3 nuclei;
  for (std::size_t i = 0; i < solute.atom_count(); ++i) {
    nuclei = nuclei + static_cast<double>(solute.atomic_numbers[i]) * solute.positions[i];
  }
  const double distance = norm((1 / charge) * electrons - (1.0 / nuclear_charge(solute)) * nuclei);
  // Written so that NaN (no charge at all) fails as well.
  if (distance < kFarthestCentre) return;
  throw InputError(file.string(), "the density does not belong to the solute of this system",
                   fmt::format("centres {:.1f} angstrom apart", distance),
                   "give the grid of a run that started from `starpmc solvate` with this solute, "
                   "this number of waters and seed 1");
}

DensityGrid make_grid(const BenchPreset& preset, const BenchOverrides& overrides,
                      const Solute& solute) {
  if (overrides.grid) {
    check_place(overrides.grid_file, *overrides.grid, solute);
    return *overrides.grid;
  }
  return synthetic_grid(solute, nuclear_charge(solute) - preset.charge,
                        overrides.points.value_or(preset.points));
}

}  // namespace

std::span<const BenchPreset> bench_presets() { return kPresets; }

SolvatedFiles write_preset_box(const BenchPreset& preset, std::size_t waters,
                               const fs::path& folder) {
  SolvateRequest request;
  if (!preset.solute.empty()) {
    request.solute = folder / preset.solute;
    const Geometry one = read_geometry(configs_folder() / preset.solute);
    write_file_atomically(request.solute, format_xyz(side_by_side(one, preset.copies)));
  }
  request.waters = static_cast<long>(waters);
  request.model = preset.model;
  request.charge = preset.charge;
  request.output = folder / "box";
  return write_solvated_files(request);
}

BenchSystem make_bench_system(const BenchPreset& preset, const BenchOverrides& overrides) {
  BenchSystem bench;
  bench.name = preset.name;
  bench.system = make_system(preset, overrides.waters.value_or(preset.waters));
  if (preset.cutoff_angstrom > bench.system.box.shortest_edge() / 2) {
    throw InputError("--waters",
                     fmt::format("the box of {} is too small for its cutoff of {} A", bench.name,
                                 preset.cutoff_angstrom),
                     std::to_string(bench.system.molecules.size()), "ask for more waters");
  }
  bench.settings.interaction.coulomb_cutoff_angstrom = preset.cutoff_angstrom;
  // as its expressions (contestant.cpp) and as earlier figures were measured
  bench.settings.interaction.vdw_modifier = VdwModifier::truncate;
  resolve_cutoffs(bench.settings, bench.system.box, OptionPlaces(bench.name));
  if (bench.system.solute) {
    bench.grid = make_grid(preset, overrides, *bench.system.solute);
    drop_small_charges(bench.grid, bench.settings.qm.charge_threshold);  // as a run does
    bench.synthetic_grid = !overrides.grid;
  }
  return bench;
}

}  // namespace starpmc
