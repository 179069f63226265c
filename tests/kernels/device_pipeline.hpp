#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "grid_case.hpp"
#include "kernels/base/error.hpp"
#include "kernels/opencl/host/handles.hpp"
#include "kernels/opencl/host/operations.hpp"
#include "kernels/response_coefficients.hpp"
#include "pose_case.hpp"
#include "reference_case.hpp"
#include "tests/test_folders.hpp"
#include "window_pipeline.hpp"

namespace starpmc::test {

/// A device of one type with double precision, chosen among all platforms.
struct Device {
  cl_device_id id = nullptr;
  opencl::Owned<cl_context> context;
  opencl::Owned<cl_command_queue> queue;
};

inline std::optional<Device> find_device(cl_device_type type) {
  cl_uint platform_count = 0;
  if (clGetPlatformIDs(0, nullptr, &platform_count) != CL_SUCCESS) return std::nullopt;
  std::vector<cl_platform_id> platforms(platform_count);
  if (clGetPlatformIDs(platform_count, platforms.data(), nullptr) != CL_SUCCESS) {
    return std::nullopt;
  }
  for (const cl_platform_id platform : platforms) {
    Device device;
    if (clGetDeviceIDs(platform, type, 1, &device.id, nullptr) != CL_SUCCESS) continue;
    cl_device_fp_config doubles = 0;
    if (clGetDeviceInfo(device.id, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof(doubles), &doubles,
                        nullptr) != CL_SUCCESS ||
        doubles == 0) {
      continue;
    }
    cl_int error = CL_SUCCESS;
    device.context.reset(clCreateContext(nullptr, 1, &device.id, nullptr, nullptr, &error));
    opencl::check(error, "clCreateContext");
    device.queue.reset(clCreateCommandQueue(device.context.get(), device.id, 0, &error));
    opencl::check(error, "clCreateCommandQueue");
    return device;
  }
  return std::nullopt;
}

/// The pipeline on an OpenCL device: uploads what an operation reads, downloads what it writes.
class DevicePipeline {
 public:
  DevicePipeline(const Device& device, Precision precision,
                 std::optional<opencl::LaunchShape> shape = std::nullopt,
                 const Potential& potential = {})
      : device_(device),
        program_(device.context.get(), device.id, precision, source_folder() / "kernels", shape,
                 potential) {}

  /// The grid term alone.
  template <class Real>
  std::vector<double> grid_energies(const GridWindow& grid, const CompactBlocks<Real>& blocks) {
    const Window window = grid.window();
    const auto reals = upload(grid.reals());
    const auto integers = upload(grid.integers());
    const auto plan = upload(grid.plan());
    const auto entries = upload(grid.entries());
    const auto headers = upload(blocks.blocks);
    const auto points = upload(blocks.points);
    std::vector<double> energies(static_cast<std::size_t>(window.candidates()), -1.0);
    const auto result = upload(energies);
    const opencl::WindowExtent extent{window.steps(), window.candidates(), window.starts()};
    opencl::qmmm_coulomb_grid(program_, queue(),
                              {window.layout, window.interaction, window.topology.shape, extent,
                               at(reals), at(integers), at(plan), at(entries)},
                              static_cast<int>(blocks.block_count()), at(headers), at(points),
                              at(result));
    download(result, energies);
    return energies;
  }

  /// Writes the arguments' results; `window` has the buffers of theirs.
  void reference_field(const FieldWindow& window, const ReferenceFieldArguments& arguments) {
    const Window& of = arguments.window;
    const auto reals = upload(window.reals());
    const auto integers = upload(window.integers());
    const auto plan = upload(window.plan());
    const auto entries = upload(window.entries());
    const auto copy = [](auto span) {
      return std::vector<std::remove_const_t<typename decltype(span)::element_type>>(span.begin(),
                                                                                     span.end());
    };
    std::vector<double> energies = copy(arguments.energies);
    std::vector<std::int32_t> responses = copy(arguments.responses);
    const auto potential_values = upload(copy(arguments.potential_values));
    const auto response_values = upload(copy(arguments.response_values));
    const auto device_energies = upload(energies);
    const auto device_responses = upload(responses);
    opencl::ReferenceField field{
        arguments.potential, arguments.response, at(potential_values), {}, at(device_energies), {}};
    if (!responses.empty()) {
      field.response_values = at(response_values);
      field.responses = at(device_responses);
    }
    const opencl::WindowExtent extent{of.steps(), of.candidates(), of.starts()};
    opencl::reference_field(program_, queue(),
                            {of.layout, of.interaction, of.topology.shape, extent, at(reals),
                             at(integers), at(plan), at(entries)},
                            field);
    download(device_energies, energies);
    std::ranges::copy(energies, arguments.energies.begin());
    if (responses.empty()) return;
    download(device_responses, responses);
    std::ranges::copy(responses, arguments.responses.begin());
  }

