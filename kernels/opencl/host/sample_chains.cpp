#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/opencl/host/handed_windows.hpp"
#include "kernels/opencl/host/handles.hpp"

namespace starpmc::opencl {
namespace {

bool same(const WindowLayout& a, const WindowLayout& b) {
  return a.steps == b.steps && a.candidates == b.candidates && a.sites == b.sites &&
         a.molecules == b.molecules;
}

bool same(const Interaction& a, const Interaction& b) {
  return std::ranges::equal(a.box, b.box) && a.coulomb_cutoff == b.coulomb_cutoff &&
         a.vdw_cutoff == b.vdw_cutoff;
}

bool same(const DecisionBound& a, const DecisionBound& b) {
  return a.absolute == b.absolute && a.relative == b.relative && a.others == b.others;
}

bool same(const TopologyShape& a, const TopologyShape& b) {
  return a.molecule_types == b.molecule_types && a.sites == b.sites &&
         a.site_types == b.site_types && a.molecules == b.molecules &&
         a.padded_molecules == b.padded_molecules && a.largest_radius == b.largest_radius;
}

bool same_place(const Buffer& a, const Buffer& b) {
  return a.memory == b.memory && a.offset_bytes == b.offset_bytes;
}

/// Whether both have it, of the same size, or neither.
bool alike(const Buffer& a, const Buffer& b) {
  return (a.memory == nullptr) == (b.memory == nullptr) && a.bytes == b.bytes;
}

/// Tables that lie in one place are those of one reference.
bool same_field(const ReferenceField& a, const ReferenceField& b) {
  return same_place(a.potential_values, b.potential_values) &&
         same_place(a.response_values, b.response_values);
}

bool same_certification(const Certification& a, const Certification& b) {
  return a.active == b.active && same(a.bound, b.bound) && a.nuclei == b.nuclei &&
         alike(a.solute, b.solute) && a.blocks == 0 && b.blocks == 0;
}

/// Windows of chains in turn, each window of all of them in three launches.
class WindowsOfChains {
 public:
  WindowsOfChains(Program& program, cl_command_queue queue, std::span<const ChainWindows> chains)
      : program_(program), queue_(queue) {
    for (const ChainWindows& chain : chains) chains_.push_back(&chain);
    // Those that end first come last.
    std::ranges::stable_sort(chains_, std::ranges::greater{},
                             [](const ChainWindows* chain) { return chain->tasks.size(); });
    for (const ChainWindows* chain : chains_) {
      for (const WindowTask& task : chain->tasks) {
        check_extent(program_, task.extent, components());
      }
    }
    place();
  }

  void run() {
    write_chain_windows();
    for (WindowArrays& arrays : arrays_) arrays.bring(program_, queue_);
    propose_first();
    for (std::size_t i = 0; i < windows(); ++i) {
      energies(i);
      decide(i);
      if (i + 1 < windows() || first().certification.active) settle(i);
    }
    for (WindowArrays& arrays : arrays_) arrays.put_back(program_, queue_);
  }

 private:
  const ChainWindows& chain(std::size_t k) const { return *chains_[k]; }
  /// Where all of the first chain lies, from the memory's beginning on.
  const HandedWindows& first() const { return first_; }
  int components() const { return chain(0).whole.decide.response.components; }
  std::size_t windows() const { return chain(0).tasks.size(); }
  /// Those that have a window `i`; they come first.
  std::size_t chains_with(std::size_t i) const {
    const auto end = std::ranges::find_if(
        chains_, [i](const ChainWindows* chain) { return chain->tasks.size() <= i; });
    return static_cast<std::size_t>(end - chains_.begin());
  }

