#include "app/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <iostream>
#include <optional>

#include "app/simulation.hpp"
#include "io/log.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/logging.hpp"

namespace starpmc {
namespace {

int simulate(Ranks& ranks, Inputs inputs, Begin begin) {
  const std::filesystem::path folder = inputs.settings.output.folder;
  try {
    Simulation simulation(ranks, std::move(inputs), begin);
    if (simulation.run()) {
      stop_file_logging();
      if (ranks.first()) std::cout << result_table(simulation.summary()) << std::flush;
      return 0;
    }
    spdlog::info("stopped by a signal after {} steps", simulation.steps_done());
    stop_file_logging();
    if (ranks.first()) {
      std::cerr << fmt::format("starpmc: stopped after {} steps; go on with: {}\n",
                               simulation.steps_done(), Simulation::how_to_go_on(ranks, folder));
    }
    return 128 + simulation.interrupting_signal();
  } catch (const StoppedAtStart& stop) {
    if (ranks.first()) {
      std::cerr << "starpmc: stopped while the run was being prepared; "
                << (begin == Begin::anew ? "nothing has been written"
                                         : "go on with: " + Simulation::how_to_go_on(ranks, folder))
                << '\n';
    }
    return 128 + stop.signal;
  } catch (const std::exception& error) {
    spdlog::info("stopped: {}", error.what());  // the log keeps the reason; main prints it
    stop_file_logging();
    throw;
  }
}

void check_override(const std::string& word) {
  if (!word.starts_with("--") || may_change_when_resumed(word)) return;
  throw InputError(
      "command line", "this option may not change when a run is resumed", word,
      "leave it out; options of [run], qm.python, qm.time-limit, qm.threads, qm.memory, "
      "qm.max-iterations, output.checkpoint-interval, output.log-level and output.trace may");
}

/// The words with the short form of output.trace spelt out.
std::vector<std::string> spelt_out(std::span<const std::string> words) {
  std::vector<std::string> result(words.begin(), words.end());
  std::ranges::replace(result, "--trace", "--output.trace=true");
  return result;
}

}  // namespace

boost::program_options::options_description run_options() {
  boost::program_options::options_description described;
  described.add_options()("trace", "the same as --output.trace true");
  return described;
}

bool may_change_when_resumed(std::string_view option) {
  constexpr std::array<std::string_view, 9> kMay{"--run.",
                                                 "--qm.python",
                                                 "--qm.time-limit",
                                                 "--qm.threads",
                                                 "--qm.memory",
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
    return simulate(ranks, std::move(*inputs), Begin::anew);
  });
}

namespace {

Inputs resumed_inputs(const Ranks& ranks, std::span<const std::string> arguments) {
  if (arguments.empty() || arguments[0].starts_with("--")) {
    throw InputError("command line", "no output folder", arguments.empty() ? "" : arguments[0],
                     "write: starpmc resume FOLDER, the output folder of the run");
  }
  const std::filesystem::path folder = arguments[0];
  for (const std::string& word : arguments.subspan(1)) check_override(word);
  if (ranks.first()) OutputFolder::resume(folder);  // whether it can be: the lock is given back
  std::vector<std::string> words{(folder / "settings.cfg").string()};
  words.insert(words.end(), arguments.begin() + 1, arguments.end());
  words.insert(words.end(), {"--output.folder", std::filesystem::absolute(folder).string()});
  return read_inputs(words, "resume");
}

}  // namespace

int resume_simulation(std::span<const std::string> arguments) {
  return over_ranks([&](Ranks& ranks) {
    std::optional<Inputs> inputs;
    agree(ranks, [&] { inputs = resumed_inputs(ranks, spelt_out(arguments)); });
    return simulate(ranks, std::move(*inputs), Begin::at_checkpoints);
  });
}

}  // namespace starpmc
