#include "sampling/chain.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <nlohmann/json.hpp>

#include "base/constants.hpp"
#include "kernels/base/error.hpp"
#include "kernels/window_plan.hpp"
#include "kernels/with_precision.hpp"
#include "sampling/chain_sizes.hpp"
#include "sampling/chain_state.hpp"
#include "sampling/density_update.hpp"
#include "sampling/near_moves.hpp"
#include "sampling/pair_virial.hpp"
#include "sampling/pending_windows.hpp"
#include "sampling/queued_windows.hpp"
#include "sampling/team_windows.hpp"
#include "sampling/window_loads.hpp"

namespace starpmc {
namespace {

/// Tasks submitted before the oldest one is waited for: windows where each term is a task, or tasks
/// of several windows.
constexpr std::size_t kWindowsAhead = 8;
constexpr std::size_t kTasksAhead = 3;

template <class Real>
class StarpuChain final : public Chain {
 public:
  StarpuChain(const System& system, const Settings& settings, std::uint32_t chain,
              unsigned chains_here)
      : data_(system, settings),
        near_(system, settings, chain),
        molecules_(system.molecules),
        sampling_(settings.sampling),
        run_(settings.run),
        chain_(chain),
        chains_here_(chains_here),
        loads_{static_cast<double>(data_.molecules()),
               static_cast<double>(data_.topology.shape.sites)},
        window_(layout(), 1),
        planner_(window_.layout, data_.topology.shape.molecules),
        plan_(static_cast<std::size_t>(plan_size(window_.layout))) {
    data_.alone = chains_here == 1;
    if (settings.output.pressure_interval > 0 || !settings.sampling.equilibration_steps) {
      virial_ = std::make_unique<PairVirial<Real>>(system, settings, data_.topology);
    }
    set_density({});
  }

  void set_density(const DensityGrid& grid) override {
    loads_.points = static_cast<double>(grid.size());
    if (!sizes_.final) choose_sizes();
    team_.release_density();
    data_.set_density(grid, sizes_.grid_parts);
    team_.take_density(
        data_, window_.layout,
        {run_.tasks, chains_here_, sizes_.windows_per_task, loads_.grid_pairs(sizes_.window)});
    spare_records_.clear();  // a task may have another number of windows now
    window_.set_grid_parts(data_.grid_partials());
    if (data_.density == nullptr) {
      clear_grid_energies();
    } else if (std::exchange(of_other_precision_, false)) {
      FullEvaluation<Real>(data_).run_fields();
    }
  }

  void set_reference(std::shared_ptr<const ReferenceTables> reference) override {
    const int components = data_.components();
    const bool had_one = data_.reference != nullptr;
    team_.dissolve();
    data_.set_reference(std::move(reference));
    loads_.points = 0;
    loads_.reference = data_.reference != nullptr;
    loads_.components = data_.components();
    window_.set_grid_parts(0);
    if (!sizes_.final || had_one != loads_.reference || components != data_.components()) {
      choose_sizes();
    }
    window_.set_components(data_.components());
    if (!loads_.reference) clear_grid_energies();
  }
  ReferenceEnergy reference_energy() override { return data_.reference_energy(); }

  EnergyTerms evaluate() override { return take_totals(FullEvaluation<Real>(data_).run()); }
  EnergyTerms evaluate_solute() override {
    auto values = FullEvaluation<Real>(data_).run_fields().values();
    {
      const HostAccess<double> state(data_.chain_state, STARPU_R);
      std::copy_n(state.data().begin() + STATE_TERMS, MM_TERMS, values.begin());
    }
    return take_totals(EnergyTerms::of(values));
  }

  VirialTerms virial() override { return virial_->collect(data_, virial_->submit(data_)); }
  EnergyTerms reproducible_energies() override {
    EnergyTerms terms = virial_->collect(data_, virial_->submit(data_, WithDensity::no)).energies;
    const ReferenceEnergy reference = data_.reference_energy();
    terms.qmmm_grid = reference.electrostatic;
    terms.qmmm_polarisation = reference.polarisation;
    return terms;
  }

  std::uint64_t run(const ChainSegment& segment, ChainObserver& observer,
                    const std::function<bool()>& pause) override;