  /// Energies of poses, the receptor cut into tiles of so many blocks, at most
  /// STARPMC_MOST_PARTIALS.
  template <class Real>
  std::vector<double> pose_energies(const PoseCase& poses, const PoseInteraction& interaction,
                                    const ReceptorBlocks<Real>& blocks, std::size_t tile) {
    const std::size_t values =
        static_cast<std::size_t>(receptor_fields(interaction)) * STARPMC_BLOCK_POINTS;
    std::vector<double> energies(static_cast<std::size_t>(POSE_TERMS * poses.pose_count), -1.0);
    const auto ligand = upload(poses.ligand);
    const auto positions = upload(poses.pose_buffer());
    const auto headers = upload(blocks.blocks);
    const auto sites = upload(blocks.sites);
    const auto result = upload(energies);
    std::vector<Memory> memories;
    std::vector<opencl::Buffer> partials;
    for (std::size_t first = 0; first < blocks.block_count(); first += tile) {
      memories.push_back(upload(energies));
      partials.push_back(at(memories.back()));
      const int count = static_cast<int>(std::min(tile, blocks.block_count() - first));
      opencl::pose_energies(
          program_, queue(), interaction, {poses.sites, poses.pose_count, count},
          {at(ligand), at(positions), at(headers, first * RECEPTOR_BLOCK_FIELDS * sizeof(double)),
           at(sites, first * values * sizeof(Real)), partials.back()});
    }
    opencl::pose_energies_reduce(program_, queue(), poses.pose_count, partials, at(result));
    download(result, energies);
    return energies;
  }

  template <class Real>
  void propose(Buffers<Real>& b, const StepRange& range) {
    // The host knows the extent from its own plan; the device writes its own.
    b.plan_ahead(range);
    extent_ = {b.plan[PLAN_STEPS], b.plan[PLAN_CANDIDATES], b.plan[PLAN_STARTS]};
    std::fill(b.plan.begin(), b.plan.end(), -7);
    const auto outside = upload(b.outside);
    const auto state = upload(b.chain_state);
    const auto lattice = upload(b.lattice);
    const DeviceWindow window(*this, b);
    opencl::propose_moves(program_, queue(), window.window, range, at(state), at(lattice),
                          at(outside));
    download(window.plan, b.plan);
    download(window.entries, b.entries);
    download(outside, b.outside);
  }

  template <class Real>
  void evaluate(Buffers<Real>& b) {
    const DeviceWindow window(*this, b);
    const TestSystem& system = *b.system;
    const auto solute = upload(system.solute);
    const auto nuclei = upload(b.nuclei_energies);
    opencl::qmmm_nuclei_vdw(program_, queue(), window.window, system.nuclei, at(solute),
                            at(nuclei));
    download(nuclei, b.nuclei_energies);
    const int molecules = system.shape.molecules;
    evaluate_mm(b, std::array{0, molecules / 2, molecules});
    const int blocks = static_cast<int>(system.blocks.size() / BLOCK_FIELDS);
    if (blocks == 0) return;
    const int half = blocks / 2;
    const auto headers = upload(system.blocks);
    const auto points = upload(b.points);
    const auto first = upload(b.grid_energies);
    const auto second = upload(b.grid_energies);
    const auto grid = upload(b.grid_energies);
    const std::size_t half_headers = static_cast<std::size_t>(half) * BLOCK_FIELDS;
    const std::size_t half_points = static_cast<std::size_t>(half) * STARPMC_BLOCK_VALUES;
    opencl::qmmm_coulomb_grid(program_, queue(), window.window, half, at(headers), at(points),
                              at(first));
    opencl::qmmm_coulomb_grid(program_, queue(), window.window, blocks - half,
                              at(headers, half_headers * sizeof(double)),
                              at(points, half_points * sizeof(Real)), at(second));
    const std::array<opencl::Buffer, 2> partials{at(first), at(second)};
    opencl::qmmm_coulomb_grid_reduce(program_, queue(), extent_.candidates, partials, at(grid));
    download(grid, b.grid_energies);
  }

