#include "bench/paper_boxes.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "bench/bench_system.hpp"
#include "config/options.hpp"
#include "kernels/base/temporary_folder.hpp"
#include "system/data_folder.hpp"

namespace starpmc {
namespace {

namespace fs = std::filesystem;

class PaperBoxes : public testing::Test {
 protected:
  PaperBoxes() { setenv("XDG_CACHE_HOME", cache_.path().c_str(), 1); }
  ~PaperBoxes() override { unsetenv("XDG_CACHE_HOME"); }
  fs::path in_cache(const std::string& name) const {
    return cache_.path() / "starpmc" / "bench" / name;
  }

  TemporaryFolder cache_;
};

TEST_F(PaperBoxes, ConfigurationsAreTheBenchmarksOfTable1) {
  int known = 0;
  for (const BenchPreset& preset : bench_presets()) {
    const std::string name(preset.name);
    if (!name.starts_with("bench-")) continue;
    ++known;
    const fs::path coordinates = in_cache(name + ".gro");
    fs::create_directories(coordinates.parent_path());
    for (const char* ending : {".gro", ".top"}) std::ofstream(in_cache(name + ending)) << "x";
    const fs::path configuration = configs_folder() / (name + ".cfg");
    make_paper_boxes_of(configuration);  // what is there is left alone
    const Settings settings = read_settings(configuration, {});
    EXPECT_EQ(settings.system.coordinates, coordinates);
    EXPECT_EQ(settings.system.topology, in_cache(name + ".top"));
    EXPECT_EQ(fs::file_size(coordinates), 1U);
    EXPECT_EQ(settings.qm.charge, preset.charge);
    EXPECT_EQ(settings.qm.method + "/" + settings.qm.basis, "pbe/def2-svp");
    const auto steps = settings.sampling.steps * settings.sampling.chains;
    EXPECT_EQ(steps, preset.key == "R" ? 24'800'000U : 10'000U);
    if (preset.key == "R") {
      EXPECT_EQ(steps / settings.qm.interval, 496U);
    }
  }
  EXPECT_EQ(known, 4);
}

}  // namespace
}  // namespace starpmc
