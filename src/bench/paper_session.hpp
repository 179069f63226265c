#pragma once

#include <filesystem>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
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
  PaperSession(const PaperRequest& request, std::filesystem::path folder, std::ostream& out);

  const PaperRequest& request() const { return request_; }
  bool wants(std::string_view table) const;
  /// Whether a benchmark was asked for; otherwise a note is added to the table that needs it.
  bool has_case(std::string_view key, PaperTable& table) const;
  /// "A", "B", "C" or "R": by its configuration and the QM worker's density; with overrides, or
  /// where there is no QM program, with a synthetic one. Under a running StarpuRuntime. Valid until
  /// the next call.
  const BenchSystem& load(std::string_view key);
  /// The size of its grid beside the paper's, and where its density is from.
  std::string describe(std::string_view key) const;

  /// What is measured now, for the progress line.
  void progress(const std::string& what);
  /// Writes the table's CSV and paper.json, and prints it.
  void publish(PaperTable table);
  void finish();

  void note_machine(const nlohmann::ordered_json& machine);

 private:
  const PaperRequest& request_;
  std::filesystem::path folder_;
  std::ostream& out_;
  Progress progress_;
  nlohmann::ordered_json document_;
  std::optional<BenchSystem> system_;
  std::string loaded_;   ///< key of system_
  std::string trouble_;  ///< why there is no QM program's density; empty: there is
  std::size_t published_ = 0;
};

/// All of the machine that one chain can use: every worker where there are devices, else all cores.
BenchTarget whole_machine(const StarpuRuntime& runtime);

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
