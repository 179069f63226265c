#include "app/subcommands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "app/device_succession.hpp"
#include "app/interruption.hpp"
#include "app/score_request.hpp"
#include "base/seconds_since.hpp"
#include "config/value_names.hpp"
#include "io/json_text.hpp"
#include "io/progress.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/logging.hpp"
#include "kernels/operations.hpp"
#include "runtime/starpu_runtime.hpp"
#include "scoring/pose_source.hpp"
#include "scoring/score_output.hpp"

namespace starpmc {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

/// A line rewritten on a terminal, lines now and then elsewhere.
Progress progress_to_standard_error() {
  if (isatty(STDERR_FILENO) == 1 || Progress::json_wanted()) return Progress::to_standard_error();
  Progress::Sink sink;
  sink.write = [](std::string_view line) { std::cerr << "starpmc: " << line << std::endl; };
  return Progress(std::move(sink));
}

/// The folder of the output, which goes with the object where it was made by it and nothing was put
/// there.
class OutputPlace {
 public:
  explicit OutputPlace(const std::filesystem::path& folder) : folder_(folder) {
    std::error_code error;
    if (!folder.empty()) made_ = std::filesystem::create_directory(folder, error);
    if (error) {
      throw RunError(
          fmt::format("cannot create the output folder {}: {}", folder.string(), error.message()));
    }
  }
  ~OutputPlace() {
    std::error_code ignored;  // it is not empty
    if (made_) std::filesystem::remove(folder_, ignored);
  }
  OutputPlace(const OutputPlace&) = delete;
  OutputPlace& operator=(const OutputPlace&) = delete;

 private:
  std::filesystem::path folder_;
  bool made_ = false;
};

/// Beyond this a block with it may be so wide that fp32 places its sites within 0.1 A only, A.
constexpr double kFarthestSite = 1e6;

/// @param pose its number; 0: the receptor
/// @throws RunError
void expect_in_reach(std::uint64_t pose, double coordinate) {
  if (std::abs(coordinate) <= kFarthestSite) return;
  throw RunError(fmt::format(
      "{}: a site has a coordinate of {} A, and energies of sites beyond {} A are no result; "
      "see the files of receptor, ligand and poses",
      pose == 0 ? "receptor" : fmt::format("pose {}", pose), coordinate, kFarthestSite));
}

/// What came of it.
struct Outcome {
  std::uint64_t poses = 0;
  std::uint64_t overlapping = 0;
  double seconds = 0;
};

/// Reads poses, has them scored and writes them; false: interrupted.
class Scoring {
 public:
  Scoring(const ScoreRequest& request, const ScoreInput& input)
      : request_(request),
        input_(input),
        source_(open_poses(request.poses, input.ligand)),
        best_(request.best),
        progress_(progress_to_standard_error()) {}

  bool run(const Interruption& interruption) {
    const auto start = Clock::now();
    std::vector<Vector3> pose(input_.ligand.atoms.size());
    bool more = source_->next(pose);
    if (!more) {
      throw InputError(request_.poses.string(), "there is no pose in the file", "",
                       "give at least one pose");
    }
    // Its share of the file tells about how many there are: the files' lines are alike.
    ScorerSettings settings = request_.settings;
    settings.poses_expected = std::round(1 / std::max(source_->share_read(), 1e-12));
    if (request_.rows) table_.emplace(request_.table_path(), request_.has_vdw());
    scorer_ = make_pose_scorer(input_.sites.receptor, input_.sites.ligand, input_.function,
                               request_.precision, settings,
                               [this](std::uint64_t number, const PoseEnergy& energy) {
                                 take({number + 1, energy});
                               });
    if (plan().memory_bytes > settings.task_memory_bytes) {
      spdlog::warn("a task needs {} KiB, more than --task-memory allows",
                   (plan().memory_bytes + 1023) / 1024);
    }
    const ReceptorSites& receptor = input_.sites.receptor;
    for (const std::vector<double>* const axis : {&receptor.x, &receptor.y, &receptor.z}) {
      for (const double coordinate : *axis) expect_in_reach(0, coordinate);
    }
    for (; more; more = source_->next(pose)) {
      if (interruption.requested()) return false;
      for (const Vector3& site : pose) {
        for (const double coordinate : {site.x, site.y, site.z}) {
          expect_in_reach(read_ + 1, coordinate);
        }
      }
      scorer_->add(pose);
      ++read_;
    }
    scorer_->finish();
    finish_progress();
    outcome_.seconds = seconds_since(start);
    if (table_) table_->complete();
    return true;
  }

