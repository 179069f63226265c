#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "bench/paper_inputs.hpp"
#include "bench/paper_power.hpp"
#include "bench/paper_published.hpp"
#include "bench/paper_whole_run.hpp"
#include "config/options.hpp"
#include "system/data_folder.hpp"
#include "temporary_folder.hpp"
#include "tests/test_folders.hpp"

namespace starpmc {
namespace {

using testing::HasSubstr;

/// The numbers of the paper's tables in reading order, taken from its text by a script.
nlohmann::json numbers_in_print() {
  std::ifstream file(test_data_folder() / "paper/published.json");
  return nlohmann::json::parse(file);
}

/// A table's numbers without the columns that only repeat what the table is about.
std::vector<double> numbers_of(const PaperTable& table, const std::vector<std::string>& without) {
  std::vector<double> numbers;
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (std::ranges::find(without, table.columns[i]) != without.end()) continue;
      if (const auto* number = std::get_if<double>(&row[i])) numbers.push_back(*number);
    }
  }
  std::ranges::sort(numbers);
  return numbers;
}

/// @param left_out printed numbers that the table does not repeat
void expect_as_printed(const char* key, const std::vector<std::string>& without = {},
                       const std::vector<double>& left_out = {}) {
  std::vector<double> printed;
  const nlohmann::json tables = numbers_in_print();
  for (const auto& line : tables.at(key)) {
    for (const double number : line) printed.push_back(number);
  }
  for (const double number : left_out) {
    const auto found = std::ranges::find(printed, number);
    ASSERT_NE(found, printed.end()) << key << ": " << number;
    printed.erase(found);
  }
  std::ranges::sort(printed);
  EXPECT_EQ(numbers_of(published_table(key), without), printed) << key;
}

TEST(PaperTables, AreThePublishedNumbers) {
  expect_as_printed("table-3", {"steps_measured"});
  expect_as_printed("table-4");
  expect_as_printed("table-5");
  expect_as_printed("table-6");
  expect_as_printed("table-7");
  // Its percentages are shares of 0.1 kJ/mol.
  expect_as_printed("table-8", {}, {0.064, 4.2, 2.9, 0.016, 0.9, 1.1, 16.0});
  expect_as_printed("table-9");
}

TEST(PaperTables, SpeedupsOfFigure8AreRatiosOfTable3) {
  const PaperTable figure = published_table("figure-8");
  ASSERT_EQ(figure.rows.size(), 15U);
  EXPECT_NEAR(std::get<double>(figure.rows[6].back()), 121.6, 0.05);  // the text: 121.29
}

TEST(PaperTables, OwnRowsStandBesideThePapers) {
  PaperTable table = published_table("table-7");
  EXPECT_FALSE(table.has_own_rows());
  table.add({std::string("a, device"), std::string("mixed"), 2.5});
  table.notes.emplace_back("a note");
  EXPECT_TRUE(table.has_own_rows());
  EXPECT_THROW(table.add({std::string("too few")}), std::invalid_argument);
  EXPECT_THAT(table_csv(table),
              testing::AllOf(testing::StartsWith("# a note\nsource,device,precision,speedup\n"),
                             testing::EndsWith("starpmc,\"a, device\",mixed,2.5\n")));
  const nlohmann::ordered_json json = table_json(table);
  EXPECT_EQ(json["rows"].back()["speedup"], 2.5);
  EXPECT_EQ(json["rows"].size(), 7U);
}

TEST(PaperInputs, ConfigurationsAreTheBenchmarksOfTable1) {
  for (const BenchPreset& preset : paper_presets()) {
    const TemporaryFolder cache;
    setenv("XDG_CACHE_HOME", cache.path().c_str(), 1);
    const PaperInputFiles files = paper_input_files(preset);
    std::filesystem::create_directories(files.coordinates.parent_path());
    std::ofstream(files.coordinates) << "x";
    std::ofstream(files.topology) << "x";
    const Settings settings =
        read_settings(configs_folder() / (std::string(preset.name) + ".cfg"), {});
    unsetenv("XDG_CACHE_HOME");
    EXPECT_EQ(settings.system.coordinates, files.coordinates);
    EXPECT_EQ(settings.system.topology, files.topology);
    EXPECT_EQ(settings.qm.charge, preset.charge);
    EXPECT_EQ(settings.qm.method + "/" + settings.qm.basis, "pbe/def2-svp");
    const auto steps = static_cast<double>(settings.sampling.steps * settings.sampling.chains);
    const bool whole = preset.key == "R";
    EXPECT_EQ(steps, whole ? kPaperWholeSteps : kPaperCycleSteps);
    if (whole) {
      EXPECT_EQ(steps / static_cast<double>(settings.qm.interval), kPaperUpdates);
    }
  }
}

