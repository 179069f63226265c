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
constexpr std::array<Row, 19> kRows{{
    {"propose_moves", "proposal", 0xB8A038},
    {"qmmm_coulomb_grid", "QM/MM grid", 0x2F6DB5},
    {"qmmm_coulomb_grid_reduce", "QM/MM grid sums", 0x9CC3EA},
    {"qmmm_nuclei_vdw", "QM/MM nuclei", 0x8E5BB0},
    {"reference_field", "reference field", 0x5C8FD0},
    {"mm_pair", "MM pairs", 0x2E8B57},
    {"mm_pair_table", "MM pair table", 0x8FCB8C},
    {"mm_pair_reduce", "MM sums", 0xC4E3B2},
    {"metropolis_decide", "decision", 0xE8862E},
    {"sample_windows", "whole windows", 0x2A9FB0},
    {"team_windows", "shared windows", 0x1F7F8C},
    {"grid_potential", "potential for QM", 0xE58CA8},
    {"qm_update", "QM update", 0xC8342F},
    {"qm_update_on_gpu", "QM update on a GPU", 0xC85A2F},
    {"qm_preparation", "QM preparation", 0xE07A6E},
    {"pair_virial", "virial", 0x8A6D4B},
    {"pose_energies", "poses", 0x4A55A8},
    {"pose_energies_reduce", "pose sums", 0xA9AEDC},
    {"arithmetic_probe", "probe", 0x707070},
}};

}  // namespace

CodeletName parsed_name(std::string_view codelet) {
  constexpr std::string_view kStart = "starpmc_";
  if (!codelet.starts_with(kStart)) return {};
  codelet.remove_prefix(kStart.size());
  for (const std::string_view precision : {"fp64", "mixed", "fixed"}) {
    const std::size_t place = codelet.find(precision);
    if (place == std::string_view::npos || place == 0 || codelet[place - 1] != '_') continue;
    const std::string_view rest = codelet.substr(place + precision.size());
    if (rest.empty() || rest.front() == '_') {
      return {codelet.substr(0, place - 1), precision};
    }
  }
  return {codelet, {}};
}

TaskDisplay task_display(std::string_view codelet) {
  const auto row = std::ranges::find(kRows, parsed_name(codelet).operation, &Row::operation);
  if (row != kRows.end()) return {std::string(row->name), row->colour};
  constexpr unsigned kGrey = 0x909090;
  return {std::string(codelet), kGrey};
}

}  // namespace starpmc::codelets