  QmResult update_density(QmEngine& engine) override {
    if (update_ == nullptr || !update_->is_of(engine)) {
      update_ = std::make_unique<DensityUpdate<Real>>(data_, engine, chains_here_);
    }
    return update_->run(molecules());
  }

  std::vector<Molecule> molecules() override {
    const HostAccess<double> lattice(data_.lattice, STARPU_R);
    take_poses(lattice.data());
    return molecules_;
  }

  StepSizes step_sizes() override {
    const HostAccess<double> state(data_.chain_state, STARPU_R);
    return {state.data()[STATE_MAXIMUM_TRANSLATION],
            360.0 * state.data()[STATE_MAXIMUM_HALF_TURNS]};
  }

  CertificationReport certification() override {
    const HostAccess<double> state(data_.chain_state, STARPU_R);
    return {data_.certified, data_.bound.absolute,
            static_cast<std::uint64_t>(state.data()[STATE_CERTIFIED]),
            state.data()[STATE_LARGEST_ERROR]};
  }

  nlohmann::json state() override {
    return {{"data", data_.state()},
            {"sizes", sizes_.state()},
            {"precision", static_cast<int>(kPrecisionOf<Real>)}};
  }

  void restore(const nlohmann::json& state) override {
    sizes_ = ChainSizes::from(state.at("sizes"));
    apply_sizes();
    data_.restore(state.at("data"));
    // The bound of decisions does not allow for another precision's energies of the density. Those
    // of a fixed reference have the same bits in all.
    of_other_precision_ = state.value("precision", static_cast<int>(kPrecisionOf<Real>)) !=
                          static_cast<int>(kPrecisionOf<Real>);
    plan_of_confined();
    team_.data_changed();
  }

 private:
  EnergyTerms take_totals(const EnergyTerms& terms) {
    const HostAccess<double> state(data_.chain_state, STARPU_RW);
    std::ranges::copy(terms.values(), state.data().begin() + STATE_TERMS);
    team_.data_changed();
    return terms;
  }

  WindowLayout layout() const {
    const auto steps = static_cast<int>(sizes_.window);
    return {steps, 2 * steps + 2, data_.topology.shape.sites,
            data_.topology.shape.padded_molecules};
  }

  void clear_grid_energies() {
    const HostAccess<double> grid_energies(window_.grid_energies, STARPU_W);
    std::ranges::fill(grid_energies.data(), 0.0);
  }

  /// How much a window and a task do. The first density decides; later ones are of about its size.
  void choose_sizes() {
    const std::uint32_t asked = sampling_.window;
    sizes_.window =
        asked > 0 ? asked : automatic_window(loads_, data_.has_solute() && !loads_.reference);
    sizes_.windows_per_task =
        windows_per_task(task_size(), loads_.whole(sizes_.window), chains_here_);
    const bool whole = sizes_.windows_per_task > 0;
    sizes_.mm_parts = whole ? 1 : task_parts(loads_.mm(sizes_.window), chains_here_);
    sizes_.grid_parts = whole ? 1
                        : run_.grid_blocks > 0
                            ? run_.grid_blocks
                            : task_parts(loads_.grid(sizes_.window), chains_here_);
    sizes_.final = loads_.points > 0 || loads_.reference;
    apply_sizes();
  }

  void apply_sizes() {
    const WindowLayout chosen = layout();
    if (chosen.steps != window_.layout.steps) {
      team_.dissolve();
      window_ = WindowBuffers<Real>(chosen, sizes_.mm_parts);
      planner_ = WindowPlanner(chosen, data_.topology.shape.molecules);
      plan_of_confined();
      plan_.assign(static_cast<std::size_t>(plan_size(chosen)), 0);
      window_.set_components(data_.components());
    }
    window_.set_mm_parts(sizes_.mm_parts);
    spare_records_.clear();  // their size goes with the windows of a task
  }

  /// Whoever cuts the grid wants its blocks to be tasks.
  TaskSize task_size() const {
    return run_.tasks == TaskSize::automatic && run_.grid_blocks > 1 ? TaskSize::terms : run_.tasks;
  }

  void plan_of_confined() {
    const HostAccess<double> state(data_.chain_state, STARPU_R);
    const std::vector<int> molecules = confined_molecules(state.data());
    planner_.move_in_turn(molecules);
    steps_in_turn_ = molecules.empty() ? UINT64_MAX : visits_in_turn() * molecules.size();
  }

