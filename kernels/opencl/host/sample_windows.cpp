#include <algorithm>
#include <optional>

#include "kernels/opencl/host/handed_windows.hpp"
#include "kernels/opencl/host/handles.hpp"
#include "kernels/opencl/host/window_work.hpp"

namespace starpmc::opencl {
namespace {

/// Without a density and without a reference there is no field.
void clear_field(DeviceProgram& program, cl_command_queue queue, const Window& window,
                 const WholeWindow& whole) {
  const Buffer& energies = whole.decide.grid_energies;
  if (energies.memory == nullptr || whole.blocks != 0 || has_reference(whole)) return;
  qmmm_coulomb_grid_reduce(program, queue, window.layout.candidates, {}, energies);
}

/// Brings a team's energies of a window's candidates in the place of a member's own, which its
/// queue computes; meanwhile the queue goes on with what does not need them.
class TeamEnergies {
 public:
  TeamEnergies(DeviceProgram& program, cl_command_queue queue, const TeamMember& member,
               int candidates, const Buffer& energies)
      : queue_(queue), member_(member), count_(size_of(candidates)), energies_(energies) {
    auto* const values = reinterpret_cast<double*>(program.pinned(queue, 2 * bytes()).data());
    own_ = {values, count_};
    sums_ = {values + count_, count_};
    cl_event read = nullptr;
    check(clEnqueueReadBuffer(queue_, energies_.memory, CL_FALSE, energies_.offset_bytes, bytes(),
                              own_.data(), 0, nullptr, &read),
          "clEnqueueReadBuffer");
    read_.reset(read);
    check(clFlush(queue_), "clFlush");
  }

