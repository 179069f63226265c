#include "app/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/device_succession.hpp"
#include "app/simulation.hpp"
#include "config/options.hpp"
#include "io/log.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/logging.hpp"

namespace starpmc {
namespace {

/// @param successor the command that goes on with it where a device fails
int simulate(Ranks& ranks, Inputs inputs, Begin begin, std::span<const std::string> successor) {
  const std::string how_to_go_on = Simulation::how_to_go_on(ranks, inputs.settings.output.folder);
  try {
    Simulation simulation(ranks, std::move(inputs), begin, how_to_go_on);
    std::optional<DeviceSuccession> succession;
    if (ranks.size() == 1) succession.emplace(successor);
    if (simulation.run()) {
      stop_file_logging();
      if (ranks.first()) std::cout << result_table(simulation.summary()) << std::flush;
      return 0;
    }
    spdlog::info("stopped by a signal after {} steps", simulation.steps_done());
    stop_file_logging();
    if (ranks.first()) {
      std::cerr << fmt::format("starpmc: stopped after {} steps; go on with: {}\n",
                               simulation.steps_done(), how_to_go_on);
    }
    return 128 + simulation.interrupting_signal();
  } catch (const StoppedAtStart& stop) {
    if (ranks.first()) {
      std::cerr << "starpmc: stopped while the run was being prepared; "
                << (begin == Begin::anew ? "nothing has been written"
                                         : "go on with: " + how_to_go_on)
                << '\n';
    }
    return 128 + stop.signal;
  } catch (const std::exception& error) {
    spdlog::info("stopped: {}", error.what());  // the log keeps the reason; main prints it
    stop_file_logging();
    throw;
  }
}

constexpr const char* kStepsOption = "--sampling.steps";

void check_override(const std::string& word) {
  if (!word.starts_with("--") || may_change_when_resumed(word)) return;
  throw InputError(
      "command line", "this option may not change when a run is resumed", word,
      "leave it out; sampling.steps, options of [run], qm.python, qm.time-limit, qm.workers, "
      "qm.threads, qm.memory, qm.device, qm.max-iterations, output.checkpoint-interval, "
      "output.log-level and output.trace may");
}

/// The words with the short form of output.trace spelt out.
std::vector<std::string> spelt_out(std::span<const std::string> words) {
  std::vector<std::string> result(words.begin(), words.end());
  std::ranges::replace(result, "--trace", "--output.trace=true");
  return result;
}

/// The same with that of sampling.steps.
std::vector<std::string> spelt_out_for_resume(std::span<const std::string> words) {
  std::vector<std::string> result = spelt_out(words);
  constexpr std::string_view kSteps = "--steps";
  for (std::string& word : result) {
    if (word == kSteps || word.starts_with("--steps=")) {
      word.replace(0, kSteps.size(), kStepsOption);
    }
  }
  return result;
}

}  // namespace

boost::program_options::options_description run_options() {
  boost::program_options::options_description described;
  described.add_options()("trace", "the same as --output.trace true");
  return described;
}

boost::program_options::options_description resume_options() {
  boost::program_options::options_description described = run_options();
  described.add_options()("steps", boost::program_options::value<std::uint64_t>(),
                          "the same as --sampling.steps: steps of production in all, those made "
                          "included; more than before, of a finished run, too");
  return described;
}

bool may_change_when_resumed(std::string_view option) {
  constexpr std::array<std::string_view, 12> kMay{"--run.",
                                                  kStepsOption,
                                                  "--qm.python",
                                                  "--qm.time-limit",
                                                  "--qm.workers",
                                                  "--qm.threads",
                                                  "--qm.memory",
                                                  "--qm.device",
                                                  "--qm.max-iterations",
                                                  "--output.checkpoint-interval",
                                                  "--output.log-level",
                                                  "--output.trace"};
  return std::ranges::any_of(kMay, [&](std::string_view may) { return option.starts_with(may); });
}

int run_simulation(std::span<const std::string> arguments) {
  return over_ranks([&](Ranks& ranks) {
    std::optional<Inputs> inputs;
    agree(ranks, [&] { inputs = read_inputs(spelt_out(arguments), "run"); });
    const std::vector<std::string> successor{"resume", inputs->settings.output.folder.string()};
    return simulate(ranks, std::move(*inputs), Begin::anew, successor);
  });
}

namespace {

/// A run that ended because it knew its energy well enough would do so again.
void require_not_known(const std::filesystem::path& summary_file, std::uint64_t steps) {
  const auto summary = nlohmann::json::parse(std::ifstream(summary_file), nullptr, false);
  if (!summary.is_object()) return;
  const auto chains = summary.value("chains", nlohmann::json::array({summary}));
  for (const nlohmann::json& chain : chains) {
    const auto found = chain.find("steps");
    if (found == chain.end() || !found->is_number_unsigned()) continue;
    const auto made = found->get<std::uint64_t>();
    if (made >= steps) continue;
    throw InputError(
        summary_file.string(),
        fmt::format("the run ended before its {} steps of production, when it knew its "
                    "energy to within sampling.until-error: more steps would not be "
                    "made",
                    steps),
        std::to_string(made), "begin a run with a smaller sampling.until-error in another folder");
  }
}

/// @throws InputError where a run that is to be resumed cannot have so many steps
Begin begin_with_steps(const std::filesystem::path& folder, std::uint64_t steps) {
  const std::uint64_t before = read_settings(folder / "settings.cfg", {}).sampling.steps;
  const std::filesystem::path summary = folder / "summary.json";
  const bool finished = std::filesystem::exists(summary);
  if (steps < before || (finished && steps == before)) {
    throw InputError(std::string("command line: ") + kStepsOption,
                     fmt::format("the run in {} {} {} steps of production", folder.string(),
                                 finished ? "has made" : "is to make", before),
                     std::to_string(steps),
                     "write a larger number: steps in all, not further ones");
  }
  if (finished) require_not_known(summary, before);
  return steps > before ? Begin::with_more_steps : Begin::at_checkpoints;
}

struct ResumedRun {
  Inputs inputs;
  Begin begin = Begin::at_checkpoints;
};

ResumedRun read_resumed_run(const Ranks& ranks, std::span<const std::string> arguments) {
  if (arguments.empty() || arguments[0].starts_with("--")) {
    throw InputError("command line", "no output folder", arguments.empty() ? "" : arguments[0],
                     "write: starpmc resume FOLDER, the output folder of the run");
  }
  const std::filesystem::path folder = arguments[0];
  for (const std::string& word : arguments.subspan(1)) check_override(word);
  const bool steps_given = std::ranges::any_of(
      arguments.subspan(1), [](const std::string& word) { return word.starts_with(kStepsOption); });
  const auto which = steps_given ? RunState::any : RunState::unfinished;
  if (ranks.first()) OutputFolder::resume(folder, which);  // can it be? The lock is given back.
  std::vector<std::string> words{(folder / "settings.cfg").string()};
  words.insert(words.end(), arguments.begin() + 1, arguments.end());
  words.insert(words.end(), {"--output.folder", std::filesystem::absolute(folder).string()});
  ResumedRun run{read_inputs(words, "resume")};
  if (steps_given) run.begin = begin_with_steps(folder, run.inputs.settings.sampling.steps);
  return run;
}

}  // namespace

int resume_simulation(std::span<const std::string> arguments) {
  return over_ranks([&](Ranks& ranks) {
    std::optional<ResumedRun> run;
    agree(ranks, [&] { run = read_resumed_run(ranks, spelt_out_for_resume(arguments)); });
    std::vector<std::string> successor{"resume"};
    successor.insert(successor.end(), arguments.begin(), arguments.end());
    return simulate(ranks, std::move(run->inputs), run->begin, successor);
  });
}

}  // namespace starpmc