  /// Whom the steps from `step` on move. No task is under way.
  void begin_steps(const ChainSegment& segment, std::uint64_t step) {
    alike_until_ = segment.first_step + segment.steps;
    if (near_.none()) return;
    NearMoves::Steps steps{};
    {
      const HostAccess<double> lattice(data_.lattice, STARPU_R);
      const HostAccess<double> state(data_.chain_state, STARPU_RW);
      steps = near_.begin(segment, step, data_.topology, lattice.data(), state.data());
    }
    alike_until_ = steps.end;
    if (!steps.changed) return;
    plan_of_confined();
    team_.data_changed();
  }

  void take_poses(std::span<const double> lattice) {
    const std::size_t stride = data_.stride();
    for (std::size_t m = 0; m < molecules_.size(); ++m) {
      const auto pose = [&](std::size_t field) { return lattice[field * stride + m]; };
      molecules_[m].centre = {pose(POSE_X), pose(POSE_Y), pose(POSE_Z)};
      molecules_[m].orientation = {pose(POSE_W), pose(POSE_I), pose(POSE_J), pose(POSE_K)};
    }
  }

  static bool is_due(std::uint64_t step, std::uint64_t interval) {
    return interval > 0 && step % interval == 0;
  }
  /// Steps until the next step that must end a window.
  static std::uint64_t until_multiple(std::uint64_t step, std::uint64_t interval) {
    return interval == 0 ? UINT64_MAX : interval - step % interval;
  }

  StepRange range_from(const ChainSegment& segment, std::uint64_t step) const;
  codelets::PeriodicTuning tuning(const ChainSegment& segment) const;
  codelets::DecideHandles decide_handles(const DataHandle& record) const;
  PendingWindows plan_windows(const ChainSegment& segment, std::uint64_t step);
  void submit(const ChainSegment& segment, PendingWindows& windows);
  void submit_terms(const ChainSegment& segment, const PendingWindows& windows);
  void submit_whole(const ChainSegment& segment, const PendingWindows& windows);
  void observe(PendingWindows& windows, ChainObserver& observer);
  StepPace run_windows(const ChainSegment& segment, std::uint64_t& step, ChainObserver& observer,
                       const std::function<bool()>& pause);

