#include "bench/paper_boxes.hpp"

#include <string>

#include "base/checked_file.hpp"
#include "bench/bench_system.hpp"
#include "config/config_file.hpp"
#include "kernels/base/installation.hpp"
#include "kernels/base/temporary_folder.hpp"

namespace starpmc {
namespace {

namespace fs = std::filesystem;

void make_box(const BenchPreset& preset, const fs::path& coordinates, const fs::path& topology) {
  if (fs::exists(coordinates) && fs::exists(topology)) return;
  // Beside the files that are made in it: they get their names by renaming, when complete.
  const TemporaryFolder workshop(coordinates.parent_path() / ".making-", "XDG_CACHE_HOME");
  const SolvatedFiles made = write_preset_box(preset, preset.waters, workshop.path());
  for (const fs::path& file : {made.topology, made.coordinates}) synchronise_file(file);
  rename_durably(made.topology, topology);
  rename_durably(made.coordinates, coordinates);
}

}  // namespace

void make_paper_boxes_of(const fs::path& configuration) {
  InputErrors errors(InputErrors::Mode::collect);  // told by those who read it all
  for (const auto& assignment : config::read_config_file(configuration, errors).all) {
    for (const BenchPreset& preset : bench_presets()) {
      const std::string name = std::string(preset.name) + ".gro";
      if (assignment.value != "{cache}/bench/" + name) continue;
      const fs::path coordinates = cache_folder() / "bench" / name;
      make_box(preset, coordinates, fs::path(coordinates).replace_extension(".top"));
    }
  }
}

}  // namespace starpmc
