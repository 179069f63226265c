#include "runtime/task_prior.hpp"

#include <algorithm>
#include <array>

#include "runtime/pair_speed.hpp"
#include "runtime/task_display.hpp"

namespace starpmc::codelets {
namespace {

struct PriorRow {
  std::string_view operation;
  double pairs;
};

/// Work as codelets/operations.hpp counts it. From tasks of the largest sizes measured on cores
/// with AVX-512 and on an H100; where both have more to do than to start, they agree within 40 %.
constexpr std::array<PriorRow, 12> kPriorRows{{
    {"propose_moves", 1200},
    {"qmmm_coulomb_grid", 750},
    {"qmmm_coulomb_grid_reduce", 65},
    {"qmmm_nuclei_vdw", 100},
    {"mm_pair", 70},
    {"mm_pair_table", 70},
    {"mm_pair_reduce", 13},
    {"metropolis_decide", 14},
    {"sample_windows", 3},
    {"reference_field", 30},
    {"grid_potential", 9000},
    {"pose_energies", 2},
}};

}  // namespace

TaskPrior task_prior(std::string_view codelet) {
  const CodeletName name = parsed_name(codelet);
  const auto row = std::ranges::find(kPriorRows, name.operation, &PriorRow::operation);
  if (row == kPriorRows.end() || name.precision.empty()) return {};
  return {pair_model(name.precision), row->pairs};
}

}  // namespace starpmc::codelets
