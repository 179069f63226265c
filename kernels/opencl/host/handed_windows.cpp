#include "kernels/opencl/host/handed_windows.hpp"

namespace starpmc::opencl {

Buffer records_of(const Window& window, std::span<const WindowTask> tasks) {
  Buffer records = tasks.front().record;
  records.bytes = tasks.size() * record_bytes(window);
  return records;
}

/// @return bytes that this takes
std::size_t HandedWindows::place_intermediates(const DeviceProgram& program, Buffer memory) {
  std::size_t total = 0;
  const auto take = [&](std::size_t bytes) {
    const Buffer place = behind(memory, total);
    total += aligned(bytes);
    return place;
  };
  const auto move_if_there = [](Buffer& buffer, const Buffer& place) {
    if (buffer.memory != nullptr) buffer = place;
  };
  const WindowLayout& layout = window.layout;
  const std::size_t rows = size_of(entry_capacity(layout));
  const std::size_t candidates = size_of(layout.candidates);
  const std::size_t pair_real = program.single() ? sizeof(cl_float) : sizeof(cl_double);
  DecideBuffers& decide = whole.decide;
  window.plan = take(size_of(plan_size(layout)) * sizeof(cl_int));
  window.entries = take(size_of(entries_size(layout)) * sizeof(cl_double));
  whole.outside = take(size_of(layout.molecules) * pair_real);
  whole.mm_partial = take(MM_TERMS * rows * sizeof(cl_double));
  decide.mm_energies = take(MM_TERMS * rows * sizeof(cl_double));
  decide.table = take(MM_TERMS * rows * rows * pair_real);
  const Buffer grid_energies = take(candidates * sizeof(cl_double));
  move_if_there(decide.grid_energies, grid_energies);
  move_if_there(whole.reference.energies, grid_energies);
  move_if_there(decide.nuclei_energies, take(STATIC_TERMS * candidates * sizeof(cl_double)));
  const Buffer responses = take(size_of(decide.response.components) * candidates * sizeof(cl_int));
  move_if_there(decide.response.candidates, responses);
  move_if_there(whole.reference.responses, responses);
  return total;
}

WindowArrays HandedWindows::move_to(const DeviceProgram& program, Buffer memory) {
  WindowArrays arrays(memory, place_intermediates(program, memory));
  DecideBuffers& decide = whole.decide;
  for (Buffer* const array :
       {&window.topology_reals, &window.topology_integers, &certification.solute}) {
    arrays.place(*array, WindowArrays::Way::in);
  }
  for (Buffer* const array :
       {&decide.chain_state, &decide.lattice, &decide.lattice_sites, &decide.field_cache,
        &decide.response.molecules, &decide.response.total}) {
    arrays.place(*array, WindowArrays::Way::in_and_out);
  }
  arrays.place(records, WindowArrays::Way::out);
  return arrays;
}

}  // namespace starpmc::opencl
