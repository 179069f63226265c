#include "sampling/chain.hpp"

#include <algorithm>
#include <deque>

#include "error.hpp"
#include "kernels/window_plan.hpp"
#include "sampling/chain_state.hpp"
#include "sampling/density_update.hpp"
#include "sampling/task_sizes.hpp"

namespace starpmc {
namespace {

/// Windows submitted before the oldest one is waited for.
constexpr std::size_t kWindowsAhead = 8;
constexpr double kGasConstant = 0.00831446261815324;  // kJ/mol/K

/// A window on its way: its record, and the lattice after it where a frame is due.
struct PendingWindow {
  std::uint64_t first_step;
  int steps;
  DataHandle record;
  DataHandle frame;  ///< empty: none due
};

template <class Real>
class StarpuChain final : public Chain {
 public:
  StarpuChain(const System& system, const Settings& settings, std::uint32_t chain)
      : data_(system, settings),
        molecules_(system.molecules),
        sampling_(settings.sampling),
        grid_parts_(settings.run.grid_blocks),
        chain_(chain),
        window_(layout(), mm_parts()),
        planner_(window_.layout, data_.topology.shape.molecules),
        plan_(static_cast<std::size_t>(plan_size(window_.layout))) {
    // Until there is a density its energies are 0.
    const HostAccess<double> grid_energies(window_.grid_energies, STARPU_W);
    std::ranges::fill(grid_energies.data(), 0.0);
  }

  void set_density(const DensityGrid& grid) override {
    const double pairs =
        static_cast<double>(grid.size()) * window_.layout.steps * data_.topology.shape.sites;
    data_.set_density(grid, grid_parts_ > 0 ? grid_parts_ : task_parts(pairs));
    window_.set_grid_parts(data_.density == nullptr ? 0 : data_.density->parts().size());
  }

  EnergyTerms evaluate() override {
    const EnergyTerms terms = FullEvaluation<Real>(data_).run();
    const HostAccess<double> state(data_.chain_state, STARPU_RW);
    std::ranges::copy(terms.values(), state.data().begin() + STATE_TERMS);
    return terms;
  }

  void run(const ChainSegment& segment, ChainObserver& observer) override;