TEST(PaperInputs, PositionsDigestIgnoresTheLastBitsOnly) {
  const DensityGrid grid{{1, 2}, {3, 4}, {5, 6.25}, {-1, -1}};
  DensityGrid other = grid;
  other.x[1] += 1e-12;
  other.charge[0] = -0.5;
  EXPECT_EQ(positions_digest(grid), positions_digest(other));
  other.x[1] += 1e-6;
  EXPECT_NE(positions_digest(grid), positions_digest(other));
}

TEST(PaperWholeRun, IsExtrapolatedFromTwoRuns) {
  // 8 chains of 62 updates: 10 s to start with the first update, 3 s for each of the others, and
  // 2 s of steps that both runs left out.
  const WholeRun one{8, 1, 10'000, 10, 4, 0, 0.5, 0.4};
  const WholeRun several{8, 3, 10'000, 16, 4, 2, 0.5, 0.4};
  EXPECT_DOUBLE_EQ(extrapolate_whole_run(one, several, 2), 10 + 2 + 61 * (3 + 2));
}

class Powercap : public testing::Test {
 protected:
  void package(const char* folder, const char* name, const char* energy) {
    const auto path = folder_.path() / folder;
    std::filesystem::create_directories(path);
    std::ofstream(path / "name") << name << '\n';
    std::ofstream(path / "energy_uj") << energy << '\n';
    std::ofstream(path / "max_energy_range_uj") << "1000000\n";
  }
  TemporaryFolder folder_;
};

TEST_F(Powercap, SumsPackagesAndSurvivesAnOverflow) {
  package("intel-rapl:0", "package-0", "900000");
  package("intel-rapl:1", "package-1", "0");
  package("intel-rapl:0:0", "core", "5");
  package("intel-rapl:2", "psys", "7");
  const EnergyReading reading = rapl_counter(folder_.path());
  ASSERT_NE(reading.counter, nullptr);
  EXPECT_EQ(reading.counter->name(), "RAPL: package-0, package-1");
  EXPECT_DOUBLE_EQ(reading.counter->joules(), 0);
  package("intel-rapl:0", "package-0", "100000");
  package("intel-rapl:1", "package-1", "300000");
  EXPECT_DOUBLE_EQ(reading.counter->joules(), 0.2 + 0.3);
}

TEST_F(Powercap, SaysWhyThereAreNoReadings) {
  EXPECT_THAT(rapl_counter(folder_.path()).reason, HasSubstr("no RAPL counters"));
  EXPECT_THAT(rapl_counter(folder_.path() / "nothing").reason, HasSubstr("no RAPL counters"));
  package("intel-rapl:0", "package-0", "not a number");
  EXPECT_THAT(rapl_counter(folder_.path()).reason, HasSubstr("may not be read"));
}

TEST(MeanPower, IsEnergyOverTheTimeOfAllRepetitions) {
  class FixedPower final : public EnergyCounter {
   public:
    double joules() override {
      using Clock = std::chrono::steady_clock;
      return 50 * std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
    }
    std::string name() const override { return "50 W"; }
  };
  FixedPower counter;
  int repetitions = 0;
  const auto start = std::chrono::steady_clock::now();
  const double watts = mean_watts(counter, 0.1, [&] {
    ++repetitions;
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  });
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  EXPECT_GE(spent.count(), 0.1);
  EXPECT_GE(repetitions, 1);
  EXPECT_LE(repetitions, 4);
  EXPECT_GE(watts, 50);
  EXPECT_LE(watts, 50 * spent.count() / 0.1);
}

TEST(NvmlPower, ReadsTheDeviceOfTheBus) {
  const EnergyReading reading = nvml_counter("00000000:1a:00.0", STARPMC_FAKE_NVML);
  ASSERT_NE(reading.counter, nullptr) << reading.reason;
  EXPECT_EQ(reading.counter->name(), "NVML: Fake GPU");
  const double before = reading.counter->joules();
  EXPECT_DOUBLE_EQ(reading.counter->joules() - before, 1.5);  // it takes 1,500 mJ between two calls
}

TEST(NvmlPower, SamplesThePowerOfDevicesWithoutACounter) {
  const EnergyReading reading = nvml_counter("00000000:1b:00.0", STARPMC_FAKE_NVML);
  ASSERT_NE(reading.counter, nullptr) << reading.reason;
  EXPECT_THAT(reading.counter->name(), HasSubstr("power sampled"));
  while (reading.counter->joules() == 0) {
  }
  EXPECT_GT(reading.counter->joules(), 0);
}

TEST(NvmlPower, SaysWhyThereAreNoReadings) {
  EXPECT_THAT(nvml_counter("", "libno-such-library.so.1").reason, HasSubstr("libno-such-library"));
  EXPECT_THAT(nvml_counter("00000000:2c:00.0", STARPMC_FAKE_NVML).reason, HasSubstr("2c:00.0"));
}

}  // namespace
}  // namespace starpmc