  void finish() {
    check(clFlush(queue_), "clFlush");
    wait();
    std::ranges::copy(own_, member_.own().begin());
    member_.tell();
    // The device has read the last window's before it computed this one's.
    member_.sum(sums_);
    check(clEnqueueWriteBuffer(queue_, energies_.memory, CL_FALSE, energies_.offset_bytes, bytes(),
                               sums_.data(), 0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
  }

 private:
  std::size_t bytes() const { return count_ * sizeof(double); }

  void wait() const {
    cl_event read = read_.get();
    const cl_int error = clWaitForEvents(1, &read);
    if (error == CL_SUCCESS) return;
    // What has failed is told by the event.
    cl_int status = error;
    clGetEventInfo(read, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    check(status < 0 ? status : error, "energies with the density");
  }

  cl_command_queue queue_;
  const TeamMember& member_;
  std::size_t count_;
  const Buffer& energies_;
  std::span<double> own_;
  std::span<double> sums_;
  Owned<cl_event> read_;
};

/// A launch per operation, as CPUs like it: their kernels differ in their groups.
void sample_by_operations(DeviceProgram& program, cl_command_queue queue, const Window& window,
                          const WindowTask& task, const Certification& certification,
                          const WholeWindow& whole) {
  DecideBuffers decide = whole.decide;
  decide.record = task.record;
  propose_moves(program, queue, window, task.range, decide.chain_state, decide.lattice,
                whole.outside);
  if (whole.blocks != 0) {
    qmmm_coulomb_grid(program, queue, window, whole.blocks, whole.block_headers, whole.points,
                      decide.grid_energies);
  }
  std::optional<TeamEnergies> team;
  if (whole.member.has_others()) {
    team.emplace(program, queue, whole.member, window.extent.candidates, decide.grid_energies);
  }
  if (has_reference(whole)) reference_field(program, queue, window, whole.reference);
  if (has_static_terms(window.interaction, certification.nuclei) != 0) {
    qmmm_nuclei_vdw(program, queue, window, certification.nuclei, certification.solute,
                    decide.nuclei_energies);
  }
  mm_pair(program, queue, window, 0, window.topology.molecules, decide.lattice,
          decide.lattice_sites, whole.outside, whole.mm_partial);
  mm_pair_table(program, queue, window, decide.table);
  const Buffer partials[] = {whole.mm_partial};
  mm_pair_reduce(program, queue, window, partials, decide.table, decide.mm_energies);
  if (team) team->finish();
  metropolis_decide(program, queue, window, task.tuning, certification, decide);
}

/// Windows of three launches each, or of four where a response's doubts are settled apart.
class FusedWindows {
 public:
  FusedWindows(DeviceProgram& program, cl_command_queue queue, const Window& window,
               std::span<const WindowTask> tasks, const Certification& certification,
               const WholeWindow& whole, Settling settling)
      : program_(program),
        queue_(queue),
        settling_(settling),
        tasks_(tasks),
        all_{window, certification, whole, records_of(window, tasks)} {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      check_extent(program_, tasks_[i].extent, components());
      bytes = std::max(bytes, work_of(i).total_bytes);
    }
    // Once to know how much there is, then in memory of that size.
    const std::size_t handed = HandedWindows(all_).move_to(program_, {}).bytes();
    arrays_ = all_.move_to(program_, {program_.scratch(queue_, handed + bytes), 0});
    scratch_ = behind(arrays_.memory(), handed);
  }

  void run() {
    arrays_.bring(program_, queue_);
    // The counters of groups, and what a window's doubts leave at 0.
    fill_with_zeros(queue_, static_cast<int>(work_of(0).decide.differences_bytes / sizeof(double)),
                    scratch_);
    clear_field(program_, queue_, all_.window, all_.whole);
    const Work first = work_of(0);
    propose_moves_and_sites(program_, queue_, window_of(0), tasks_[0].range,
                            all_.whole.decide.chain_state, all_.whole.decide.lattice,
                            all_.whole.outside, first.grid.capacity, sites_of(first));
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const Window window = window_of(i);
      const Work work = work_of(i);
      energies(window, work);
      if (has_light_sums()) add_up(window, work);
      if (decides_at_once()) {
        decide_at_once(i, window, work);
        continue;
      }
      decide(i, window, work);
      settle(i, window, work);
    }
    arrays_.put_back(program_, queue_);
  }

 private:
  struct Work {
    DecideWork decide;
    GridWork grid;  ///< its memory lies behind
    std::size_t total_bytes = 0;
  };

  int components() const { return all_.whole.decide.response.components; }

  Window window_of(std::size_t i) const {
    Window window = all_.window;
    window.extent = tasks_[i].extent;
    return window;
  }

  Work work_of(std::size_t i) const {
    const Window window = window_of(i);
    // More groups than have something to do would keep other chains' from their registers.
    const int groups = all_.certification.blocks > 0 ? program_.compute_units() : 1;
    Work work;
    work.decide = decide_work(program_, window, groups, components());
    if (all_.whole.blocks > 0) work.grid = grid_work(program_, window, all_.whole.blocks);
    work.total_bytes = work.decide.total_bytes + work.grid.total_bytes;
    return work;
  }
  Buffer sites_of(const Work& work) const { return behind(scratch_, work.decide.total_bytes); }
  Buffer partials_of(const Work& work) const {
    return behind(sites_of(work), work.grid.partials_bytes);
  }
  DecideBuffers buffers_of(std::size_t i) const {
    DecideBuffers buffers = all_.whole.decide;
    buffers.record =
        behind(all_.records, tasks_[i].record.offset_bytes - tasks_.front().record.offset_bytes);
    return buffers;
  }

  /// Whether parts of the density's energies are left to be added up with the decisions.
  bool leaves_grid_parts() const {
    return all_.whole.blocks > 0 && !all_.whole.member.has_others();
  }

  void energies(const Window& window, const Work& work) {
    const Buffer sites = sites_of(work);
    const Buffer partials = partials_of(work);
    if (!all_.whole.member.has_others()) {
      window_energies(program_, queue_, window, work.grid, all_.certification, all_.whole, sites,
                      partials);
      return;
    }
    // The density first: while the others are told, the device goes on with the rest.
    const Buffer& energies = all_.whole.decide.grid_energies;
    qmmm_coulomb_grid_pairs(program_, queue_, window, work.grid, all_.whole.blocks, sites,
                            all_.whole.block_headers, all_.whole.points, partials);
    qmmm_coulomb_grid_sum(program_, queue_, window, work.grid, sites, partials, energies);
    TeamEnergies team(program_, queue_, all_.whole.member, window.extent.candidates, energies);
    WholeWindow rest = all_.whole;
    rest.blocks = 0;
    window_energies(program_, queue_, window, {}, all_.certification, rest, sites, partials);
    team.finish();
  }

  void add_up(const Window& window, const Work& work) {
    const DecideBuffers& decide = all_.whole.decide;
    const AddUpGroups groups = small_groups_that_add_up(window.extent, components());
    Launch(program_, queue_, "window_add_up")
        .with_memory_of(scratch_)
        .with(window_shape(window), groups, cl_int{components()}, Place(window.plan),
              Place(all_.whole.mm_partial), Place(decide.table),
              Place(some(decide.response.candidates, scratch_)),
              Place(some(decide.response.molecules, scratch_)),
              Place(some(decide.response.total, scratch_)), Place(decide.mm_energies),
              Place(behind(scratch_, work.decide.differences_bytes)), Place(scratch_))
        .run({size_of(groups.mm + groups.differences + groups.own), 1}, {ADD_UP_GROUP, 1});
  }

  /// Whether a launch of small groups adds up; else the groups of the launch that decides do.
  bool has_light_sums() const { return components() > 0 || decides_at_once(); }

  /// What has not been added up, then the decisions.
  void decide(std::size_t i, const Window& window, const Work& work) {
    const WindowExtent& extent = window.extent;
    const int items = program_.shape().decide_group;
    const AddUpGroups groups =
        has_light_sums() ? AddUpGroups{} : deciding_groups_that_add_up(extent, items);
    const std::size_t grid_groups =
        leaves_grid_parts() ? groups_for(extent.candidates, GRID_SUMS_PER_GROUP) : 0;
    const std::size_t all_groups =
        std::max<std::size_t>(size_of(groups.mm + groups.differences) + grid_groups, 1);
    const int parts =
        std::min(exact_parts(program_, window, all_.certification), static_cast<int>(all_groups));
    Launch launch(program_, queue_, "window_decide");
    set_decide_arguments(launch, window, tasks_[i].tuning, all_.certification, buffers_of(i),
                         work.decide, scratch_, Handed::as_places);
    launch.with_local(occupation_bytes(program_, extent.steps, components()))
        .with(groups, pair_constants(window.interaction), cl_int{parts},
              cl_int{leaves_grid_parts() ? work.grid.parts() : 0}, cl_int{work.grid.capacity},
              Place(sites_of(work)), Place(partials_of(work)), Place(all_.whole.mm_partial),
              Place(all_.whole.decide.table))
        .run({all_groups, 1}, {size_of(items), 1});
  }

  /// Without points of a density the group that decides can do all that follows.
  bool decides_at_once() const {
    return settling_ == Settling::at_once && all_.whole.blocks == 0 &&
           all_.certification.blocks == 0;
  }

  void decide_at_once(std::size_t i, const Window& window, const Work& work) {
    const Next next = next_of(i);
    Launch launch(program_, queue_, "window_decide_at_once");
    set_settle_arguments(launch, i, window, work, next);
    const int parts = exact_parts(program_, window, all_.certification);
    launch.with(next.shape, tasks_[next.window].range, cl_int{parts}, Place(all_.whole.outside))
        .run({size_of(parts), 1}, {size_of(program_.shape().decide_group), 1});
  }

  /// Doubts, then the proposals of the next window.
  void settle(std::size_t i, const Window& window, const Work& work) {
    const Next next = next_of(i);
    if (next.shape.steps == 0 && !all_.certification.active) return;
    const Work next_work = work_of(next.window);
    Launch launch(program_, queue_, "window_settle");
    set_settle_arguments(launch, i, window, work, next);
    launch
        .with(next.shape, tasks_[next.window].range, cl_int{next_work.grid.capacity},
              Place(sites_of(next_work)), Place(all_.whole.outside))
        .run({size_of(work.decide.groups), 1}, {size_of(program_.shape().decide_group), 1});
  }

  struct Next {
    std::size_t window;  ///< the last one again, where there is none
    WindowShape shape;   ///< then of no steps
  };
  Next next_of(std::size_t i) const {
    const bool last = i + 1 == tasks_.size();
    Next next{last ? i : i + 1, {}};
    next.shape = window_shape(window_of(next.window));
    if (last) next.shape.steps = 0;
    return next;
  }

  /// What kernels take that settle doubts and propose.
  void set_settle_arguments(Launch& launch, std::size_t i, const Window& window, const Work& work,
                            const Next& next) {
    set_decide_arguments(launch, window, tasks_[i].tuning, all_.certification, buffers_of(i),
                         work.decide, scratch_, Handed::as_places);
    launch.with_local(std::max(occupation_bytes(program_, window.extent.steps, components()),
                               picks_bytes(next.shape.steps)));
    set_points_arguments(launch, all_.certification, scratch_);
  }

  DeviceProgram& program_;
  cl_command_queue queue_;
  Settling settling_;
  std::span<const WindowTask> tasks_;
  HandedWindows all_;
  WindowArrays arrays_{{}, 0};
  Buffer scratch_;
};

}  // namespace

void window_energies(DeviceProgram& program, cl_command_queue queue, const Window& window,
                     const GridWork& work, const Certification& certification,
                     const WholeWindow& whole, Buffer sites, Buffer partials) {
  const DecideBuffers& decide = whole.decide;
  const ReferenceField& field = whole.reference;
  const Buffer& unused = decide.mm_energies;  // for arguments that are not read
  const WindowExtent& extent = window.extent;
  const int entries = extent.candidates + extent.starts;
  const int tiles = table_tiles(program, extent);
  const int nuclei_groups =
      has_static_terms(window.interaction, certification.nuclei) != 0 ? extent.candidates : 0;
  const int field_groups = has_reference(whole) ? extent.candidates : work.parts();
  Launch launch(program, queue,
                has_reference(whole) ? "window_reference_energies" : "window_energies");
  launch.with_memory_of(sites)
      .with(window_shape(window), window.interaction, pair_constants(window.interaction),
            cl_int{tiles}, cl_int{certification.nuclei})
      .with(Place(window.topology_reals), Place(window.topology_integers), Place(window.plan),
            Place(window.entries), Place(decide.lattice), Place(decide.lattice_sites),
            Place(whole.outside), Place(some(certification.solute, unused)),
            Place(whole.mm_partial), Place(decide.table),
            Place(some(decide.nuclei_energies, unused)))
      .with_local(target_bytes(program, window));
  if (has_reference(whole)) {
    launch.with(field.potential, field.response, field.potential_values,
                some(field.response_values, field.potential_values), Place(field.energies),
                Place(some(field.responses, field.energies)));
  } else {
    launch.with(cl_int{work.chunks}, cl_int{work.slices}, cl_int{whole.blocks},
                cl_int{work.blocks_per_chunk}, cl_int{work.capacity}, Place(sites),
                some(whole.block_headers, unused), some(whole.points, unused), Place(partials));
  }
  launch.run({size_of(entries + field_groups + tiles + nuclei_groups), 1},
             {size_of(program.shape().pair_group), 1});
}

void sample_windows(DeviceProgram& program, cl_command_queue queue, const Window& window,
                    std::span<const WindowTask> tasks, const Certification& certification,
                    const WholeWindow& whole, Settling settling) {
  if (*program.shape().last_group_goes_on) {
    FusedWindows(program, queue, window, tasks, certification, whole, settling).run();
    return;
  }
  clear_field(program, queue, window, whole);
  for (const WindowTask& task : tasks) {
    Window one = window;
    one.extent = task.extent;
    sample_by_operations(program, queue, one, task, certification, whole);
  }
}

}  // namespace starpmc::opencl