  ChainData<Real> data_;
  NearMoves near_;
  std::uint64_t alike_until_ = 0;             ///< steps that move the same molecules
  std::uint64_t steps_in_turn_ = UINT64_MAX;  ///< most of a window, by visits_in_turn()
  std::vector<Molecule> molecules_;
  Settings::SamplingSection sampling_;
  Settings::RunSection run_;
  std::uint32_t chain_;
  unsigned chains_here_;  ///< see make_chain()
  WindowLoads<Real> loads_;
  ChainSizes sizes_;
  WindowBuffers<Real> window_;
  WindowPlanner planner_;
  std::vector<int> plan_;
  std::int64_t windows_made_ = 0;
  std::vector<DataHandle> spare_records_;
  TeamWindows<Real> team_;
  QueuedWindows<Real> queued_;
  bool of_other_precision_ = false;  ///< the restored energies with the density
  std::unique_ptr<DensityUpdate<Real>> update_;
  std::unique_ptr<PairVirial<Real>> virial_;  ///< null: never asked for
};

/// Steps from `step` that one window may have: windows end where step sizes are tuned, a frame or a
/// virial is due, or other molecules are moved, and where their turns would come too often.
template <class Real>
StepRange StarpuChain<Real>::range_from(const ChainSegment& segment, std::uint64_t step) const {
  const std::uint64_t most = std::min(
      {alike_until_ - step, steps_in_turn_, until_multiple(step, segment.frame_interval),
       until_multiple(step, segment.virial_interval), until_multiple(step, segment.tune_interval),
       static_cast<std::uint64_t>(window_.layout.steps)});
  return {sampling_.seed, step, chain_, static_cast<std::uint32_t>(most),
          kGasConstant * sampling_.temperature_kelvin};
}

template <class Real>
codelets::PeriodicTuning StarpuChain<Real>::tuning(const ChainSegment& segment) const {
  const double longest = *std::ranges::min_element(data_.topology.interaction.box) / 2;
  return {{sampling_.target_acceptance, longest, 0.5, 0, 0}, segment.tune_interval};
}

/// The windows of the next task; none reaches beyond a frame or a virial.
template <class Real>
PendingWindows StarpuChain<Real>::plan_windows(const ChainSegment& segment, std::uint64_t step) {
  const std::size_t most =
      team_.active() ? team_.windows_per_task() : std::max<std::size_t>(sizes_.windows_per_task, 1);
  const std::size_t record = RECORD_FIELDS * static_cast<std::size_t>(window_.layout.steps) * most;
  PendingWindows windows{step, windows_made_, {}, take_spare(spare_records_, record)};
  do {
    const StepRange range = range_from(segment, step);
    const int steps = planner_.plan(range, plan_);
    windows.extents.push_back({steps, plan_[PLAN_CANDIDATES], plan_[PLAN_STARTS]});
    step += static_cast<std::uint64_t>(steps);
    if (is_due(step, segment.frame_interval) || is_due(step, segment.virial_interval)) break;
  } while (windows.extents.size() < most && step < alike_until_);
  windows_made_ += static_cast<std::int64_t>(windows.extents.size());
  return windows;
}

template <class Real>
codelets::DecideHandles StarpuChain<Real>::decide_handles(const DataHandle& record) const {
  const bool fields = data_.has_static_terms();
  return {window_.mm_energies.get(),
          window_.table.get(),
          data_.chain_state.get(),
          data_.lattice.get(),
          data_.lattice_sites.get(),
          data_.field_cache.get(),
          record.get(),
          fields ? window_.grid_energies.get() : nullptr,
          fields ? window_.nuclei_energies.get() : nullptr,
          data_.certification_handles(),
          data_.response_handles(window_)};
}

/// One window, each of its terms a task.
template <class Real>
void StarpuChain<Real>::submit_terms(const ChainSegment& segment, const PendingWindows& windows) {
  const opencl::WindowExtent& extent = windows.extents.front();
  StepRange range = range_from(segment, windows.first_step);
  range.steps = static_cast<std::uint32_t>(extent.steps);
  const codelets::WindowArguments arguments = data_.arguments(window_.layout, extent);
  const codelets::WindowHandles handles = data_.handles(window_);
  codelets::propose_moves<Real>(handles, arguments, range, data_.chain_state.get(),
                                data_.lattice.get(), window_.outside.get());
  submit_energies(data_, window_, arguments);
  codelets::mm_pair_reduce<Real>(handles, arguments, raw_handles(window_.mm_partials),
                                 window_.table.get(), window_.mm_energies.get());
  codelets::metropolis_decide<Real>(handles, arguments, tuning(segment).behind(windows.end()),
                                    data_.certification_arguments(),
                                    decide_handles(windows.record));
}

/// All windows in one task.
template <class Real>
void StarpuChain<Real>::submit_whole(const ChainSegment& segment, const PendingWindows& windows) {
  const BlockedPoints<Real>* const density = data_.density.get();
  const codelets::SampleHandles handles{
      decide_handles(windows.record),
      window_.outside.get(),
      window_.mm_partials.front().get(),
      density != nullptr ? density->parts().front().headers.get() : nullptr,
      density != nullptr ? density->parts().front().points.get() : nullptr,
      density != nullptr ? density->parts().front().blocks : 0,
      data_.reference_handles()};
  codelets::sample_windows<Real>(data_.handles(window_), data_.arguments(window_.layout, {}),
                                 range_from(segment, windows.first_step), windows.extents,
                                 tuning(segment), data_.certification_arguments(),
                                 data_.topology.nuclei, data_.reference_lattices(), handles);
}

template <class Real>
void StarpuChain<Real>::submit(const ChainSegment& segment, PendingWindows& windows) {
  const codelets::LabelledTasks label({static_cast<std::int32_t>(chain_), windows.first_window});
  if (team_.active()) {
    team_.submit({range_from(segment, windows.first_step), windows.extents, tuning(segment),
                  windows.record.get()});
  } else if (queued_.active()) {
    const codelets::QueuedTasks in_order(queued_.worker(), windows.record.get());
    submit_terms(segment, windows);
  } else if (sizes_.windows_per_task == 0) {
    submit_terms(segment, windows);
  } else {
    submit_whole(segment, windows);
  }
  const bool virial = is_due(windows.end(), segment.virial_interval);
  const bool frame = is_due(windows.end(), segment.frame_interval);
  if (queued_.active() && (virial || frame)) queued_.settle(data_);
  if (virial) {
    windows.virial = std::make_unique<PendingVirial>(virial_->submit(data_));
  }
  if (frame) {
    windows.frame = std::make_unique<HostCopy>(data_.lattice);
  }
}

template <class Real>
void StarpuChain<Real>::observe(PendingWindows& windows, ChainObserver& observer) {
  {
    const HostAccess<double> access(windows.record, STARPU_R);
    const auto capacity = static_cast<std::size_t>(window_.layout.steps);
    auto record = access.data();
    std::uint64_t step = windows.first_step;
    for (const opencl::WindowExtent& extent : windows.extents) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(extent.steps); ++i) {
        std::array<double, TERMS> totals{};
        for (std::size_t term = 0; term < totals.size(); ++term) {
          totals[term] = record[(RECORD_TERMS + term) * capacity + i];
        }
        observer.on_step(++step, record[RECORD_ACCEPTED * capacity + i] != 0,
                         EnergyTerms::of(totals));
      }
      record = record.subspan(RECORD_FIELDS * capacity);
    }
  }
  spare_records_.push_back(std::move(windows.record));
  if (windows.virial != nullptr) {
    observer.on_virial(windows.end(), virial_->collect(data_, *windows.virial));
  }
  if (windows.frame == nullptr) return;
  take_poses(windows.frame->data());
  observer.on_frame(windows.end(), molecules_);
}