  void commit() {
    if (table_) table_->commit();
  }
  const Outcome& outcome() const { return outcome_; }
  std::vector<ScoredPose> best() const { return best_.sorted(); }
  const TaskPlan& plan() const { return scorer_->plan(); }
  double pairs() const { return scorer_->pairs() * static_cast<double>(outcome_.poses); }

 private:
  void take(const ScoredPose& pose) {
    if (!std::isfinite(pose.energy.total())) {
      throw RunError(fmt::format(
          "pose {}: its energy is not finite (Coulomb {}, 12-6 {} kJ/mol): coordinates are beyond "
          "what --precision {} can compute with; see the files of receptor, ligand and poses",
          pose.number, pose.energy.coulomb_kj_per_mol, pose.energy.vdw_kj_per_mol,
          value_name(request_.precision)));
    }
    ++outcome_.poses;
    if (pose.energy.overlaps()) ++outcome_.overlapping;
    best_.add(pose);
    if (table_) table_->append(pose);
    constexpr std::uint64_t kPosesBetweenLooks = 64;
    if (outcome_.poses % kPosesBetweenLooks == 0) progress_.update(progress_state());
  }

  ProgressState progress_state() const {
    ProgressState state;
    state.step = outcome_.poses;
    state.total_steps = std::max(
        read_, static_cast<std::uint64_t>(static_cast<double>(read_) / source_->share_read()));
    state.unit = "pose";
    state.acceptance = std::nan("");
    return state;
  }
  /// Short lists need none elsewhere than on a terminal.
  void finish_progress() {
    if (isatty(STDERR_FILENO) != 1) return;
    progress_.update(progress_state());
    progress_.finish();
  }

