#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/paper_experiment.hpp"
#include "runtime/starpu_runtime.hpp"

namespace starpmc {

class PaperSession;

/// What estimates of the experiment's time rest on.
struct PaperScale {
  unsigned cpu_workers = 1;
  unsigned devices = 0;           ///< OpenCL devices with work
  unsigned threads = 1;           ///< of the QM program when it makes a density
  unsigned whole_chains = 1;      ///< n of the whole run
  std::size_t proposals = 0;      ///< of table 8
  bool small = false;             ///< synthetic densities of a chosen size
  std::vector<std::string> made;  ///< cases whose density lies in the cache
};

/// A part of the experiment, with an estimate of its time.
struct PaperSection {
  std::string_view what;
  std::vector<std::string_view> tables;
  void (*measure)(PaperSession&);
  double (*estimate)(const PaperScale& scale, const PaperRequest& request);  ///< seconds
};

/// "table-3, figure-8"; "inputs"
std::string section_name(const PaperSection& section);

/// In the paper's order, the making of inputs first.
std::span<const PaperSection> paper_sections();

/// Those that a request needs.
std::vector<PaperSection> wanted_sections(const PaperRequest& request);

PaperScale paper_scale(const StarpuRuntime& runtime, const PaperRequest& request);

/// Seconds of all the sections together.
double estimated_seconds(const PaperScale& scale, const PaperRequest& request);

/// Chooses what the user left open so that all takes about 15 minutes at most: the cases (A and R,
/// and B and C where there is time) and the seconds of a measurement (1 to 5).
void complete_request(const PaperScale& scale, PaperRequest& request);

/// The sections with their estimates, for people.
std::string plan_text(const PaperScale& scale, const PaperRequest& request);

}  // namespace starpmc
