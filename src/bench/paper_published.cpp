#include "bench/paper_published.hpp"

#include <array>
#include <stdexcept>
#include <string>

namespace starpmc {
namespace {

using Cells = std::vector<TableCell>;

constexpr const char* kFourCores = "i7-4770K, 4 cores (OpenCL)";
constexpr const char* kTwoGpus = "GTX 780Ti + GTX 660Ti";
constexpr const char* kAmd = "R9 290X + GTX 560Ti";
constexpr const char* kSlowSerial = "E5-2609, 1 core (serial)";
constexpr const char* kTwoAlike = "2 x GTX 680, 8 cores E5-2609";
const TableCell kNothing = std::monostate{};

std::string text(std::string_view words) { return std::string(words); }

/// Adds the paper's rows.
PaperTable published(PaperTable table, const std::vector<Cells>& rows) {
  for (Cells row : rows) {
    row.insert(row.begin(), text("paper"));
    if (row.size() != table.columns.size()) throw std::logic_error(table.key + ": a wrong row");
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// Table 3: seconds of 10,000 steps, all and of them for output.
struct CycleTimes {
  const char* platform;
  std::array<std::array<double, 2>, 3> seconds;
};
constexpr std::array<CycleTimes, 5> kCycles{{
    {kPaperSerialDevice, {{{769.96, 0.23}, {787.68, 0.76}, {1179.70, 0.76}}}},
    {kFourCores, {{{137.90, 0.90}, {140.25, 6.75}, {232.20, 6.87}}}},
    {kPaperGpu, {{{6.33, 0.53}, {8.08, 1.70}, {11.20, 1.72}}}},
    {kTwoGpus, {{{5.04, 0.52}, {6.73, 1.66}, {8.68, 1.66}}}},
    {kAmd, {{{6.90, 0.57}, {8.42, 2.02}, {11.30, 2.02}}}},
}};
constexpr std::array<const char*, 3> kBenchmarks{"bench-A", "bench-B", "bench-C"};

/// The serial program computes in fp64, the others in mixed precision.
const char* precision_of(const CycleTimes& times) {
  return std::string_view(times.platform) == kPaperSerialDevice ? "fp64" : "mixed";
}

PaperTable table_3() {
  std::vector<Cells> rows;
  for (const CycleTimes& times : kCycles) {
    for (std::size_t i = 0; i < kBenchmarks.size(); ++i) {
      rows.push_back({text(times.platform), text(precision_of(times)), text(kBenchmarks[i]),
                      times.seconds[i][0], times.seconds[i][1], 10'000.0});
    }
  }
  return published(
      {"table-3",
       "Table 3: a PMC cycle of 10,000 steps, seconds (output: of them for writing)",
       {"source", "platform", "precision", "benchmark", "total_s", "output_s", "steps_measured"},
       {},
       {}},
      rows);
}

PaperTable figure_8() {
  std::vector<Cells> rows;
  for (const CycleTimes& times : kCycles) {
    for (std::size_t i = 0; i < kBenchmarks.size(); ++i) {
      const double speedup = kCycles[0].seconds[i][0] / times.seconds[i][0];
      rows.push_back({text(times.platform), text(precision_of(times)), text(kBenchmarks[i]),
                      kNothing, speedup});
    }
  }
  return published(
      {"figure-8",
       "Figure 8: speed-up of a PMC cycle of 10,000 steps",
       {"source", "platform", "precision", "benchmark", "speedup_over_own_core",
        "speedup_over_paper_core"},
       {},
       {"paper core: its serial program on one core of an i7-4770K; the paper's rows are the "
        "ratios of its table 3"}},
      rows);
}

PaperTable table_4() {
  return published(
      {"table-4",
       "Table 4: the kernels of a step of bench-A",
       {"source", "device", "precision", "kernel", "microseconds_per_step", "share_percent",
        "speedup"},
       {},
       {}},
      {{text(kPaperSerialDevice), text("fp64"), text("monte_carlo"), 32.0, 0.04, kNothing},
       {text(kPaperSerialDevice), text("fp64"), text("q3m_c/reduce"), 76'077.0, 98.8, kNothing},
       {text(kPaperSerialDevice), text("fp64"), text("mm_vdwc/reduce"), 791.0, 1.03, kNothing},
       {text(kPaperSerialDevice), text("fp64"), text("q3m_vdwc"), 4.0, 0.01, kNothing},
       {text(kPaperSerialDevice), text("fp64"), text("decide"), 94.0, 0.12, kNothing},
       {text(kPaperSerialDevice), text("fp64"), text("total"), 76'998.0, 100.0, kNothing},
       {text(kPaperGpu), text("mixed"), text("monte_carlo"), 17.0, 3.0, 1.88},
       {text(kPaperGpu), text("mixed"), text("q3m_c/reduce"), 473.0, 83.3, 160.84},
       {text(kPaperGpu), text("mixed"), text("mm_vdwc/reduce"), 40.0, 7.0, 19.77},
       {text(kPaperGpu), text("mixed"), text("q3m_vdwc"), 18.0, 3.2, 0.22},
       {text(kPaperGpu), text("mixed"), text("decide"), 20.0, 3.5, 4.70},
       {text(kPaperGpu), text("mixed"), text("total"), 568.0, 100.0, 135.55}});
}

PaperTable figure_9() {
  return published({"figure-9",
                    "Figure 9: the kernels of a step of bench-A on each of several devices",
                    {"source", "device", "kernel", "microseconds_per_step", "grid_share_percent"},
                    {},
                    {"the paper (GTX 780Ti + GTX 660Ti) draws bars without numbers: the grid term "
                     "on both, the lighter kernels on the first"}},
                   {});
}

PaperTable figure_10() {
  return published(
      {"figure-10",
       "Figure 10: how the devices' shares of the grid term converge (the paper: bench-C)",
       {"source", "steps", "device", "grid_share_percent", "microseconds_per_step"},
       {},
       {"the paper balances every 2,000 steps by itself: 50/50 becomes about 71/29 in four "
        "balancings, 1.3 times as fast as 50/50. Here StarPU's models do it, from none at all"}},
      {{0.0, text(kPaperGpu), 50.0, kNothing},
       {0.0, text("GTX 660Ti"), 50.0, kNothing},
       {8'000.0, text(kPaperGpu), 71.0, kNothing},
       {8'000.0, text("GTX 660Ti"), 29.0, kNothing}});
}

PaperTable figure_11() {
  return published({"figure-11",
                    "Figure 11: speed-up of a second device against the size of bench-A's grid",
                    {"source", "devices", "grid_points", "one_microseconds_per_step",
                     "both_microseconds_per_step", "speedup"},
                    {},
                    {"the paper (2 x GTX 680) states about 1.5 to 1.6 for grids of up to 8 million "
                     "points, the larger with the larger grids"}},
                   {{text("2 x GTX 680"), kNothing, kNothing, kNothing, 1.5},
                    {text("2 x GTX 680"), 8e6, kNothing, kNothing, 1.6}});
}

PaperTable table_5() {
  return published(
      {"table-5",
       "Table 5: bench-R, a PMC cycle of 50,000 steps, a QM update, and the whole run (24.8 "
       "million steps, 496 updates)",
       {"source", "platform", "precision", "chains", "cycle_s", "cycle_speedup", "qm_update_s",
        "whole_s", "whole_speedup"},
       {},
       {}},
      {{text(kSlowSerial), text("fp64"), 1.0, 1883.1, 1.0, 96.4, 980'038.0, 1.0},
       {text(kTwoAlike), text("fp64"), 1.0, 42.9, 43.80, 96.4, 69'026.4, 14.20},
       {text(kTwoAlike), text("fp64"), 8.0, 42.9, 43.80, 113.4, 10'156.2, 96.50},
       {text(kTwoAlike), text("mixed"), 1.0, 10.2, 184.23, 96.4, 52'833.4, 18.55},
       {text(kTwoAlike), text("mixed"), 8.0, 10.2, 184.23, 113.4, 7'757.7, 126.33}});
}

PaperTable table_6() {
  return published(
      {"table-6",
       "Table 6: bench-R against the paper's serial program on one core of an i7-4770K",
       {"source", "platform", "chains", "cycle_s", "cycle_speedup", "whole_s", "whole_speedup"},
       {},
       {}},
      {{text(kPaperSerialDevice), 1.0, kPaperSerialCycleR, 1.0, kPaperSerialRun, 1.0},
       {text(kTwoAlike), 1.0, 10.2, 56.02, 52'833.4, 5.67},
       {text(kTwoAlike), 8.0, 10.2, 56.02, 7'757.7, 38.68}});
}

PaperTable table_7() {
  return published(
      {"table-7",
       "Table 7: speed-up of the grid term of bench-A in lower precision over fp64 on the same "
       "device",
       {"source", "device", "precision", "speedup"},
       {},
       {}},
      {{text("GTX 680"), text("mixed"), 8.56},
       {text(kPaperGpu), text("mixed"), 7.39},
       {text("K20C"), text("mixed"), 2.65},
       {text("GTX 680"), text("fixed"), 8.89},
       {text(kPaperGpu), text("fixed"), 7.44},
       {text("K20C"), text("fixed"), 2.74}});
}

PaperTable table_8() {
  return published(
      {"table-8",
       "Table 8: errors of bench-A's energy changes against fp64, kJ/mol (accepted: 0.1)",
       {"source", "device", "precision", "grid_mean_kj_per_mol", "grid_max_kj_per_mol",
        "total_mean_kj_per_mol", "total_max_kj_per_mol"},
       {},
       {"total: the paper's is the error of the system's energy, ours that of a step's change"}},
      {{kNothing, text("mixed"), 6.4e-5, 2.9e-3, 4.2e-3, 1.6e-2},
       {kNothing, text("fixed"), 1.6e-5, 1.1e-3, 9.0e-4, 1.6e-2}});
}

PaperTable table_9() {
  return published({"table-9",
                    "Table 9: time and energy of the grid term of bench-A by precision",
                    {"source", "device", "precision", "microseconds_per_step", "average_watts",
                     "speedup", "energy_savings_percent"},
                    {},
                    {"speed-up: over the machine's first row in fp64; savings: against fp64 on the "
                     "same device"}},
                   {{text(kFourCores), text("fp64"), 13'031.0, 84.0, 1.0, kNothing},
                    {text(kFourCores), text("mixed"), 6'157.0, 76.0, 2.12, 57.0},
                    {text(kFourCores), text("fixed"), 6'143.0, 75.0, 2.12, 58.0},
                    {text("K20C"), text("fp64"), 1'775.0, 140.0, 7.34, kNothing},
                    {text("K20C"), text("mixed"), 670.0, 147.0, 19.45, 60.0},
                    {text("K20C"), text("fixed"), 647.0, 139.0, 20.14, 64.0}});
}

struct Maker {
  std::string_view key;
  PaperTable (*make)();
};
constexpr std::array<Maker, 11> kMakers{{{"table-3", table_3},
                                         {"figure-8", figure_8},
                                         {"table-4", table_4},
                                         {"figure-9", figure_9},
                                         {"figure-10", figure_10},
                                         {"figure-11", figure_11},
                                         {"table-5", table_5},
                                         {"table-6", table_6},
                                         {"table-7", table_7},
                                         {"table-8", table_8},
                                         {"table-9", table_9}}};

}  // namespace

double paper_serial_seconds(std::string_view benchmark) {
  for (std::size_t i = 0; i < kBenchmarks.size(); ++i) {
    if (kBenchmarks[i] == benchmark) return kCycles[0].seconds[i][0];
  }
  throw std::invalid_argument("not in the paper's table 3: " + std::string(benchmark));
}

PaperTable published_table(std::string_view key) {
  for (const Maker& maker : kMakers) {
    if (maker.key == key) return maker.make();
  }
  throw std::invalid_argument("not of the paper: " + std::string(key));
}

std::vector<std::string_view> published_keys() {
  std::vector<std::string_view> keys;
  for (const Maker& maker : kMakers) keys.push_back(maker.key);
  return keys;
}

}  // namespace starpmc
