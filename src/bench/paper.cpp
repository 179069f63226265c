#include "bench/paper.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "bench/paper_published.hpp"

namespace starpmc {
namespace {

/// What one of our cases is compared with.
enum class Role { serial, gpu, other };

struct PaperTime {
  std::string system;
  std::string term;
  std::string precision;
  std::string device;
  double microseconds_per_step;
  Role role;
};

/// A row of a published table by its columns' names.
class PublishedRow {
 public:
  PublishedRow(const PaperTable& table, std::size_t row)
      : columns_(table.columns), cells_(table.rows[row]) {}
  double number(std::string_view column) const { return std::get<double>(cell(column)); }
  std::string text(std::string_view column) const { return std::get<std::string>(cell(column)); }

 private:
  const TableCell& cell(std::string_view column) const {
    return cells_.at(
        static_cast<std::size_t>(std::ranges::find(columns_, column) - columns_.begin()));
  }
  const std::vector<std::string>& columns_;
  const std::vector<TableCell>& cells_;
};

template <class Function>
void for_each_row(std::string_view key, Function&& use) {
  const PaperTable table = published_table(key);
  for (std::size_t i = 0; i < table.rows.size(); ++i) use(PublishedRow(table, i));
}

Role role_of(const std::string& device) {
  if (device == kPaperSerialDevice) return Role::serial;
  return device == kPaperGpu ? Role::gpu : Role::other;
}

/// The published kernels that are one operation of ours, or one of our groups of them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kTerms{
    {{"q3m_c/reduce", "qmmm_coulomb_grid"},
     {"mm_vdwc/reduce", "mm_terms"},
     {"q3m_vdwc", "qmmm_nuclei_vdw"},
     {"decide", "metropolis_decide"}}};

/// Whole steps without output: tables 3, 5 and 6.
void add_steps(std::vector<PaperTime>& times) {
  for_each_row("table-3", [&](const PublishedRow& row) {
    times.push_back({row.text("benchmark"), "steps", row.text("precision"), row.text("platform"),
                     1e6 * (row.number("total_s") - row.number("output_s")) / kPaperCycleSteps,
                     role_of(row.text("platform"))});
  });
  times.push_back({"bench-R", "steps", "fp64", kPaperSerialDevice,
                   1e6 * kPaperSerialCycleR / kPaperRCycleSteps, Role::serial});
  for_each_row("table-5", [&](const PublishedRow& row) {
    if (row.number("chains") != 1) return;
    const bool is_gpu = row.text("precision") == "mixed";
    times.push_back({"bench-R", "steps", row.text("precision"), row.text("platform"),
                     1e6 * row.number("cycle_s") / kPaperRCycleSteps,
                     is_gpu ? Role::gpu : Role::other});
  });
}

/// Table 4, and table 9 for the grid term alone.
void add_kernels(std::vector<PaperTime>& times) {
  for_each_row("table-4", [&](const PublishedRow& row) {
    const auto term = std::ranges::find(kTerms, row.text("kernel"),
                                        &std::pair<std::string_view, std::string_view>::first);
    if (term == kTerms.end()) return;
    times.push_back({"bench-A", std::string(term->second), row.text("precision"),
                     row.text("device"), row.number("microseconds_per_step"),
                     role_of(row.text("device"))});
  });
  for_each_row("table-9", [&](const PublishedRow& row) {
    times.push_back({"bench-A", "qmmm_coulomb_grid", row.text("precision"), row.text("device"),
                     row.number("microseconds_per_step"), Role::other});
  });
}

const std::vector<PaperTime>& paper_times() {
  static const std::vector<PaperTime> all = [] {
    std::vector<PaperTime> times;
    add_steps(times);
    add_kernels(times);
    return times;
  }();
  return all;
}

/// Table 8, of bench-A; its energy E is that of the whole system.
std::vector<Figure> errors_of(const PublishedRow& row) {
  return {{"grid_mean_error_kj_per_mol", row.number("grid_mean_kj_per_mol")},
          {"grid_max_error_kj_per_mol", row.number("grid_max_kj_per_mol")},
          {"total_mean_error_kj_per_mol", row.number("total_mean_kj_per_mol")},
          {"total_max_error_kj_per_mol", row.number("total_max_kj_per_mol")}};
}

std::optional<double> paper_time(const BenchCase& ours, Role role) {
  for (const PaperTime& time : paper_times()) {
    if (time.system == ours.system && time.term == ours.term && time.role == role) {
      return time.microseconds_per_step;
    }
  }
  return std::nullopt;
}

void add_speedups(BenchCase& ours) {
  const Figure* const time = ours.figure("microseconds_per_step");
  if (time == nullptr) return;
  const double own = time->value;
  if (const auto serial = paper_time(ours, Role::serial)) {
    ours.figures.push_back({"times_faster_than_paper_core", *serial / own});
  }
  if (const auto gpu = paper_time(ours, Role::gpu)) {
    ours.figures.push_back({"times_faster_than_paper_gpu", *gpu / own});
  }
}

void add_error_shares(BenchCase& ours) {
  for_each_row("table-8", [&](const PublishedRow& row) {
    if (row.text("precision") != ours.precision) return;
    const auto share = [&](const char* quantity, const char* name, double value) {
      ours.figures.push_back({name, ours.figure(quantity)->value / value});
    };
    share("grid_mean_error_kj_per_mol", "grid_mean_error_over_paper",
          row.number("grid_mean_kj_per_mol"));
    share("grid_max_error_kj_per_mol", "grid_max_error_over_paper",
          row.number("grid_max_kj_per_mol"));
  });
}

}  // namespace

std::vector<BenchCase> paper_cases(std::string_view system, std::string_view term) {
  std::vector<BenchCase> cases;
  const auto add = [&](const std::string& precision, const std::string& device,
                       std::vector<Figure> figures) {
    cases.push_back(
        {std::string(term), std::string(system), "paper", precision, device, std::move(figures)});
  };
  for (const PaperTime& time : paper_times()) {
    if (time.system != system || time.term != term) continue;
    add(time.precision, time.device, {{"microseconds_per_step", time.microseconds_per_step}});
  }
  if (term != "errors" || system != "bench-A") return cases;
  for_each_row("table-8",
               [&](const PublishedRow& row) { add(row.text("precision"), "", errors_of(row)); });
  return cases;
}

void compare_with_paper(std::vector<BenchCase>& cases) {
  for (BenchCase& ours : cases) {
    if (ours.implementation == "paper") continue;
    if (ours.term == "errors") {
      if (ours.system == "bench-A") add_error_shares(ours);
    } else {
      add_speedups(ours);
    }
  }
}

}  // namespace starpmc