  /// The MM terms, the lattice cut into the ranges between `cuts`.
  template <class Real>
  void evaluate_mm(Buffers<Real>& b, std::span<const int> cuts) {
    const DeviceWindow device_window(*this, b);
    const opencl::Window& window = device_window.window;
    const auto lattice = upload(b.lattice);
    const auto sites = upload(b.lattice_sites);
    const auto outside = upload(b.outside);
    const auto table = upload(b.table);
    const auto energies = upload(b.mm_energies);
    std::vector<Memory> memories;
    std::vector<opencl::Buffer> partials;
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      memories.push_back(upload(b.mm_partial));
      partials.push_back(at(memories.back()));
      opencl::mm_pair(program_, queue(), window, cuts[i], cuts[i + 1], at(lattice), at(sites),
                      at(outside), partials.back());
    }
    opencl::mm_pair_table(program_, queue(), window, at(table));
    opencl::mm_pair_reduce(program_, queue(), window, partials, at(table), at(energies));
    download(table, b.table);
    download(energies, b.mm_energies);
  }

  template <class Real>
  void decide(Buffers<Real>& b, const StepTuning& tuning) {
    const DeviceWindow window(*this, b);
    const DecideMemory memory(*this, b);
    opencl::metropolis_decide(program_, queue(), window.window, tuning,
                              memory.certification(b, alone_), memory.buffers());
    memory.download(*this, b);
  }

  /// Whether no other chain wants the device while windows are made.
  void set_alone(bool alone) { alone_ = alone; }

  /// A window's operations, several of them in one launch where the device likes that.
  template <class Real>
  void sample(Buffers<Real>& b, const StepRange& range, const StepTuning& tuning) {
    sample_part(b, range, 1, tuning, 0, static_cast<int>(b.system->blocks.size() / BLOCK_FIELDS),
                {});
  }

  /// The same of some windows in a row, of range.steps steps at most, by a member of a team with
  /// the density's blocks [first, last).
  template <class Real>
  void sample_part(Buffers<Real>& b, const StepRange& range, int windows, const StepTuning& tuning,
                   int first, int last, const TeamMember& member) {
    std::vector<opencl::WindowTask> tasks = tasks_of(b, range, windows, tuning);
    const DeviceWindow window(*this, b);
    const DecideMemory memory(*this, b);
    const auto outside = upload(b.outside);
    const auto partial = upload(b.mm_partial);
    const auto points = upload(b.points);
    const opencl::Certification certification = memory.certification(b, alone_);
    for (auto& task : tasks) task.record = at(memory.record);
    opencl::sample_windows(program_, queue(), window.window, tasks, certification,
                           {memory.buffers(),
                            at(outside),
                            at(partial),
                            last - first,
                            at(memory.blocks, size(first) * BLOCK_FIELDS * sizeof(double)),
                            at(points, size(first) * STARPMC_BLOCK_VALUES * sizeof(Real)),
                            {},
                            member});
    download(window.plan, b.plan);
    memory.download(*this, b);
  }

