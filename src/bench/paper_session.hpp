#pragma once

#include <chrono>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bench/bench_system.hpp"
#include "bench/paper_experiment.hpp"
#include "bench/paper_table.hpp"
#include "bench/target.hpp"
#include "io/progress.hpp"

namespace starpmc {

/// What the measurements of the paper's experiment share: what was asked for, the benchmarks'
/// systems, and where results go.
class PaperSession {
 public:
  /// @param planned_seconds of all sections, for the progress line
  PaperSession(const PaperRequest& request, double planned_seconds, std::filesystem::path folder,
               std::ostream& out);

  const PaperRequest& request() const { return request_; }
  bool wants(std::string_view table) const;
  bool has_case(std::string_view key) const;
  /// Whether a benchmark was asked for; otherwise a note is added to the table that needs it.
  bool has_case(std::string_view key, PaperTable& table) const;
  /// "A", "B", "C" or "R": by its configuration and the QM worker's density; with overrides, or
  /// where there is no QM program, with a synthetic one. Under a running StarpuRuntime. Valid as
  /// long as the session.
  const BenchSystem& load(std::string_view key);
  /// The size of its grid beside the paper's, and where its density is from.
  std::string describe(std::string_view key) const;

  /// A section of the plan; its end prints its time beside the estimate.
  void begin(std::string section, double estimated_seconds);
  void end();
  /// What is measured now, for the progress line.
  void progress(const std::string& what);
  /// Writes the table's CSV and paper.json, and prints it.
  void publish(PaperTable table);
  void finish();

  void note_machine(const nlohmann::ordered_json& machine);

 private:
  using Clock = std::chrono::steady_clock;
  struct Loaded {
    BenchSystem system;
    std::string trouble;  ///< why there is no QM program's density; empty: there is
  };

  void write_document() const;

  const PaperRequest& request_;
  std::filesystem::path folder_;
  std::ostream& out_;
  double planned_seconds_;
  Progress progress_;
  nlohmann::ordered_json document_;
  std::map<std::string, Loaded> loaded_;
  Clock::time_point start_ = Clock::now();
  std::string section_;
  Clock::time_point section_start_ = Clock::now();
  double section_seconds_ = 0;
  double planned_done_ = 0;  ///< estimates of the sections that have ended
};

/// All of the machine that one chain can use: every worker where there are devices, else all cores.
BenchTarget whole_machine(const StarpuRuntime& runtime);

/// A device of the figures that show shares: with an OpenCL device beside them the cores are one.
struct DeviceRow {
  std::string name;  ///< "OpenCL 0.0 (...)", "14 cores", "CPU 0"
  std::vector<std::size_t> workers;
};
std::vector<DeviceRow> device_rows(const StarpuRuntime& runtime);

void make_inputs(PaperSession& session);  ///< boxes and densities that are not in the cache

// The measurements; each starts and ends StarPU and publishes its tables.
void measure_cycles(PaperSession& session);       ///< table 3, figure 8
void measure_kernels(PaperSession& session);      ///< table 4
void measure_chains(PaperSession& session);       ///< tables 5 and 6
void measure_precisions(PaperSession& session);   ///< tables 7 and 9
void measure_error_table(PaperSession& session);  ///< table 8
void measure_devices(PaperSession& session);      ///< figure 9
void measure_convergence(PaperSession& session);  ///< figure 10
void measure_scaling(PaperSession& session);      ///< figure 11

}  // namespace starpmc