  void place() {
    const auto handed_of = [&](std::size_t k) {
      const ChainWindows& one = chain(k);
      return HandedWindows{one.window, one.certification, one.whole,
                           records_of(one.window, one.tasks, windows())};
    };
    const std::size_t handed = handed_of(0).move_to(program_, {}).bytes();
    Window largest = chain(0).window;
    largest.extent.candidates = largest.layout.candidates;
    const int groups = groups_of_exact_change(
        largest, chain(0).certification, program_.shape().decide_group, program_.compute_units());
    work_ = decide_work(program_, largest, groups, components());
    stride_ = aligned(handed) + aligned(work_.total_bytes);
    const std::size_t rows = (windows() + 1) * chains_.size();
    const std::size_t all_bytes = chains_.size() * stride_ + rows * sizeof(ChainWindow);
    const cl_mem memory = program_.scratch(queue_, all_bytes);
    for (std::size_t k = 0; k < chains_.size(); ++k) {
      HandedWindows handed_windows = handed_of(k);
      arrays_.push_back(handed_windows.move_to(program_, {memory, k * stride_}));
      if (arrays_.back().bytes() != handed) {
        throw RunError("OpenCL: chains that share launches have arrays of different sizes");
      }
      if (k == 0) first_ = handed_windows;
    }
    scratch_ = {memory, aligned(handed)};
    chain_windows_ = {memory, chains_.size() * stride_};
  }

  Buffer row(std::size_t number) const {
    return behind(chain_windows_, number * chains_.size() * sizeof(ChainWindow));
  }

  WindowShape shape_of(std::size_t k, std::size_t i) const {
    Window window = chain(k).window;
    window.extent = chain(k).tasks[i].extent;
    return window_shape(window);
  }

