#include "runtime/task_display.hpp"

#include <algorithm>
#include <array>

namespace starpmc::codelets {
namespace {

struct Row {
  std::string_view operation;
  std::string_view name;
  unsigned colour;
};

/// One colour for each, those of one kind alike: density blue, MM green, QM red.
constexpr std::array<Row, 15> kRows{{
    {"propose_moves", "proposal", 0xB8A038},
    {"qmmm_coulomb_grid", "QM/MM grid", 0x2F6DB5},
    {"qmmm_coulomb_grid_reduce", "QM/MM grid sums", 0x9CC3EA},
    {"qmmm_nuclei_vdw", "QM/MM nuclei", 0x8E5BB0},
    {"mm_pair", "MM pairs", 0x2E8B57},
    {"mm_pair_table", "MM pair table", 0x8FCB8C},
    {"mm_pair_reduce", "MM sums", 0xC4E3B2},
    {"metropolis_decide", "decision", 0xE8862E},
    {"sample_windows", "whole windows", 0x2A9FB0},
    {"grid_potential", "potential for QM", 0xE58CA8},
    {"qm_update", "QM update", 0xC8342F},
    {"pair_virial", "virial", 0x8A6D4B},
    {"pose_energies", "poses", 0x4A55A8},
    {"pose_energies_reduce", "pose sums", 0xA9AEDC},
    {"arithmetic_probe", "probe", 0x707070},
}};

/// What a codelet's name has behind "starpmc_" and the operation: nothing, or a precision and
/// perhaps the hash of a potential.
bool is_suffix(std::string_view rest) {
  if (rest.empty()) return true;
  return std::ranges::any_of(
      std::array<std::string_view, 3>{"_fp64", "_mixed", "_fixed"},
      [&](std::string_view precision) {
        return rest.starts_with(precision) &&
               (rest.size() == precision.size() || rest[precision.size()] == '_');
      });
}

}  // namespace

TaskDisplay task_display(std::string_view codelet) {
  constexpr std::string_view kStart = "starpmc_";
  for (const Row& row : kRows) {
    if (!codelet.starts_with(kStart)) break;
    const std::string_view name = codelet.substr(kStart.size());
    if (name.starts_with(row.operation) && is_suffix(name.substr(row.operation.size()))) {
      return {std::string(row.name), row.colour};
    }
  }
  constexpr unsigned kGrey = 0x909090;
  return {std::string(codelet), kGrey};
}

}  // namespace starpmc::codelets