  const ScoreRequest& request_;
  const ScoreInput& input_;
  std::unique_ptr<PoseSource> source_;
  BestPoses best_;
  std::optional<PoseTable> table_;
  Progress progress_;
  Outcome outcome_;
  std::uint64_t read_ = 0;
  std::unique_ptr<PoseScorer> scorer_;  ///< last: its listener uses all of the above
};

std::string describe_tasks(const TaskPlan& plan) {
  return fmt::format("{} receptor tile{}, {} pose{} a task: {} KiB of code and data", plan.tiles,
                     plan.tiles == 1 ? "" : "s", plan.poses, plan.poses == 1 ? "" : "s",
                     (plan.memory_bytes + 1023) / 1024);
}

Json pose_as_json(const ScoredPose& pose, bool vdw) {
  Json written;
  written["pose"] = pose.number;
  written["coulomb_kj_per_mol"] = pose.energy.coulomb_kj_per_mol;
  if (vdw) written["vdw_kj_per_mol"] = pose.energy.vdw_kj_per_mol;
  written["total_kj_per_mol"] = pose.energy.total();
  written["closest_angstrom"] = nullptr;
  if (!std::isnan(pose.energy.closest_angstrom)) {
    written["closest_angstrom"] = pose.energy.closest_angstrom;
  }
  written["overlap"] = pose.energy.overlaps();
  return written;
}

Json workers_as_json(const StarpuRuntime& runtime) {
  Json workers = Json::array();
  for (const WorkerDescription& worker : runtime.workers()) {
    std::uint64_t tasks = 0;
    double seconds = 0;
    for (const codelets::Codelet* codelet : codelets::Codelet::all()) {
      for (const auto& slot : codelet->statistics().counters) {
        const auto& counter = slot[static_cast<std::size_t>(worker.id)];
        tasks += counter.tasks.load();
        seconds += 1e-9 * static_cast<double>(counter.nanoseconds.load());
      }
    }
    workers.push_back({{"name", worker.name}, {"tasks", tasks}, {"seconds", seconds}});
  }
  return workers;
}

Json settings_as_json(const ScoreRequest& request, const ScoreInput& input) {
  const PoseInteraction& interaction = input.function.interaction;
  Json written;
  written["receptor"] = {{"file", request.receptor.string()},
                         {"sites", input.sites.receptor.size()}};
  written["ligand"] = {{"file", request.ligand.string()}, {"sites", input.sites.ligand.size()}};
  written["poses_file"] = request.poses.string();
  written["terms"] = request.has_vdw() ? "coulomb+12-6" : "coulomb";
  written["dielectric"] = interaction.distance_dependent != 0 ? "distance" : "constant";
  written["permittivity"] = input.function.permittivity;
  written["cutoff_angstrom"] = nullptr;
  if (interaction.cutoff > 0) written["cutoff_angstrom"] = interaction.cutoff;
  written["precision"] = value_name(request.precision);
  written["newton_steps"] = interaction.newton_steps;
  written["implementation"] = value_name(request.implementation);
  written["instruction_set"] = simd::instruction_set();
  return written;
}

void write_json(const ScoreRequest& request, const ScoreInput& input, const Scoring& scoring,
                const StarpuRuntime& runtime) {
  const Outcome& outcome = scoring.outcome();
  const TaskPlan& plan = scoring.plan();
  Json written;
  written["version"] = STARPMC_VERSION;
  written.update(settings_as_json(request, input));
  written["poses"] = outcome.poses;
  written["poses_with_overlap"] = outcome.overlapping;
  written["seconds"] = outcome.seconds;
  written["pairs"] = scoring.pairs();
  written["pairs_per_second"] = scoring.pairs() / outcome.seconds;
  written["tasks"] = {{"receptor_tiles", plan.tiles},
                      {"sites_per_tile", plan.blocks_per_tile * STARPMC_BLOCK_POINTS},
                      {"poses_per_task", plan.poses},
                      {"bytes_per_task", plan.memory_bytes}};
  written["workers"] = workers_as_json(runtime);
  written["best"] = Json::array();
  for (const ScoredPose& pose : scoring.best()) {
    written["best"].push_back(pose_as_json(pose, request.has_vdw()));
  }
  write_file_atomically(request.json_path(), json_text(written));
}

}  // namespace

int run_score(std::span<const std::string> arguments, std::ostream& out) {
  const std::optional<ScoreRequest> request = read_score_request(arguments, out);
  if (!request) return 0;
  const ScoreInput input = read_score_input(*request);
  const Interruption interruption(false);
  const StarpuRuntime runtime(request->precision, request->implementation);
  for (const std::string& warning : runtime.warnings()) spdlog::warn(warning);
  const OutputPlace place(request->json_path().parent_path());
  std::vector<std::string> anew{"score"};
  anew.insert(anew.end(), arguments.begin(), arguments.end());
  const DeviceSuccession succession(anew);
  Scoring scoring(*request, input);
  if (!scoring.run(interruption)) {
    spdlog::warn("stopped by a signal; nothing has been written");
    constexpr int kSignalStatus = 128;
    return kSignalStatus + interruption.signal();
  }
  // All that may lack room comes first: of two runs nothing is left side by side.
  write_json(*request, input, scoring, runtime);
  scoring.commit();
  const Outcome& outcome = scoring.outcome();
  if (outcome.overlapping > 0) {
    spdlog::warn(
        "{} of {} poses have sites nearer than {} A to one another; that distance was taken "
        "for them",
        outcome.overlapping, outcome.poses, STARPMC_MINIMUM_DISTANCE);
  }
  out << fmt::format("{} poses, {} with {} sites, energies in kJ/mol\n\n{}", outcome.poses,
                     input.sites.ligand.size(), input.sites.receptor.size(),
                     poses_text(scoring.best(), request->has_vdw()))
      << fmt::format("\n{}\n{:.3g} s, {:.3g} pairs/s; written: {}{}\n",
                     describe_tasks(scoring.plan()), outcome.seconds,
                     scoring.pairs() / outcome.seconds,
                     request->rows ? request->table_path().string() + ", " : "",
                     request->json_path().string());
  return 0;
}

}  // namespace starpmc