  /// A row for what comes before the first windows, then one for each window of all chains.
  void write_chain_windows() {
    const std::size_t count = (windows() + 1) * chains_.size();
    const auto bytes = program_.pinned(queue_, count * sizeof(ChainWindow));
    // What the last call left here has been read: its windows are behind the copy in the queue, and
    // are waited for before this call (sample_windows_of_chains).
    for (std::size_t number = 0; number <= windows(); ++number) {
      for (std::size_t k = 0; k < chains_.size(); ++k) {
        const auto& tasks = chain(k).tasks;
        ChainWindow one{};
        if (number > 0 && number <= tasks.size()) {
          one.window = shape_of(k, number - 1);
          one.tuning = tasks[number - 1].tuning;
        }
        const bool goes_on = number < tasks.size();
        one.next = shape_of(k, goes_on ? number : 0);
        if (!goes_on) one.next.steps = 0;
        one.next_range = tasks[goes_on ? number : 0].range;
        std::memcpy(bytes.data() + (number * chains_.size() + k) * sizeof one, &one, sizeof one);
      }
    }
    check(clEnqueueWriteBuffer(queue_, chain_windows_.memory, CL_FALSE, chain_windows_.offset_bytes,
                               count * sizeof(ChainWindow), bytes.data(), 0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
  }

  Launch launch(const char* kernel, std::size_t number) {
    Launch launch(program_, queue_, kernel);
    launch.with_memory_of(scratch_).with(cl_ulong{stride_}, Place(row(number)));
    return launch;
  }

  /// The most groups that a window `i` wants.
  template <class Groups>
  std::size_t most_groups(std::size_t i, Groups groups) const {
    std::size_t most = 1;
    for (std::size_t k = 0; k < chains_with(i); ++k) {
      most = std::max(most, groups(chain(k).tasks[i].extent));
    }
    return most;
  }

  std::size_t occupation() const {
    return occupation_bytes(program_, chain(0).window.layout.steps, components());
  }
  std::size_t picks() const { return picks_bytes(chain(0).window.layout.steps); }

  void propose_first() {
    const HandedWindows& one = first();
    const std::size_t group = size_of(program_.shape().propose_group);
    launch("chains_propose", 0)
        .with(one.window.interaction, Place(one.window.topology_reals),
              Place(one.window.topology_integers), Place(one.whole.decide.chain_state),
              Place(one.whole.decide.lattice), Place(one.window.plan), Place(one.window.entries),
              Place(one.whole.outside), Place(scratch_))
        .with_local(picks())
        .run({1, chains_.size()}, {group, 1});
  }

  void energies(std::size_t i) {
    const HandedWindows& one = first();
    const DecideBuffers& decide = one.whole.decide;
    const ReferenceField& field = one.whole.reference;
    const Buffer& unused = decide.mm_energies;
    const bool statics = has_static_terms(one.window.interaction, one.certification.nuclei) != 0;
    const std::size_t groups = most_groups(i, [&](const WindowExtent& extent) {
      return size_of(2 * extent.candidates + extent.starts + table_tiles(program_, extent) +
                     (statics ? extent.candidates : 0));
    });
    launch("chains_reference_energies", i + 1)
        .with(one.window.interaction, pair_constants(one.window.interaction),
              cl_int{one.certification.nuclei}, Place(one.window.topology_reals),
              Place(one.window.topology_integers), Place(one.window.plan),
              Place(one.window.entries), Place(decide.lattice), Place(decide.lattice_sites),
              Place(one.whole.outside), Place(some(one.certification.solute, unused)),
              Place(one.whole.mm_partial), Place(decide.table),
              Place(some(decide.nuclei_energies, unused)))
        .with_local(target_bytes(program_, one.window))
        .with(field.potential, field.response, field.potential_values,
              some(field.response_values, field.potential_values), Place(field.energies),
              Place(some(field.responses, field.energies)))
        .run({groups, chains_with(i)}, {size_of(program_.shape().pair_group), 1});
  }

  DecideBuffers buffers_of(std::size_t i) const {
    DecideBuffers buffers = first().whole.decide;
    buffers.record = behind(first().records, i * record_bytes(first().window));
    return buffers;
  }

  void decide(std::size_t i) {
    const HandedWindows& one = first();
    const int group = program_.shape().decide_group;
    const std::size_t groups = most_groups(
        i, [&](const WindowExtent& extent) { return groups_that_add_up(program_, extent); });
    Launch decide = launch("chains_decide", i + 1);
    set_decide_arguments_of_all(decide, one.window, one.certification, buffers_of(i), work_,
                                scratch_, Handed::as_places);
    decide.with_local(occupation())
        .with(Place(one.whole.mm_partial), Place(one.whole.decide.table))
        .run({groups, chains_with(i)}, {size_of(group), 1});
  }

  void settle(std::size_t i) {
    const HandedWindows& one = first();
    Launch settle = launch("chains_settle", i + 1);
    set_decide_arguments_of_all(settle, one.window, one.certification, buffers_of(i), work_,
                                scratch_, Handed::as_places);
    settle.with_local(std::max(occupation(), picks()));
    set_exact_arguments(settle, one.window, one.certification, scratch_, Handed::as_places);
    settle.with(Place(one.whole.outside))
        .run({size_of(work_.groups), chains_with(i)}, {size_of(program_.shape().decide_group), 1});
  }

  Program& program_;
  cl_command_queue queue_;
  std::vector<const ChainWindows*> chains_;
  std::vector<WindowArrays> arrays_;
  HandedWindows first_;
  DecideWork work_;
  std::size_t stride_ = 0;  ///< bytes of a chain
  Buffer scratch_;          ///< of the first one
  Buffer chain_windows_;
};

}  // namespace

bool can_share_launches(const Program& program, const ChainWindows& a, const ChainWindows& b) {
  const auto shares = [](const ChainWindows& chain) {
    return has_reference(chain.whole) && chain.whole.blocks == 0 &&
           !chain.whole.member.has_others() && !chain.tasks.empty();
  };
  const DecideBuffers& one = a.whole.decide;
  const DecideBuffers& other = b.whole.decide;
  const std::size_t windows = std::max(a.tasks.size(), b.tasks.size());
  const auto has_room = [&](const ChainWindows& chain) {
    const Buffer& record = chain.tasks.front().record;
    return record.bytes >= windows * record_bytes(chain.window);
  };
  return program.is_for_chains() && shares(a) && shares(b) &&
         same(a.window.layout, b.window.layout) &&
         same(a.window.interaction, b.window.interaction) &&
         same(a.window.topology, b.window.topology) &&
         alike(a.window.topology_reals, b.window.topology_reals) &&
         alike(a.window.topology_integers, b.window.topology_integers) &&
         same_certification(a.certification, b.certification) &&
         same_field(a.whole.reference, b.whole.reference) &&
         one.response.components == other.response.components &&
         alike(one.chain_state, other.chain_state) && alike(one.lattice, other.lattice) &&
         alike(one.lattice_sites, other.lattice_sites) &&
         alike(one.field_cache, other.field_cache) && has_room(a) && has_room(b);
}

void sample_windows_of_chains(Program& program, cl_command_queue queue,
                              std::span<const ChainWindows> chains) {
  WindowsOfChains(program, queue, chains).run();
}

}  // namespace starpmc::opencl