  /// The same of a chain with a reference, whose tables these are.
  template <class Real>
  void sample_with_reference(Buffers<Real>& b, const StepRange& range, int windows,
                             const StepTuning& tuning, const MadeLattice& potential,
                             const MadeLattice& response, opencl::Settling settling) {
    const auto record = RECORD_FIELDS * static_cast<std::size_t>(b.layout.steps);
    b.record.assign(size(windows) * record, 0.0);
    std::vector<opencl::WindowTask> tasks = tasks_of(b, range, windows, tuning);
    const DeviceWindow window(*this, b);
    const DecideMemory memory(*this, b);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      tasks[i].record = at(memory.record, i * record * sizeof(double));
    }
    const Memory outside = upload(b.outside);
    const Memory partial = upload(b.mm_partial);
    const Memory potential_values = upload(potential.values);
    const Memory response_values = upload(response_coefficients(response.values));
    const opencl::DecideBuffers decide = memory.buffers();
    const opencl::ReferenceField field{potential.lattice,    response.lattice,
                                       at(potential_values), at(response_values),
                                       decide.grid_energies, decide.response.candidates};
    opencl::sample_windows(program_, queue(), window.window, tasks, memory.certification(b, alone_),
                           {decide, at(outside), at(partial), 0, {}, {}, field, {}}, settling);
    memory.download(*this, b);
    clear_rest_of_records(b, tasks);
  }

  template <class Real>
  void potential(Buffers<Real>& b) {
    const TestSystem& system = *b.system;
    const auto reals = upload(system.reals);
    const auto integers = upload(system.integers);
    const auto lattice = upload(b.lattice);
    const auto headers = upload(system.blocks);
    const auto points = upload(b.exact_points);
    const auto potential = upload(b.potential);
    opencl::grid_potential(program_, queue(), b.layout, system.interaction, system.shape, at(reals),
                           at(integers), at(lattice),
                           static_cast<int>(system.blocks.size() / BLOCK_FIELDS), at(headers),
                           at(points), at(potential));
    download(potential, b.potential);
  }

 private:
  using Memory = opencl::Owned<cl_mem>;
  /// Every buffer starts this far into its memory: offsets must be honoured everywhere.
  static constexpr std::size_t kOffset = 256;

  struct DeviceWindow {
    Memory reals;
    Memory integers;
    Memory plan;
    Memory entries;
    opencl::Window window;

    template <class Real>
    DeviceWindow(DevicePipeline& pipeline, const Buffers<Real>& b)
        : reals(pipeline.upload(b.system->reals)),
          integers(pipeline.upload(b.system->integers)),
          plan(pipeline.upload(b.plan)),
          entries(pipeline.upload(b.entries)),
          window{b.layout,  b.system->interaction, b.system->shape, pipeline.extent_,
                 at(reals), at(integers),          at(plan),        at(entries)} {}
  };

  /// What decisions read and write.
  struct DecideMemory {
    Memory grid, nuclei, mm, table, state, lattice, sites, cache, record;
    Memory blocks, exact_points, solute;
    Memory responses, molecule_response, response_total;
    int components;

    template <class Real>
    DecideMemory(DevicePipeline& pipeline, const Buffers<Real>& b)
        : grid(pipeline.upload(b.grid_energies)),
          nuclei(pipeline.upload(b.nuclei_energies)),
          mm(pipeline.upload(b.mm_energies)),
          table(pipeline.upload(b.table)),
          state(pipeline.upload(b.chain_state)),
          lattice(pipeline.upload(b.lattice)),
          sites(pipeline.upload(b.lattice_sites)),
          cache(pipeline.upload(b.field_cache)),
          record(pipeline.upload(b.record)),
          blocks(pipeline.upload(b.system->blocks)),
          exact_points(pipeline.upload(b.exact_points)),
          solute(pipeline.upload(b.system->solute)),
          responses(pipeline.upload(b.responses)),
          molecule_response(pipeline.upload(b.molecule_response)),
          response_total(pipeline.upload(b.response_total)),
          components(b.components) {}

    opencl::DecideBuffers buffers() const {
      opencl::ResponseBuffers response;
      if (components > 0) {
        response = {components, at(responses), at(molecule_response), at(response_total)};
      }
      return {at(grid),    at(nuclei), at(mm),    at(table),  at(state),
              at(lattice), at(sites),  at(cache), at(record), response};
    }
    template <class Real>
    opencl::Certification certification(const Buffers<Real>& b, bool alone) const {
      return {b.certification().active,
              b.certification().bound,
              static_cast<int>(b.system->blocks.size() / BLOCK_FIELDS),
              at(blocks),
              at(exact_points),
              at(solute),
              b.certification().nuclei,
              alone};
    }
    template <class Real>
    void download(DevicePipeline& pipeline, Buffers<Real>& b) const {
      pipeline.download(state, b.chain_state);
      pipeline.download(lattice, b.lattice);
      pipeline.download(sites, b.lattice_sites);
      pipeline.download(cache, b.field_cache);
      pipeline.download(record, b.record);
      pipeline.download(molecule_response, b.molecule_response);
      pipeline.download(response_total, b.response_total);
    }
  };

  /// What lies behind a window's steps means nothing.
  template <class Real>
  static void clear_rest_of_records(Buffers<Real>& b, std::span<const opencl::WindowTask> tasks) {
    const auto row = static_cast<std::ptrdiff_t>(b.layout.steps);
    auto at = b.record.begin();
    for (const opencl::WindowTask& task : tasks) {
      for (int field = 0; field < RECORD_FIELDS; ++field, at += row) {
        std::fill(at + task.extent.steps, at + row, 0.0);
      }
    }
  }

  /// Windows in a row, of range.steps steps at most.
  template <class Real>
  std::vector<opencl::WindowTask> tasks_of(Buffers<Real>& b, const StepRange& range, int windows,
                                           const StepTuning& tuning) {
    std::vector<opencl::WindowTask> tasks;
    StepRange next = range;
    for (int i = 0; i < windows; ++i) {
      b.plan_ahead(next);
      extent_ = {b.plan[PLAN_STEPS], b.plan[PLAN_CANDIDATES], b.plan[PLAN_STARTS]};
      tasks.push_back({next, i + 1 < windows ? StepTuning{} : tuning, extent_, {}});
      tasks.back().range.steps = static_cast<unsigned>(extent_.steps);
      next.first_step += static_cast<std::uint64_t>(extent_.steps);
    }
    return tasks;
  }

  static std::size_t size(int value) { return static_cast<std::size_t>(value); }
  cl_command_queue queue() const { return device_.queue.get(); }
  static opencl::Buffer at(const Memory& memory, std::size_t offset = 0) {
    std::size_t bytes = 0;
    opencl::check(clGetMemObjectInfo(memory.get(), CL_MEM_SIZE, sizeof bytes, &bytes, nullptr),
                  "clGetMemObjectInfo");
    return {memory.get(), kOffset + offset, bytes - kOffset - offset};
  }

  template <class Value>
  Memory upload(const std::vector<Value>& values) {
    cl_int error = CL_SUCCESS;
    const std::size_t bytes = values.size() * sizeof(Value);
    Memory memory(
        clCreateBuffer(device_.context.get(), CL_MEM_READ_WRITE, kOffset + bytes, nullptr, &error));
    opencl::check(error, "clCreateBuffer");
    if (bytes == 0) return memory;
    opencl::check(clEnqueueWriteBuffer(queue(), memory.get(), CL_TRUE, kOffset, bytes,
                                       values.data(), 0, nullptr, nullptr),
                  "clEnqueueWriteBuffer");
    return memory;
  }

  template <class Value>
  void download(const Memory& memory, std::vector<Value>& values) {
    if (values.empty()) return;
    opencl::check(
        clEnqueueReadBuffer(queue(), memory.get(), CL_TRUE, kOffset, values.size() * sizeof(Value),
                            values.data(), 0, nullptr, nullptr),
        "clEnqueueReadBuffer");
  }

  const Device& device_;
  opencl::DeviceProgram program_;
  opencl::WindowExtent extent_{};
  bool alone_ = true;
};

/// Windows of more steps than a group has items, and of more candidates than a list has places.
template <class Windows>
void expect_scalar_kernels_in_long_windows(Windows& windows, bool tuning = false) {
  const TestSystem system = make_system(many_molecules());
  const ChainOptions chain{
      .steps = 150, .candidates = 302, .windows = 3, .tuning = tuning, .bound = 0.5};
  HostPipeline<ScalarLevel> reference;
  const auto a = run_chain<double>(reference, system, chain);
  const auto b = run_chain<float>(windows, system, chain);
  EXPECT_EQ(a.accepted, b.accepted);
  EXPECT_EQ(a.lattice, b.lattice);
  EXPECT_GT(b.chain_state[STATE_CERTIFIED], 0);
}

}  // namespace starpmc::test
