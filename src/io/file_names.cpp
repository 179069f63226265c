#include "io/file_names.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "io/energy_terms.hpp"

namespace starpmc {
namespace {

// "trajectory.h5" is the name that earlier versions gave to the trajectory.
constexpr auto own_names = std::to_array<std::string_view>({"energies.csv",
                                                            "trajectory.h5md",
                                                            "trajectory.h5",
                                                            "system.pdb",
                                                            "final.gro",
                                                            "final.pdb",
                                                            summary_name,
                                                            "run.log",
                                                            settings_name,
                                                            "checkpoint.cbor",
                                                            "checkpoint.previous.cbor",
                                                            "report.html",
                                                            "report-rdf.csv",
                                                            "report-coordination.csv",
                                                            "trajectory.xtc",
                                                            "qm-worker.log",
                                                            "timeline.csv",
                                                            "timeline.svg",
                                                            "paje.trace",
                                                            "reference.h5",
                                                            "reference-preparation.cbor",
                                                            "blocks.csv"});

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// grid-N.bin or grid-N-M.bin
bool is_grid_name(std::string_view name) {
  constexpr std::string_view start = "grid-";
  constexpr std::string_view end = ".bin";
  if (!name.starts_with(start) || !name.ends_with(end) || name.size() < start.size() + end.size())
    return false;
  name.remove_prefix(start.size());
  name.remove_suffix(end.size());
  const std::size_t dash = name.find('-');
  if (dash == std::string_view::npos) return is_digits(name);
  return is_digits(name.substr(0, dash)) && is_digits(name.substr(dash + 1));
}

/// An energy term's name with dashes.
bool is_term_plot(std::string_view name) {
  std::string term(name);
  std::ranges::replace(term, '-', '_');
  return name.find('_') == std::string_view::npos &&
         std::ranges::find(EnergyTerms::names, term) != EnergyTerms::names.end();
}

/// report-NAME.png, as `starpmc report --png` names its plots (src/report).
bool is_plot_name(std::string_view name) {
  constexpr std::array<std::string_view, 15> plots = {
      "total",        "qmmm-coulomb",  "solute",    "acceptance", "pressure",
      "running-mean", "window-errors", "qm-energy", "qm-dipole",  "qm-jump",
      "workers",      "box",           "rdf",       "blocks",     "block-differences"};
  constexpr std::string_view start = "report-";
  constexpr std::string_view end = ".png";
  if (!name.starts_with(start) || !name.ends_with(end) || name.size() < start.size() + end.size())
    return false;
  name = name.substr(start.size(), name.size() - start.size() - end.size());
  if (name.starts_with("rdf-")) name = "rdf";
  return std::ranges::find(plots, name) != plots.end() || is_term_plot(name);
}

/// timeline-RANK.tasks, of which there are only temporary files.
bool is_spool_name(std::string_view name) {
  constexpr std::string_view start = "timeline-";
  constexpr std::string_view end = ".tasks";
  return name.starts_with(start) && name.ends_with(end) &&
         name.size() > start.size() + end.size() &&
         is_digits(name.substr(start.size(), name.size() - start.size() - end.size()));
}

}  // namespace

bool is_result_name(std::string_view name) {
  return std::ranges::find(own_names, name) != own_names.end() || is_grid_name(name) ||
         is_plot_name(name);
}

bool is_temporary_name(std::string_view name) {
  constexpr std::string_view end = ".temporary";
  if (!name.starts_with('.') || !name.ends_with(end)) return false;
  name.remove_prefix(1);
  name.remove_suffix(end.size());
  const std::size_t dot = name.rfind('.');
  return dot != std::string_view::npos && is_digits(name.substr(dot + 1)) &&
         (is_result_name(name.substr(0, dot)) || is_spool_name(name.substr(0, dot)));
}

bool is_chain_folder_name(std::string_view name) {
  constexpr std::string_view start = "chain-";
  if (!name.starts_with(start)) return false;
  name.remove_prefix(start.size());
  return is_digits(name) && (name == "0" || name.front() != '0');
}

}  // namespace starpmc
