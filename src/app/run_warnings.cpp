#include "app/run_warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/constants.hpp"
#include "io/qm_blocks.hpp"

namespace starpmc {
namespace {

/// Shares of accepted steps beyond which step sizes cannot be right.
constexpr double kLowAcceptance = 0.05;
constexpr double kHighAcceptance = 0.95;

using Warnings = std::vector<std::string>;

void add_agreement(Warnings& warnings, const EnsembleEstimate& energy) {
  if (energy.chains_disagree()) {
    warnings.push_back(fmt::format(
        "the chains have not mixed: their mean total energies differ by more than their errors "
        "explain (F test: by chance in {:.2g} % of runs); they sample different states, and the "
        "error is not to be trusted: make more steps (sampling.steps, "
        "sampling.equilibration-steps)",
        100 * energy.agreement));
  } else if (energy.r_hat > kPoorGelmanRubin) {
    const double scatter = 100 * std::sqrt(energy.r_hat * energy.r_hat - 1);
    warnings.push_back(
        energy.chains == 1
            ? fmt::format(
                  "the chain is too short: the mean total energies of its first and second half "
                  "scatter by {:.0f} % of the energies' own spread (split R-hat {:.2f}, above {}): "
                  "make more steps (sampling.steps)",
                  scatter, energy.r_hat, kPoorGelmanRubin)
            : fmt::format(
                  "the run is short for its fluctuations: first and second halves of its chains "
                  "have mean total energies that scatter by {:.0f} % of the energies' own spread "
                  "(R-hat {:.2f}, above {}); whether they sample the same states cannot be told: "
                  "make more steps (sampling.steps, sampling.equilibration-steps)",
                  scatter, energy.r_hat, kPoorGelmanRubin));
  }
}

void add_equilibration(Warnings& warnings, const RunSummary& summary) {
  const auto late = std::ranges::count_if(summary.equilibrations, &Equilibration::is_late);
  if (late > 0) {
    double share = 0;
    for (const Equilibration& chain : summary.equilibrations) {
      if (chain.is_late()) share = std::max(share, chain.share);
    }
    warnings.push_back(fmt::format(
        "production began before the system was equilibrated: in {} of {} chains the total energy "
        "relaxes over up to {:.0f} % of the {}, which the averages contain: make more steps of "
        "equilibration (sampling.equilibration-steps), by at least those, or see total_energy in "
        "summary.json for the mean without them",
        late, summary.equilibrations.size(), 100 * share,
        is_exact(summary) ? "blocks that the mean is of" : "steps"));
  }
  const auto unsettled = std::ranges::count(summary.chains, EquilibrationEnd::not_settled,
                                            &ChainSummary::equilibration_end);
  if (unsettled > 0) {
    warnings.push_back(fmt::format(
        "equilibration came to no end: in {} of {} chains energies and step sizes had not settled "
        "after as many steps as production has; make more steps (sampling.steps), or say how many "
        "of equilibration (sampling.equilibration-steps)",
        unsettled, summary.chains.size()));
  }
}

/// Of the chain that shows it most.
void add_acceptance(Warnings& warnings, const RunSummary& summary) {
  const auto [lowest, highest] =
      std::ranges::minmax_element(summary.chains, {}, &ChainSummary::acceptance);
  const auto add = [&](const ChainSummary& chain, const char* problem, const char* remedy) {
    warnings.push_back(fmt::format(
        "{:.1f} % of the steps of production were accepted, by moves of up to {:.3g} A and {:.3g} "
        "degrees, which are {}: {} sampling.max-translation and sampling.max-rotation, or let "
        "equilibration tune them (sampling.equilibration-steps = auto)",
        100 * chain.acceptance, chain.final_max_translation_angstrom,
        chain.final_max_rotation_degrees, problem, remedy));
  };
  if (lowest->acceptance < kLowAcceptance) {
    add(*lowest, "too long: hardly anything moves", "lower");
  }
  // In a dilute gas long moves are accepted, too.
  if (highest->acceptance > kHighAcceptance && highest->movement &&
      highest->final_max_translation_angstrom < highest->movement->size_angstrom) {
    add(*highest, "too short: molecules get nowhere", "raise");
  }
}

/// Of the exact ensemble.
void add_blocks(Warnings& warnings, const RunSummary& summary) {
  double blocks = 0;
  double accepted = 0;
  std::size_t remembering = 0;
  double lowest = 1;
  for (const ChainSummary& chain : summary.chains) {
    if (chain.blocks.size() < 2) continue;
    const std::uint64_t tests = chain.blocks.size() - 1;
    const auto passed = static_cast<std::uint64_t>(
        std::ranges::count_if(chain.blocks.begin() + 1, chain.blocks.end(), &QmBlock::accepted));
    blocks += static_cast<double>(tests);
    accepted += static_cast<double>(passed);
    if (!remembers_start(chain.blocks, kGasConstant * summary.temperature_kelvin)) continue;
    ++remembering;
    lowest = std::min(lowest, static_cast<double>(passed) / static_cast<double>(tests));
  }
  if (remembering > 0) {
    warnings.push_back(fmt::format(
        "{} of {} chains do not forget within a quarter of their blocks (down to {:.0f} % of which "
        "are accepted) the sampled ensemble that production starts in: averages of the exact "
        "ensemble may be off by more than their errors; make more steps (sampling.steps), or a "
        "reference that fits better (a finer qm.response-tolerance, more qm.configurations)",
        remembering, summary.chains.size(), 100 * lowest));
  }
  if (blocks == 0 || accepted >= kLowBlockAcceptance * blocks) return;
  warnings.push_back(fmt::format(
      "{:.0f} % of the blocks were accepted: the sampled energy follows the true one poorly, so "
      "that SCF calculations and steps are wasted; make the response finer "
      "(qm.response-tolerance, qm.configurations), or the blocks shorter (qm.interval)",
      100 * accepted / blocks));
}

/// Of the chain whose molecules moved least.
void add_movement(Warnings& warnings, const RunSummary& summary) {
  const ChainSummary* least = nullptr;
  for (const ChainSummary& chain : summary.chains) {
    if (!chain.movement) continue;
    const auto way = [](const ChainSummary& c) {
      return c.movement->displacement_angstrom / c.movement->size_angstrom;
    };
    if (least == nullptr || way(chain) < way(*least)) least = &chain;
  }
  if (least == nullptr) return;
  const Movement& movement = *least->movement;
  const bool stayed = movement.displacement_angstrom < movement.size_angstrom;
  if (!stayed && movement.never_moved == 0) return;
  std::string text;
  if (stayed) {
    text = fmt::format(
        "molecules moved by {:.2f} A in production, less than their own size "
        "({:.2f} A)",
        movement.displacement_angstrom, movement.size_angstrom);
  }
  if (movement.never_moved > 0) {
    text += fmt::format("{}{} of {} molecules never moved", stayed ? ", and " : "",
                        movement.never_moved, movement.molecules);
  }
  warnings.push_back(
      text +
      ": unless it is a solid, the run saw little but its first configuration, and its "
      "errors cannot tell what it has not seen: make more steps (sampling.steps)");
}

}  // namespace

std::vector<std::string> run_warnings(const RunSummary& summary) {
  Warnings warnings;
  add_agreement(warnings, summary.total_energy);
  add_equilibration(warnings, summary);
  if (summary.chains.empty()) return warnings;
  add_acceptance(warnings, summary);
  add_movement(warnings, summary);
  add_blocks(warnings, summary);
  return warnings;
}

}  // namespace starpmc