/// Those from `step` on, all or as many as a try takes; returns how fast they were.
template <class Real>
StepPace StarpuChain<Real>::run_windows(const ChainSegment& segment, std::uint64_t& step,
                                        ChainObserver& observer,
                                        const std::function<bool()>& pause) {
  const bool tries = team_.tries();
  const std::uint64_t until =
      tries ? std::min(alike_until_, step + team_.steps_to_try()) : alike_until_;
  const bool terms = !team_.active() && sizes_.windows_per_task == 0;
  const std::size_t ahead = terms ? kWindowsAhead : kTasksAhead;
  const std::uint64_t first = step;
  const auto begin = std::chrono::steady_clock::now();
  const auto pace = [&] {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    return StepPace{passed.count(), step - first};
  };
  if (terms) queued_.begin(data_, window_, loads_.operations(sizes_.window));
  std::deque<PendingWindows> pending;
  const auto observe_first = [&] {
    observe(pending.front(), observer);
    pending.pop_front();
  };
  while (step < until && !(tries && team_.lasted(pace())) && !pause()) {
    pending.push_back(plan_windows(segment, step));
    submit(segment, pending.back());
    step = pending.back().end();
    // A team's tasks wait for each other: none may be before what reads the first member's state.
    // Those of a device's queue do not wait for what reads its data.
    const bool virial = pending.back().virial != nullptr;
    const bool wait = (team_.active() && virial) ||
                      (queued_.active() && (virial || pending.back().frame != nullptr));
    while (pending.size() >= (wait ? 1 : ahead)) observe_first();
    if (wait && queued_.active()) queued_.settle(data_);
  }
  while (!pending.empty()) observe_first();
  queued_.end(data_);
  return pace();
}

template <class Real>
std::uint64_t StarpuChain<Real>::run(const ChainSegment& segment, ChainObserver& observer,
                                     const std::function<bool()>& pause) {
  std::uint64_t step = segment.first_step;
  while (step < segment.first_step + segment.steps && !pause()) {
    begin_steps(segment, step);
    const bool tried = team_.tries();
    const StepPace pace = run_windows(segment, step, observer, pause);
    if (!tried) continue;
    team_.tell(pace);
    spare_records_.clear();  // a task may have another number of windows now
  }
  const HostAccess<double> state(data_.chain_state, STARPU_R);
  if (state.data()[STATE_NOT_FINITE] > 0) {
    throw RunError("an energy is not finite (overlapping molecules, or a device at fault)");
  }
  return step;
}

}  // namespace

std::unique_ptr<Chain> make_chain(const System& system, const Settings& settings,
                                  std::uint32_t chain, unsigned chains_here) {
  return with_precision(settings.run.precision, [&]<class Real>() -> std::unique_ptr<Chain> {
    return std::make_unique<StarpuChain<Real>>(system, settings, chain, chains_here);
  });
}

}  // namespace starpmc