  QmResult update_density(QmEngine& engine) override {
    if (update_ == nullptr) update_ = std::make_unique<DensityUpdate<Real>>(data_, engine);
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

 private:
  WindowLayout layout() const {
    const std::uint32_t asked = sampling_.window;
    const auto steps = static_cast<int>(
        asked > 0 ? asked : automatic_window(data_.molecules(), data_.has_solute()));
    return {steps, 2 * steps + 2, data_.topology.shape.sites,
            data_.topology.shape.padded_molecules};
  }

  std::size_t mm_parts() const {
    const double sites = data_.topology.shape.sites;
    const double entries = 2.2 * layout().steps;
    return task_parts(entries * sites * sites * static_cast<double>(data_.molecules()));
  }

  void take_poses(std::span<const double> lattice) {
    const std::size_t stride = data_.stride();
    for (std::size_t m = 0; m < molecules_.size(); ++m) {
      const auto pose = [&](std::size_t field) { return lattice[field * stride + m]; };
      molecules_[m].centre = {pose(POSE_X), pose(POSE_Y), pose(POSE_Z)};
      molecules_[m].orientation = {pose(POSE_W), pose(POSE_I), pose(POSE_J), pose(POSE_K)};
    }
  }

  /// Steps until the next step that must end a window.
  static std::uint64_t until_multiple(std::uint64_t step, std::uint64_t interval) {
    return interval == 0 ? UINT64_MAX : interval - step % interval;
  }

  PendingWindow submit_window(const ChainSegment& segment, std::uint64_t step,
                              std::uint64_t most_steps);
  void observe(PendingWindow& pending, ChainObserver& observer);

  ChainData<Real> data_;
  std::vector<Molecule> molecules_;
  Settings::SamplingSection sampling_;
  std::size_t grid_parts_;
  std::uint32_t chain_;
  WindowBuffers<Real> window_;
  WindowPlanner planner_;
  std::vector<int> plan_;
  std::vector<DataHandle> spare_records_;
  std::vector<DataHandle> spare_frames_;
  std::unique_ptr<DensityUpdate<Real>> update_;
};

DataHandle take_spare(std::vector<DataHandle>& spare, std::size_t size) {
  if (spare.empty()) return DataHandle::temporary<double>(size);
  DataHandle handle = std::move(spare.back());
  spare.pop_back();
  return handle;
}

template <class Real>
PendingWindow StarpuChain<Real>::submit_window(const ChainSegment& segment, std::uint64_t step,
                                               std::uint64_t most_steps) {
  const WindowLayout& layout = window_.layout;
  StepRange range{sampling_.seed, step, chain_,
                  static_cast<std::uint32_t>(std::min<std::uint64_t>(
                      most_steps, static_cast<std::uint64_t>(layout.steps))),
                  kGasConstant * sampling_.temperature_kelvin};
  const int steps = planner_.plan(range, plan_);
  range.steps = static_cast<std::uint32_t>(steps);
  const opencl::WindowExtent extent{steps, plan_[PLAN_CANDIDATES], plan_[PLAN_STARTS]};
  const codelets::WindowArguments arguments = data_.arguments(layout, extent);
  const codelets::WindowHandles handles = data_.handles(window_);
  const std::uint64_t end = step + static_cast<std::uint64_t>(steps);

  PendingWindow pending{
      step,
      steps,
      take_spare(spare_records_, RECORD_FIELDS * static_cast<std::size_t>(layout.steps)),
      {}};
  codelets::propose_moves<Real>(handles, arguments, range, data_.chain_state.get(),
                                data_.lattice.get(), window_.outside.get());
  submit_energies(data_, window_, arguments);
  codelets::mm_pair_reduce<Real>(handles, arguments, raw_handles(window_.mm_partials),
                                 window_.table.get(), window_.mm_energies.get());
  const bool tune = segment.tune_interval > 0 && end % segment.tune_interval == 0;
  const double longest = *std::ranges::min_element(data_.topology.interaction.box) / 2;
  const StepTuning tuning{sampling_.target_acceptance, longest, 0.5, tune ? 1 : 0, 0};
  codelets::metropolis_decide<Real>(
      handles, arguments, tuning, data_.certification_arguments(),
      {window_.mm_energies.get(), window_.table.get(), data_.chain_state.get(), data_.lattice.get(),
       data_.lattice_sites.get(), data_.field_cache.get(), pending.record.get(),
       data_.has_solute() ? window_.grid_energies.get() : nullptr,
       data_.has_solute() ? window_.nuclei_energies.get() : nullptr,
       data_.certification_handles()});
  if (segment.frame_interval > 0 && end % segment.frame_interval == 0) {
    pending.frame = take_spare(spare_frames_, data_.lattice_host.size());
    const int status =
        starpu_data_cpy(pending.frame.get(), data_.lattice.get(), 1, nullptr, nullptr);
    if (status != 0) throw RunError("StarPU could not copy the lattice for a frame");
  }
  return pending;
}

template <class Real>
void StarpuChain<Real>::observe(PendingWindow& pending, ChainObserver& observer) {
  {
    const HostAccess<double> access(pending.record, STARPU_R);
    const auto record = access.data();
    const auto capacity = static_cast<std::size_t>(window_.layout.steps);
    for (std::size_t i = 0; i < static_cast<std::size_t>(pending.steps); ++i) {
      const auto total = [&](std::size_t term) {
        return record[(RECORD_TERMS + term) * capacity + i];
      };
      const EnergyTerms totals{total(TERM_MM_COULOMB), total(TERM_MM_VDW), total(TERM_QMMM_VDW),
                               total(TERM_QMMM_NUCLEI), total(TERM_QMMM_GRID)};
      observer.on_step(pending.first_step + i + 1, record[RECORD_ACCEPTED * capacity + i] != 0,
                       totals);
    }
  }
  spare_records_.push_back(std::move(pending.record));
  if (pending.frame.get() == nullptr) return;
  {
    const HostAccess<double> frame(pending.frame, STARPU_R);
    take_poses(frame.data());
  }
  spare_frames_.push_back(std::move(pending.frame));
  observer.on_frame(pending.first_step + static_cast<std::uint64_t>(pending.steps), molecules_);
}

template <class Real>
void StarpuChain<Real>::run(const ChainSegment& segment, ChainObserver& observer) {
  std::deque<PendingWindow> pending;
  std::uint64_t step = segment.first_step;
  const std::uint64_t end = segment.first_step + segment.steps;
  while (step < end) {
    const std::uint64_t most_steps =
        std::min({end - step, until_multiple(step, segment.frame_interval),
                  until_multiple(step, segment.tune_interval)});
    pending.push_back(submit_window(segment, step, most_steps));
    step += static_cast<std::uint64_t>(pending.back().steps);
    if (pending.size() >= kWindowsAhead) {
      observe(pending.front(), observer);
      pending.pop_front();
    }
  }
  for (PendingWindow& window : pending) observe(window, observer);

  const HostAccess<double> state(data_.chain_state, STARPU_R);
  if (state.data()[STATE_NOT_FINITE] > 0) {
    throw RunError("an energy is not finite (overlapping molecules, or a device at fault)");
  }
}

}  // namespace

std::unique_ptr<Chain> make_chain(const System& system, const Settings& settings,
                                  std::uint32_t chain) {
  if (settings.run.precision == Precision::fp64) {
    return std::make_unique<StarpuChain<double>>(system, settings, chain);
  }
  return std::make_unique<StarpuChain<float>>(system, settings, chain);
}

}  // namespace starpmc
